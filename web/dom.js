// Small helpers for elements.

export const $ = (id) => document.getElementById(id);

/** An element with attributes and children; texts are texts, never markup. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The facts of a <dl>: [name, value, exact value, id, whether it is bad]. */
export function showFacts(list, facts) {
  list.replaceChildren(
    ...facts.map(([name, value, exact, id, bad]) => {
      const said = element("dd", id ? { "data-fact": id } : {}, value);
      if (bad) said.className = "bad";
      // A small size is exact already.
      if (exact && exact !== value) said.append(element("span", { class: "exact" }, exact));
      return element("div", {}, element("dt", {}, name), said);
    }),
  );
}

/** A table with a head; the rows whose index is chosen stand out. */
export function showTable(table, head, rows, chosen = -1) {
  const cells = (name, row, scope) =>
    row.map((text, i) => (i === 0 || name === "th"
      ? element("th", { scope: i === 0 && name === "td" ? "row" : scope }, text)
      : element("td", {}, text)));
  table.replaceChildren(
    element("thead", {}, element("tr", {}, ...cells("th", head, "col"))),
    element("tbody", {}, ...rows.map((row, i) =>
      element("tr", i === chosen ? { class: "chosen" } : {}, ...cells("td", row, "row")))),
  );
}

/** Puts a text on the clipboard, or marks it where the browser does not allow that. */
export async function copy(text, button, fallback) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    fallback();
    button.textContent = "Press Ctrl-C";
  }
  setTimeout(() => { button.textContent = before; }, 1500);
}

/** Draws the SVG that the library wrote. It is parsed as XML, so it cannot be anything else. */
export function showDrawing(place, text) {
  // The page's policy forbids styles in the text; as an attribute the colour is allowed.
  const bare = text.replaceAll(/ style="fill:([^"]*)"/g, ' fill="$1"');
  const drawing = new DOMParser().parseFromString(bare, "image/svg+xml").documentElement;
  place.replaceChildren(document.importNode(drawing, true));
}
