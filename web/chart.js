// A chart with labels at its curves. The caller gives numbers; the shapes follow the width that
// there is, so that letters keep their size on a phone.

const NAMESPACE = "http://www.w3.org/2000/svg";

/** An element of a drawing. */
export function shape(name, attributes = {}, text = "") {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== "") element.textContent = text;
  return element;
}

/** The share of the way from one end of a scale to the other. */
function share(axis, value) {
  if (axis.log) return Math.log(value / axis.from) / Math.log(axis.to / axis.from);
  return (value - axis.from) / (axis.to - axis.from);
}

const LINE = 15;

/** Moves labels apart that would cover each other, as little as possible, and within the plane. */
function spread(labels, top, bottom) {
  // Of curves that leave at the top, the one that leaves first has the highest label.
  labels.sort((a, b) => a.y - b.y || a.x - b.x);
  let low = top;
  for (const label of labels) {
    label.at = Math.max(label.y, low);
    low = label.at + LINE;
  }
  let high = bottom;
  for (const label of labels.toReversed()) {
    label.at = Math.min(label.at, high);
    high = label.at - LINE;
  }
}

/**
 * Draws into an <svg>.
 *   x, y: { label, from, to, log, ticks: [[value, text], ...] }
 *   curves: [{ name, points: [[x, y], ...], chosen, wrong, dashed, choose }]
 *   marks: [{ x, y, text }]
 */
export function draw(svg, { title, x, y, curves, marks }) {
  const width = Math.max(280, Math.round(svg.parentElement.clientWidth));
  const height = Math.round(Math.min(380, Math.max(300, width * 0.55)));
  const longest = Math.max(...curves.map((curve) => curve.name.length));
  const widest = Math.max(...y.ticks.map(([, text]) => text.length));
  const plane = {
    left: 16 + 7.5 * widest,
    right: width - 14 - 7 * longest,
    top: 26,
    bottom: height - 44,
  };
  const across = (value) => plane.left + share(x, value) * (plane.right - plane.left);
  const up = (value) => plane.bottom - share(y, value) * (plane.bottom - plane.top);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", title);
  const parts = [];

  for (const [value, text] of y.ticks) {
    const at = up(value).toFixed(1);
    parts.push(shape("path", { class: "rule", d: `M${plane.left} ${at}H${plane.right}` }));
    parts.push(shape("text", { x: plane.left - 8, y: Number(at) + 4, "text-anchor": "end" }, text));
  }
  let end = -Infinity;
  for (const [value, text] of x.ticks) {
    const at = across(value);
    const half = 3.6 * text.length;
    // A label that would touch the one before it is left out.
    if (at - half < end) continue;
    end = at + half + 6;
    parts.push(shape("path", { class: "tick", d: `M${at.toFixed(1)} ${plane.bottom}v5` }));
    const place = { x: at.toFixed(1), y: plane.bottom + 19, "text-anchor": "middle" };
    parts.push(shape("text", place, text));
  }
  parts.push(shape("path", { class: "axis", d: `M${plane.left} ${plane.bottom}H${plane.right}` }));
  const middle = (plane.left + plane.right) / 2;
  const foot = { class: "name", x: middle, y: height - 6, "text-anchor": "middle" };
  parts.push(shape("text", foot, x.label));
  parts.push(shape("text", { class: "name", x: 0, y: 12 }, y.label));

  const labels = [];
  // The chosen curve lies above the others.
  const order = [...curves].sort((a, b) => Number(a.chosen ?? false) - Number(b.chosen ?? false));
  for (const curve of order) {
    const places = curve.points
      .filter(([, value]) => Number.isFinite(value) && (!y.log || value > 0))
      .map(([a, b]) => [across(a), up(b)]);
    const seen = clipped(places, plane);
    if (seen.length === 0) continue;
    const kind = `curve${tone(curve)}${curve.dashed ? " dashed" : ""}`;
    const path = seen.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(1)} ${b.toFixed(1)}`);
    parts.push(shape("path", { class: kind, d: path.join("") }));
    const [lastX, lastY] = seen[seen.length - 1];
    labels.push({ x: lastX, y: lastY, curve });
  }
  spread(labels, plane.top, plane.bottom);
  for (const { x: from, y: height_, at, curve } of labels) {
    const leader = `M${from.toFixed(1)} ${height_.toFixed(1)}L${plane.right + 8} ${at.toFixed(1)}`;
    parts.push(shape("path", { class: "leader", d: leader }));
    const kind = `label${tone(curve)}${curve.choose ? " choose" : ""}`;
    const label = { class: kind, x: plane.right + 11, y: (at + 4).toFixed(1) };
    const text = shape("text", label, curve.name);
    if (curve.choose) text.addEventListener("click", curve.choose);
    parts.push(text);
  }
  for (const mark of marks) {
    const [a, b] = [across(mark.x), up(mark.y)];
    if (!(b >= plane.top - 1 && b <= plane.bottom + 1)) continue;
    const drop = `M${a.toFixed(1)} ${b.toFixed(1)}V${plane.bottom}`;
    parts.push(shape("path", { class: "drop", d: drop }));
    parts.push(shape("circle", { class: "mark", cx: a.toFixed(1), cy: b.toFixed(1), r: 5.5 }));
    if (mark.text) {
      const right = a > middle;
      const place = { class: "value", x: a + (right ? -10 : 10), y: b - 10 };
      parts.push(shape("text", { ...place, "text-anchor": right ? "end" : "start" }, mark.text));
    }
  }
  svg.replaceChildren(...parts);
}

/** How a curve and its label stand out. */
function tone({ chosen, wrong }) {
  return `${chosen ? " chosen" : ""}${wrong ? " wrong" : ""}`;
}

/** The part of a curve that lies in the plane; where it leaves at the top, it ends there. */
function clipped(places, plane) {
  const seen = [];
  for (let i = 0; i < places.length; i += 1) {
    const [a, b] = places[i];
    if (b >= plane.top) {
      seen.push([a, Math.min(b, plane.bottom)]);
      continue;
    }
    if (seen.length > 0) {
      const [from, height] = seen[seen.length - 1];
      const part = (height - plane.top) / (height - b);
      seen.push([from + part * (a - from), plane.top]);
      break;
    }
  }
  return seen;
}
