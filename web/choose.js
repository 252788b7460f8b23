// Section 1: questions in, a promise, a filter and its plan out.

import { FILTERS, advise, planOptions, rateOptions } from "./advise.js";
import { draw } from "./chart.js";
import { $, copy, element, showFacts, showTable } from "./dom.js";
import { plan, planned, wish } from "./engine.js";
import { lines } from "./lines.js";
import { LIMITS, fromHash, isUniverse, toHash } from "./link.js";
import {
  atPlace, grouped, odds, percent, placeOf, readCount, readShare, significant, size, spoken,
} from "./numbers.js";

let state = fromHash(location.hash);
let tamis = null;
let asked = false;

// The dials: a slider for the hand and a field for the exact value.

const DIALS = {
  items: {
    read: readCount, write: grouped, at: atPlace, place: placeOf, say: spoken,
    wrong: "Write a count from 1 to 1e12: 1000, 1e6, 2^20.",
  },
  d: {
    read: readCount, write: grouped, at: atPlace, place: placeOf, say: grouped,
    wrong: "Write a count from 1 to 1000.",
  },
  fpr: {
    read: readShare, write: percent, at: (place) => atPlace(-place), place: (x) => -placeOf(x),
    say: odds, wrong: "Write a share from 1e-9 to 50%: 0.01, 1%, 1 in 100.",
  },
  epsilon: {
    read: readEpsilon, write: String, at: (place) => Number(place.toFixed(1)), place: (x) => x,
    say: (x) => `a factor of at most ${significant(Math.exp(x), 3)}`,
    wrong: "Write a number from 0.1 to 12.",
  },
};

function readEpsilon(text) {
  const bare = text.trim();
  return /^\d+(\.\d{1,9})?$/.test(bare) ? Number(bare) : null;
}

/** Places of a slider below ten are not whole: 1.25 keys do not exist. */
function whole(name, value) {
  return name === "items" || name === "d" ? Math.round(value) : value;
}

function beginDial(name) {
  const dial = DIALS[name];
  const [slider, field] = [$(`${name}-slider`), $(name)];
  const [low, high] = LIMITS[name];
  slider.addEventListener("input", () => {
    const value = whole(name, dial.at(Number(slider.value)));
    set({ [name]: Math.min(high, Math.max(low, value)) }, slider);
  });
  field.addEventListener("input", () => {
    const value = dial.read(field.value);
    const good = value !== null && value >= low && value <= high;
    field.setAttribute("aria-invalid", String(!good));
    if (good) set({ [name]: value }, field);
    else $(`${name}-hint`).textContent = dial.wrong;
  });
  field.addEventListener("change", () => showQuestions());
}

// The state.

function set(changes, source = null) {
  state = { ...state, ...changes };
  showQuestions(source);
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => {
    asked = false;
    showAnswer();
    history.replaceState(null, "", toHash(state) || location.pathname + location.search);
  });
}

export function beginChoosing() {
  for (const name of Object.keys(DIALS)) beginDial(name);
  for (const option of document.querySelectorAll("#questions input[type=radio]")) {
    option.addEventListener("change", () => {
      // An answer changes the advice, so a filter that was taken before it does not stay.
      set({ [option.name]: option.value, filter: "advised" });
    });
  }
  $("universe").addEventListener("input", () => {
    const text = $("universe").value.trim().toLowerCase();
    const good = isUniverse(text);
    $("universe").setAttribute("aria-invalid", String(!good));
    if (good) set({ universe: text }, $("universe"));
  });
  $("filter").addEventListener("change", () => set({ filter: $("filter").value }));
  $("questions").addEventListener("submit", (event) => event.preventDefault());
  document.querySelector("[data-copy=link]").addEventListener("click", (event) => {
    copy($("link").value, event.currentTarget, () => $("link").select());
  });
  addEventListener("hashchange", () => {
    // A name of a section is no state.
    if (location.hash !== "" && !location.hash.includes("=")) return;
    state = fromHash(location.hash);
    showQuestions();
    showAnswer();
  });
  let width = 0;
  new ResizeObserver(() => {
    const now = $("chart").parentElement.clientWidth;
    if (now !== width) showAnswer();
    width = now;
  }).observe($("chart").parentElement);
  // The result in a line, for hands that work where the result itself is not in sight.
  new IntersectionObserver(([{ isIntersecting }]) => {
    $("strip").classList.toggle("idle", isIntersecting);
  }).observe($("verdict"));
  beginLines();
  showQuestions();
}

export function loadedChoosing(library) {
  tamis = library;
  showAnswer();
}

// The questions.

function showQuestions(source = null) {
  const advice = advise(state);
  for (const [name, dial] of Object.entries(DIALS)) {
    const [slider, field] = [$(`${name}-slider`), $(name)];
    if (source !== slider) slider.value = dial.place(state[name]);
    slider.setAttribute("aria-valuetext", `${dial.write(state[name])}, ${dial.say(state[name])}`);
    if (source !== field) {
      field.value = dial.write(state[name]);
      field.setAttribute("aria-invalid", "false");
    }
  }
  $("d-hint").textContent = "Few is the point: the bits grow with the square of d.";
  $("items-hint").textContent = state.items >= 1e6 ? spoken(state.items) : "";
  $("fpr-hint").textContent = `${odds(state.fpr)} strangers passes`;
  const factor = significant(Math.exp(state.epsilon), 3);
  $("epsilon-hint").textContent =
    `One item more or less changes the chance of any published file at most ${factor} times.`;
  if (source !== $("universe")) $("universe").value = state.universe;
  for (const option of document.querySelectorAll("#questions input[type=radio]")) {
    option.checked = state[option.name] === option.value;
  }
  $("items-title").textContent = itemsTitle(advice);
  const shown = {
    items: advice.promise !== "zone",
    d: advice.promise === "zone",
    universe: state.keys === "finite",
    fpr: advice.promise === "rate",
    epsilon: state.away === "yes",
    change: advice.promise !== "privacy",
    wish: advice.promise === "rate" && state.change === "add",
    filter: advice.promise === "rate",
  };
  for (const part of document.querySelectorAll("[data-question]")) {
    part.hidden = !shown[part.dataset.question];
  }
  const options = [["advised", `as advised: ${advice.advised ?? ""}`]].concat(
    Object.entries(FILTERS).map(([name, what]) => [name, `${name}: ${what}`]));
  $("filter").replaceChildren(
    ...options.map(([value, text]) => element("option", { value }, text)));
  $("filter").value = state.filter;
}

function itemsTitle(advice) {
  if (advice.promise === "privacy") return "How many items must there be room for?";
  if (advice.filter === "rolling") return "How many of the latest keys count?";
  if (advice.filter === "scalable") return "How many keys may it grow to?";
  return "How many keys will it hold?";
}

// The answer.

const SHOW = { rate: showRate, zone: showZone, privacy: showPrivacy };
let speaking = 0;

function showAnswer() {
  if (tamis === null) return;
  const advice = advise(state);
  const found = advice.promise === "zone"
    ? wishForZone(advice) : plan(tamis, advice.promise, planOptions(state, advice));
  $("why").replaceChildren(...advice.why.map((reason) => element("li", {}, reason)));
  const problem = [advice.warning, found?.error].filter(Boolean).join(" ");
  $("warning").textContent = problem;
  $("warning").hidden = problem === "";
  const name = advice.promise === "privacy" ? "a linear filter" : `a ${advice.filter} filter`;
  $("verdict").replaceChildren(
    "Take ", element("b", {}, advice.promise), ", with ", element("b", {}, name), ".");
  $("link").value = location.origin + location.pathname + toHash(state);
  showLines();
  $("advice").setAttribute("aria-busy", String(found === undefined));
  if (advice.promise !== "zone") $("chart").closest("figure").setAttribute("aria-busy", "false");
  if (found === undefined) {
    // The numbers of the plan before it stay until the new ones come.
    $("strip").textContent = "Computing …";
    return;
  }
  const answer = found.plan ? SHOW[advice.promise](found.plan, advice) : null;
  if (answer === null) {
    showFacts($("facts"), []);
    $("wrong").textContent = "";
    $("chart").closest("figure").hidden = true;
    $("strip").textContent = "No plan: see the message above.";
    return;
  }
  $("chart").closest("figure").hidden = false;
  showFacts($("facts"), answer.facts);
  $("wrong").textContent = answer.wrong;
  $("chart-title").textContent = answer.chart.title;
  draw($("chart"), answer.chart);
  showTable($("chart-table"), ...answer.table);
  const short = `${advice.promise}, ${advice.filter}: ${size(found.plan.bytes)}`;
  $("strip").textContent = short;
  // A screen reader hears the result when the hand rests, not at every step of a drag.
  clearTimeout(speaking);
  speaking = setTimeout(() => { $("spoken").textContent = `${short}. ${answer.wrong}`; }, 700);
}

function sizeFact(found) {
  return ["Size", size(found.bytes), `${grouped(found.bytes)} bytes`, "bytes"];
}

// Rate: bits against the rate, a line for each layout.

const RATES = [];
for (let place = 3; place <= 87; place += 6) RATES.push(atPlace(-place));
RATES.push(1e-9);

function showRate(found, advice) {
  const { items, fpr } = state;
  const curves = Object.keys(FILTERS).map((filter) => ({
    name: filter,
    chosen: filter === advice.filter,
    choose: () => set({ filter: filter === advice.advised ? "advised" : filter }),
    points: RATES.flatMap((rate) => {
      const other = plan(tamis, "rate", rateOptions(items, rate, filter)).plan;
      return other ? [[rate, other.bits_per_item]] : [];
    }),
  }));
  // Counters, and split blocks at small rates, would press the others to the ground: what is far
  // above a Bloom filter leaves the chart at its top. The plan itself stays in sight.
  const bloom = curves.find((curve) => curve.name === "bloom").points.map(([, bits]) => bits);
  const most = Math.max(1.4 * Math.max(0, ...bloom), 1.1 * found.bits_per_item);
  const step = [2, 5, 10, 20, 50, 100, 200, 500].find((tick) => most / tick <= 7) ?? 1000;
  const top = step * Math.ceil(most / step);
  const yTicks = [];
  for (let bits = 0; bits <= top; bits += step) yTicks.push([bits, grouped(bits)]);
  const xTicks = [0.5, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9]
    .map((rate) => [rate, rate >= 1e-3 ? percent(rate) : `1e${Math.round(Math.log10(rate))}`]);
  const rows = Object.keys(FILTERS).map((filter) => {
    const other = plan(tamis, "rate", rateOptions(items, fpr, filter)).plan;
    return other
      ? [filter, other.bits_per_item.toFixed(2), grouped(other.bytes), FILTERS[filter]]
      : [filter, "-", "-", "this many do not fit"];
  });
  const expected = found.expected_fpr ?? found.fpr;
  const wrong = expected * 1e6;
  const facts = [
    sizeFact(found),
    ["Bits a key", found.bits_per_item.toFixed(2), "", "bits_per_item"],
    ["Strangers that pass", percent(expected),
      found.expected_fpr_half === undefined
        ? "at most" : `${percent(found.expected_fpr_half)} at half the keys`, "expected_fpr"],
    ["A lookup reads", ...lookup(found)],
  ];
  return {
    facts,
    wrong:
      `Of a million strangers about ${wrong >= 10 ? grouped(wrong) : significant(wrong, 2)} pass. ` +
      "Each of them costs one search for a key that is not there. No member is ever missed.",
    chart: {
      title: `Bits a key against the rate, for ${spoken(items)} keys`,
      x: { label: "strangers that pass (stricter to the right)", from: 0.5, to: 1e-9, log: true,
        ticks: xTicks },
      y: { label: "bits a key", from: 0, to: top, log: false, ticks: yTicks },
      curves,
      marks: [{ x: Math.min(0.5, Math.max(1e-9, fpr)), y: found.bits_per_item,
        text: `${found.bits_per_item.toFixed(2)} bits` }],
    },
    table: [["filter", "bits a key", "bytes", "what it is"], rows,
      Object.keys(FILTERS).indexOf(advice.filter)],
  };
}

/** What a lookup touches: in a word, and more exactly. */
function lookup(found) {
  switch (found.filter) {
    case "bloom": return [`${found.hashes} bits`, "each in a cache line of its own"];
    case "counting": return [`${found.hashes} counters`, "each in a cache line of its own"];
    case "blocked": return ["1 cache line", `${found.hashes} bits of it`];
    case "split": return ["half a cache line", `${found.hashes} bits of it`];
    case "static": return ["1 window", `${found.fingerprint_bits} bits a key`];
    case "quotient": return ["1 run of slots", `${found.counter_bits} bits a slot`];
    default: return [`${found.links.length} links`, "one after the other, at most"];
  }
}

// Zone: bits against d, a line for each code.

const CODES = ["egh", "coprime", "rs"];

/** Where the curves have points. They are the same for all d, so that most are known already. */
const GRID = [
  1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1000,
];

/** How far the curves go. */
function mostItems() {
  return GRID.find((d) => d >= 2 * state.d && d >= 16) ?? 1000;
}

function zoneOptions(d, counting) {
  return { universe: state.universe, items: d, counting };
}

/** The plan, if it has been made; if not, it is made first, and then those of the curves. */
function wishForZone({ counting }) {
  const places = GRID.filter((d) => d <= mostItems());
  const wanted = [state.d, ...places].map((d) => zoneOptions(d, counting));
  const missing = wanted.some((options) => planned("zone", options) === undefined);
  $("chart").closest("figure").setAttribute("aria-busy", String(missing));
  if (missing) wish("zone", wanted, showAnswer);
  return planned("zone", wanted[0]);
}

function showZone(found, { counting }) {
  const most = mostItems();
  const points = { egh: [], coprime: [], rs: [] };
  const places = new Set([...GRID.filter((d) => d <= most), state.d].sort((a, b) => a - b));
  for (const d of places) {
    const other = planned("zone", zoneOptions(d, counting))?.plan;
    if (!other) continue;
    points[other.code].push([d, Number(other.bits)]);
    for (const { code, bits } of other.alternatives) points[code].push([d, Number(bits)]);
  }
  const curves = CODES.map((code) => ({
    name: code, chosen: code === found.code, points: points[code],
  }));
  const all = curves.flatMap((curve) => curve.points.map(([, bits]) => bits));
  const [low, high] = [Math.floor(Math.log10(Math.min(...all))),
    Math.ceil(Math.log10(Math.max(...all)))];
  const yTicks = [];
  for (let decade = low; decade <= Math.max(high, low + 1); decade += 1) {
    yTicks.push([10 ** decade, decade < 6 ? grouped(10 ** decade) : `1e${decade}`]);
  }
  const xTicks = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    .filter((d) => d <= most).map((d) => [d, grouped(d)]);
  const others = [{ code: found.code, bits: found.bits, probes: found.probes },
    ...found.alternatives].sort((a, b) => Number(a.bits) - Number(b.bits));
  const beyond = found.beyond[0];
  return {
    facts: [
      sizeFact(found),
      ["Bits an item", significant(found.bits_per_item), `${grouped(found.bits)} bits`, "bits"],
      ["Wrong answers", "none", `up to ${grouped(found.items)} items`],
      ["A lookup reads", `${grouped(found.probes)} cells`, `code ${found.code}, at most`, "probes"],
    ],
    wrong: beyond
      ? `Nobody is answered wrongly: ${found.certificate}. Past the zone it is a rate filter: with ` +
        `${grouped(beyond.items)} items ${percent(beyond.fpr)} of strangers pass.`
      : `Nobody is answered wrongly: ${found.certificate}.`,
    chart: {
      title: "Bits against the most items d, for each code",
      x: { label: "most items d", from: 1, to: most, log: true, ticks: xTicks },
      y: { label: "bits", from: 10 ** low, to: 10 ** Math.max(high, low + 1), log: true,
        ticks: yTicks },
      curves,
      marks: [{ x: state.d, y: Number(found.bits), text: `${grouped(found.bits)} bits` }],
    },
    table: [["code", "bits", "probes"],
      others.map(({ code, bits, probes }) => [code, grouped(bits), grouped(probes)]),
      others.findIndex(({ code }) => code === found.code)],
  };
}

// Privacy: both errors against epsilon, with the floor.

const EPSILONS = [];
for (let i = 1; i <= 40; i += 1) EPSILONS.push(Number((0.3 * i).toFixed(1)));

function showPrivacy(found) {
  const { items } = state;
  const curve = (name, method, of, more) => ({
    name,
    points: EPSILONS.flatMap((epsilon) => {
      const other = plan(tamis, "privacy", { items, epsilon, method }).plan;
      return other ? [[epsilon, of(other)]] : [];
    }),
    ...more,
  });
  const curves = [
    // A Bloom filter under noise spends exactly the epsilon that was asked for.
    curve("floor", "bloom", (other) => other.floor, { dashed: true }),
    curve("linear FN", "linear", (other) => other.fn, { chosen: true }),
    curve("linear FP", "linear", (other) => other.fp, { chosen: true }),
    curve("bloom FN", "bloom", (other) => other.fn),
    curve("bloom FP", "bloom", (other) => other.fp),
  ];
  const least = Math.min(...curves.flatMap((one) => one.points.map(([, share]) => share)));
  const low = Math.floor(Math.log10(Math.max(least, 1e-9)));
  const yTicks = [];
  for (let decade = low; decade <= 0; decade += 1) {
    yTicks.push([10 ** decade, percent(Number(`1e${decade}`))]);
  }
  const xTicks = [0.3, 2, 4, 6, 8, 10, 12].map((epsilon) => [epsilon, String(epsilon)]);
  const bloom = plan(tamis, "privacy", { items, epsilon: state.epsilon, method: "bloom" }).plan;
  const rows = [found, bloom].filter(Boolean).map((one) =>
    [one.method, percent(one.fn), percent(one.fp), grouped(one.bytes),
      one.bits_per_item.toFixed(2)]);
  return {
    facts: [
      sizeFact(found),
      ["Members missed", percent(found.fn), "false negatives (FN)", "fn"],
      ["Strangers that pass", percent(found.fp), "false positives (FP)", "fp"],
      ["Loss", significant(found.epsilon, 10), `of ${found.epsilon_asked} asked for`, "epsilon"],
    ],
    wrong:
      `Of a thousand members about ${significant(1000 * found.fn, 3)} are missed, and of a ` +
      `thousand strangers about ${significant(1000 * found.fp, 3)} pass. No private filter can ` +
      `have both below ${percent(found.floor)} at this loss. Each further release costs its loss ` +
      "anew.",
    chart: {
      title: "Both errors against epsilon, and the floor that no private filter goes below",
      x: { label: "epsilon (tells more to the right)", from: 0.1, to: 12, log: false,
        ticks: xTicks },
      y: { label: "wrong answers", from: 10 ** low, to: 1, log: true, ticks: yTicks },
      curves,
      marks: [
        { x: state.epsilon, y: found.fn, text: `${percent(found.fn)} missed` },
        { x: state.epsilon, y: found.fp, text: "" },
      ],
    },
    table: [["method", "FN", "FP", "bytes", "bits an item"], rows, 0],
  };
}

// The lines to copy, as tabs.

let place = "shell";

function beginLines() {
  const tabs = element("div", { class: "tabs", role: "tablist", "aria-label": "What to type" });
  const box = $("lines");
  box.append(tabs);
  for (const { place: id, name } of lines(state)) {
    const chosen = id === place;
    const tab = element("button", {
      type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}`,
      "aria-selected": String(chosen), tabindex: chosen ? "0" : "-1",
    }, name);
    tab.addEventListener("click", () => take(id));
    tabs.append(tab);
    const text = element("pre", { id: `text-${id}`, tabindex: "0" });
    const button = element("button", { type: "button", "data-copy": id }, "Copy");
    button.addEventListener("click", () => {
      copy(text.textContent, button, () => getSelection().selectAllChildren(text));
    });
    const panel = element("div", {
      role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}`, class: "line",
    }, text, button);
    panel.hidden = !chosen;
    box.append(panel);
  }
  tabs.addEventListener("keydown", (event) => {
    const all = [...tabs.children];
    const steps = { ArrowRight: 1, ArrowLeft: -1 };
    let next = all.indexOf(document.activeElement);
    if (event.key in steps) next = (next + steps[event.key] + all.length) % all.length;
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = all.length - 1;
    else return;
    event.preventDefault();
    all[next].click();
    all[next].focus();
  });
}

function take(id) {
  place = id;
  for (const tab of document.querySelectorAll("#lines [role=tab]")) {
    const chosen = tab.id === `tab-${id}`;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    $(tab.getAttribute("aria-controls")).hidden = !chosen;
  }
}

function showLines() {
  for (const { place: id, text } of lines(state)) $(`text-${id}`).textContent = text;
}
