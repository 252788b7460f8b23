// Section 2: a filter file, described, drawn, asked and listed. A worker holds the filter.

import { $, element, showDrawing, showFacts, showTable } from "./dom.js";
import { grouped, percent, significant, size } from "./numbers.js";

const MAX_SHOWN = 1000;

let worker = null;
let number = 0;
const waiting = new Map();

/** Asks the worker, and waits for its answer. */
function ask(name, given = {}, transfer = []) {
  if (worker === null) {
    worker = new Worker("look-worker.js", { type: "module" });
    worker.addEventListener("message", ({ data }) => {
      const { resolve, reject } = waiting.get(data.number) ?? {};
      waiting.delete(data.number);
      if (data.error === undefined) resolve?.(data.found);
      else reject?.(new Error(data.error));
    });
    worker.addEventListener("error", () => stop("the library stopped; open the file again"));
  }
  number += 1;
  const mine = number;
  return new Promise((resolve, reject) => {
    waiting.set(mine, { resolve, reject });
    worker.postMessage({ number: mine, name, given }, transfer);
  });
}

/** Ends the worker. What was asked of it fails for this reason. */
function stop(why) {
  worker?.terminate();
  worker = null;
  for (const { reject } of waiting.values()) reject(new Error(why));
  waiting.clear();
}

let opened = null;

function problem(text) {
  $("look-problem").textContent = text;
  $("look-problem").hidden = text === "";
}

export function beginLooking() {
  $("file").addEventListener("change", () => {
    if ($("file").files.length > 0) openFile($("file").files[0]);
  });
  const drop = $("drop");
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length > 0) openFile(event.dataTransfer.files[0]);
  });
  // A file that misses the field must not take the place of the page.
  for (const name of ["dragover", "drop"]) addEventListener(name, (e) => e.preventDefault());
  for (const id of ["key-file", "dictionary-file"]) {
    $(id).addEventListener("change", () => {
      if (latest !== null) openFile(latest);
    });
  }
  $("sample").addEventListener("click", () => show(() => ask("sample")));
  $("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    askKeys();
  });
  $("list").addEventListener("click", listItems);
  $("list-stop").addEventListener("click", () => {
    stop("stopped");
    $("looked").hidden = true;
    problem("The listing was stopped. Open the file again to go on.");
  });
}

const MAX_FILE = 256 * 1024 * 1024;

/** The latest file: it is opened again when its key or its dictionary comes. */
let latest = null;

function openFile(file) {
  latest = file;
  if (file.size > MAX_FILE) {
    problem(`${file.name} has ${grouped(file.size)} bytes; this page takes at most ` +
      `${grouped(MAX_FILE)}. The command line has no such limit: tamis info FILE.`);
    return;
  }
  show(async () => {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const key = await secretKey();
    const dictionary = await $("dictionary-file").files[0]?.text();
    return ask("open", { name: file.name, bytes, key, dictionary }, [bytes.buffer]);
  });
}

/** The bytes of the key file. As at the shell, a line end does not count. */
async function secretKey() {
  const file = $("key-file").files[0];
  if (file === undefined) return undefined;
  const bytes = new Uint8Array(await file.arrayBuffer());
  let end = bytes.length;
  if (bytes[end - 1] === 0x0a) end -= 1;
  if (bytes[end - 1] === 0x0d) end -= 1;
  return bytes.slice(0, end);
}

async function show(open) {
  problem("");
  $("looked").hidden = true;
  try {
    opened = await open();
  } catch (error) {
    problem(`${error.message[0].toUpperCase()}${error.message.slice(1)}.`.replace(/\.\.$/, "."));
    return;
  }
  describe();
  $("looked").hidden = false;
  $("file-name").focus();
}

function describe() {
  const { info } = opened;
  $("file-name").textContent = opened.name;
  $("file-what").textContent = opened.foreign
    ? `A filter of another program: ${opened.kind}.`
    : `A ${opened.kind} filter. ${PROMISES[opened.promise](info)}`;
  const facts = [
    ["Size of the file", size(opened.length), `${grouped(opened.length)} bytes`, "file-bytes"],
  ];
  if (typeof opened.fill === "number") facts.push(["Full", percent(opened.fill), "of its cells"]);
  const items = info.len ?? opened.estimatedItems;
  if (items !== null && items !== undefined) {
    const planned = info.items === undefined || info.items === null
      ? "" : `of ${grouped(info.items)} planned`;
    const exact = info.len_is_exact || info.distinct !== undefined;
    const count = grouped(typeof items === "string" ? items : Math.round(items));
    facts.push(["Items", exact ? count : `about ${count}`, planned, "file-items"]);
  }
  const now = info.fpr_now ?? info.expected_fpr;
  if (typeof now === "number") {
    facts.push(["Strangers that pass", percent(now), "as it is now", "file-fpr"]);
  }
  if (opened.fnr > 0) facts.push(["Members missed", percent(opened.fnr)]);
  if (opened.health !== null) {
    const good = opened.health === "within";
    facts.push(["Health", good ? "within" : "beyond",
      good ? "it keeps its promise" : "it holds more than was planned", "file-health", !good]);
  }
  showFacts($("file-facts"), facts);
  showTable($("file-fields"), ["field", "value"], Object.entries(info).map(([name, value]) =>
    [name, typeof value === "object" && value !== null ? JSON.stringify(value) : String(value)]));
  if (typeof opened.picture === "string") showDrawing($("file-picture"), opened.picture);
  else $("file-picture").textContent = opened.picture.problem;
  $("ask-answers").replaceChildren();
  $("ask-summary").textContent = "";
  $("list-answers").replaceChildren();
  $("list-summary").textContent = "";
  document.querySelector("[data-look=list]").hidden = opened.promise !== "zone";
  document.querySelector("[data-look=kinds]").hidden = opened.keyKinds.length < 2;
  $("ask-kind").replaceChildren(
    ...opened.keyKinds.map((kind) => element("option", { value: kind }, kind)));
}

const PROMISES = {
  rate: () => "Members always pass; strangers pass at a rate.",
  zone: (info) => `Nobody is answered wrongly, up to ${grouped(info.zone)} items.`,
  privacy: (info) => `Published: it tells of one item at most epsilon ${significant(info.epsilon)}.`,
};

async function askKeys() {
  const keys = $("ask-keys").value.split("\n").map((line) => line.replace(/\r$/, ""))
    .filter((line) => line !== "");
  if (keys.length === 0) {
    $("ask-summary").textContent = "Write a key first.";
    return;
  }
  const kind = opened.keyKinds.length > 1 ? $("ask-kind").value : undefined;
  let answers;
  try {
    answers = await ask("ask", { keys, kind });
  } catch (error) {
    $("ask-summary").textContent = error.message;
    return;
  }
  const passed = answers.filter((answer) => answer === true).length;
  $("ask-summary").textContent = `${grouped(passed)} of ${grouped(keys.length)} ` +
    `${keys.length === 1 ? "key" : "keys"} ${passed === 1 ? "passes" : "pass"}.`;
  $("ask-answers").replaceChildren(...keys.slice(0, MAX_SHOWN).map((key, i) => {
    const answer = answers[i];
    const said = answer === true ? YES[opened.promise] : answer === false ? NO[opened.promise] : answer;
    return element("li", {}, element("span", { class: "key" }, key),
      element("span", { class: answer === true ? "yes" : "no" }, said));
  }));
}

const YES = { rate: "passes", zone: "passes", privacy: "passes" };
const NO = { rate: "certainly not a member", zone: "not an item", privacy: "does not pass" };

async function listItems() {
  $("list").disabled = true;
  $("list-stop").hidden = false;
  $("list-summary").textContent = "Listing …";
  try {
    const { exact, len, elements } = await ask("list");
    $("list-summary").textContent = exact
      ? `It holds exactly these ${grouped(len)}.`
      : `It is beyond its zone: its items are among these ${grouped(len)}.`;
    $("list-answers").replaceChildren(...elements.slice(0, MAX_SHOWN).map((name) =>
      element("li", {}, element("span", { class: "key" }, name))));
  } catch (error) {
    $("list-summary").textContent = error.message;
  } finally {
    $("list").disabled = false;
    $("list-stop").hidden = true;
  }
}
