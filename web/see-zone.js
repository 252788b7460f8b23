// The zone promise: two items of sixty, and all sixty answers at once.

import { bitsOf } from "./bits.js";
import { $, element } from "./dom.js";

const SIZE = 60;
/** Remainders modulo the first primes are the code that is easiest to explain. */
const OPTIONS = { universe: SIZE, items: 2, code: "egh" };
const PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23];

export function beginZone(tamis) {
  const plan = tamis.planZone(OPTIONS);
  const moduli = PRIMES.slice(0, plan.probes);
  const chosen = new Set();
  const buttons = Array.from({ length: SIZE }, (_, i) => {
    const button = element("button", { type: "button", "aria-pressed": "false" }, String(i));
    button.addEventListener("click", () => {
      if (!chosen.delete(i)) chosen.add(i);
      show();
    });
    return button;
  });
  $("zone-elements").replaceChildren(...buttons);

  const blocks = moduli.map((modulus) => ({
    modulus,
    cells: Array.from({ length: modulus }, () => element("span", { class: "cell" })),
  }));
  $("zone-cells").replaceChildren(...blocks.map(({ modulus, cells }) =>
    element("span", {}, element("span", { class: "block-name" }, `mod ${modulus}`), ...cells)));

  function show() {
    const filter = tamis.buildZone(OPTIONS);
    for (const item of chosen) filter.insertBeyond(item);
    const strangers = [];
    buttons.forEach((button, i) => {
      const passes = filter.has(i);
      const stranger = passes && !chosen.has(i);
      if (stranger) strangers.push(i);
      button.setAttribute("aria-pressed", String(chosen.has(i)));
      button.classList.toggle("wrong", stranger);
      button.setAttribute("aria-label", `${i}${stranger ? ", a stranger that passes" : ""}`);
    });
    const bits = bitsOf(filter, plan.bits);
    const health = filter.health;
    filter.free();
    let at = 0;
    for (const { cells } of blocks) {
      for (const cell of cells) {
        cell.className = `cell${bits[at] ? " on" : ""}`;
        at += 1;
      }
    }
    $("zone-cells").setAttribute("aria-label",
      `${bits.filter(Boolean).length} of ${plan.bits} cells are occupied`);
    $("zone-said").replaceChildren(...said(chosen.size, strangers, health));
  }

  function said(items, strangers, health) {
    if (items === 0) return ["The filter is empty, and nobody passes. Choose an item."];
    const count = items === 1 ? "1 item" : `${items} items`;
    if (health === "within") {
      return [element("b", {}, `${count}, all 60 answers right.`),
        " That is proved for every choice of up to two items."];
    }
    const past = `${count}: beyond the zone of 2. `;
    if (strangers.length === 0) {
      return [past, "All 60 answers happen to be right, but nothing promises that any more. " +
        "Choose further items."];
    }
    return [past, element("span", { class: "bad" }, strangers.length === 1
      ? "1 stranger passes" : `${strangers.length} strangers pass`),
    `: ${strangers.join(", ")}. Every item still passes.`];
  }

  $("zone-because").textContent =
    `Each number marks its remainder modulo ${moduli.slice(0, -1).join(", ")} and ` +
    `${moduli.at(-1)}: ${plan.bits} cells in all. A number passes if all its remainders are ` +
    `marked. Why that suffices: ${plan.certificate}.`;
  $("zone-clear").addEventListener("click", () => {
    chosen.clear();
    show();
  });
  chosen.add(7).add(42);
  show();
}
