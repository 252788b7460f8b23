// The rate promise in a filter of a few bits: insert words, watch the bits, meet a stranger.

import { onesOf } from "./bits.js";
import { $, element } from "./dom.js";

/** So small that strangers pass soon. */
const OPTIONS = { items: 8, fpr: 0.1 };

const ANIMALS = [
  "ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay", "koala", "lynx", "mole",
  "newt", "owl", "pig", "quail", "rat", "seal", "toad", "urchin", "viper", "wolf", "yak", "zebra",
  "badger", "camel", "deer", "eagle", "ferret", "goat", "heron", "iguana", "jackal", "kiwi", "lion",
  "mouse", "otter", "panda", "raven", "shrew", "tiger", "vole", "wasp", "bison", "crane", "dove",
];

export function beginRate(tamis) {
  const count = tamis.planRate(OPTIONS).bits;
  let filter = tamis.buildRate(OPTIONS);
  let members = [];
  const cells = Array.from({ length: count }, () => element("span", { class: "cell" }));
  $("rate-cells").replaceChildren(...cells);

  /** The bits of a word: those that it sets in an empty filter. */
  const bitsOfWord = (word) => {
    const empty = tamis.buildRate(OPTIONS);
    empty.insert(word);
    const ones = onesOf(empty, count);
    empty.free();
    return ones;
  };

  const show = (word, ...said) => {
    const set = new Set(onesOf(filter, count));
    const own = new Set(word === null ? [] : bitsOfWord(word));
    cells.forEach((cell, i) => {
      cell.className = `cell${set.has(i) ? " on" : ""}${own.has(i) ? " now" : ""}`;
    });
    const ones = word === null ? "" : `; the bits of ${word} are ${listed([...own])}`;
    $("rate-cells").setAttribute("aria-label", `${set.size} of ${count} bits are set${ones}`);
    $("rate-members").textContent = members.length === 0 ? "none yet" : members.join(", ");
    $("rate-said").replaceChildren(...said);
  };

  const insert = (word) => {
    if (members.includes(word)) {
      show(word, element("b", {}, word), " is a member already. Its bits stay as they are.");
      return;
    }
    const fresh = filter.insert(word);
    members.push(word);
    show(word, element("b", {}, word), ` sets ${listed(bitsOfWord(word))}. It will always pass.`,
      fresh ? "" : " All these bits were set already: it would have passed as a stranger.");
  };

  const ask = (word) => {
    if (members.includes(word)) {
      show(word, element("b", {}, word), " passes. It is a member, and members always do.");
    } else if (filter.has(word)) {
      const set = bitsOfWord(word).map((bit) => {
        const owner = members.find((member) => bitsOfWord(member).includes(bit));
        return `bit ${bit} by ${owner}`;
      });
      show(word, element("b", {}, word), " passes, ",
        element("span", { class: "bad" }, "but it is a stranger"),
        `: nobody inserted it. Members set all its bits: ${set.join(", ")}.`);
    } else {
      const clear = bitsOfWord(word).filter((bit) => !onesOf(filter, count).includes(bit));
      show(word, element("b", {}, word),
        ` does not pass: ${clear.length === 1 ? "bit" : "bits"} ${clear.join(" and ")} ` +
        `${clear.length === 1 ? "is" : "are"} not set, so it is certainly not a member.`);
    }
  };

  const word = $("rate-word");
  document.querySelector("#see-rate form").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = word.value.trim();
    if (text === "") show(null, "Write a word first.");
    else if (event.submitter?.value === "ask") ask(text);
    else insert(text);
  });
  $("rate-next").addEventListener("click", () => {
    const fresh = ANIMALS.filter((animal) => !members.includes(animal)).slice(0, 6);
    fresh.forEach((animal) => { filter.insert(animal); members.push(animal); });
    show(fresh.at(-1) ?? null, fresh.length === 0 ? "All animals are members now."
      : `${listed(fresh, "")} are members now. Every one of them passes.`);
  });
  $("rate-stranger").addEventListener("click", () => {
    const candidates = [...ANIMALS, ...Array.from({ length: 5000 }, (_, i) => `word ${i + 1}`)];
    const strangers = candidates.filter((one) => !members.includes(one));
    const found = strangers.find((one) => filter.has(one));
    if (found === undefined) {
      show(null, `None of ${strangers.length} strangers passes. Insert more words.`);
      return;
    }
    word.value = found;
    ask(found);
  });
  $("rate-clear").addEventListener("click", () => {
    filter.free();
    filter = tamis.buildRate(OPTIONS);
    members = [];
    show(null, "The filter is empty. Insert a word.");
  });
  show(null, "The filter is empty. Insert a word.");
}

/** "bits 1, 5 and 9". */
function listed(values, what) {
  const name = what ?? (values.length === 1 ? "bit " : "bits ");
  if (values.length < 2) return `${name}${values.join("")}`;
  return `${name}${values.slice(0, -1).join(", ")} and ${values.at(-1)}`;
}
