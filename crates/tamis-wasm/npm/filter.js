// What both builds have: opening a filter, and asking it.

import { TamisError } from "./error.js";
import { checkBytes, checkNumber, checkText, inBatches, noKey } from "./keys.js";
import { bytesOf, checkNames, maxBytes, secretOf } from "./options.js";

// Only this module makes filters, and only from what the library made.
const MAKING = Symbol("tamis");

/** The bytes before the body of a file, at most, and what else a server may send with it. */
const HEADER = 1 << 20;

/** The filter, `open` and `fetchFilter` over the functions of a build. */
export function lookups(wasm) {
  // The small build has no zone filters.
  const zones = wasm.Dictionary ? ["dictionary", "withoutDictionary"] : [];
  const OPENING = ["maxBytes", "key", ...zones];

  class Filter {
    #raw;

    constructor(making, raw) {
      if (making !== MAKING) {
        throw new TamisError("a filter is opened or built; there is no other way to make one");
      }
      this.#raw = raw;
    }

    get kind() {
      return this.raw().kind();
    }
    get promise() {
      return this.raw().promise();
    }
    get health() {
      return this.raw().health();
    }
    get fill() {
      return this.raw().fill();
    }
    get fpr() {
      return this.raw().fpr();
    }
    get fnr() {
      return this.raw().fnr();
    }
    get estimatedItems() {
      return this.raw().estimated_items() ?? null;
    }
    get bytes() {
      return this.raw().bytes();
    }

    has(key) {
      if (typeof key === "string") return this.raw().has_text(checkText(key));
      if (typeof key === "number") return this.raw().has_number(checkNumber(key));
      if (key instanceof Uint8Array) return this.raw().has_bytes(checkBytes(key));
      if (typeof key === "bigint") return this.hasMany([key])[0] === 1;
      throw noKey(key);
    }

    hasMany(keys) {
      const raw = this.raw();
      const answers = new Uint8Array(keys?.length ?? 0);
      let at = 0;
      inBatches(wasm.Batch, keys, (batch) => {
        const part = raw.has_batch(batch);
        answers.set(part, at);
        at += part.length;
      });
      return answers;
    }

    query(text) {
      if (typeof text !== "string") throw new TamisError("query takes a text; has takes any key");
      return this.raw().query(checkText(text));
    }

    advance(milliseconds = Date.now()) {
      if (!Number.isSafeInteger(milliseconds) || milliseconds < 0) {
        throw new TamisError(`a time is milliseconds since 1970 (got ${milliseconds})`);
      }
      this.raw().advance(milliseconds);
    }

    estimateMembers(keys) {
      if (this.promise !== "privacy") {
        throw new TamisError("only a published filter errs by known chances; ask has or hasMany");
      }
      const answers = this.hasMany(keys);
      let passed = 0;
      for (const answer of answers) passed += answer;
      const found = this.raw().estimate_members(passed, answers.length);
      if (found === undefined) {
        throw new TamisError("members pass no more often than strangers: nothing can be told");
      }
      const [value, low, high] = found;
      return { value, low, high };
    }

    free() {
      this.#raw?.free();
      this.#raw = null;
    }

    /** The filter within WebAssembly, for this package only. */
    raw() {
      if (this.#raw === null) throw new TamisError("the filter was freed; open it again");
      return this.#raw;
    }
  }

  const made = (raw) => new Filter(MAKING, raw);

  function dictionary(keys) {
    const all = new wasm.Dictionary();
    inBatches(wasm.Batch, keys, (batch) => all.add(batch));
    return all;
  }

  function opening(options) {
    checkNames(options, OPENING);
    const how = new wasm.Opening(maxBytes(options));
    const secret = secretOf(options);
    if (secret !== undefined) how.set_key(secret);
    if (options.dictionary !== undefined) how.set_dictionary(dictionary(options.dictionary));
    if (options.withoutDictionary) how.set_without_dictionary();
    return how;
  }

  function open(bytes, options = {}) {
    const file = bytesOf(bytes);
    const how = opening(options);
    try {
      return made(how.open(file));
    } finally {
      how.free();
    }
  }

  async function fetchFilter(url, { init, ...options } = {}) {
    checkNames(options, OPENING);
    const response = await fetch(url, init);
    if (!response.ok) {
      throw new TamisError(`${response.url} answered ${response.status} ${response.statusText}`);
    }
    return open(await body(response, maxBytes(options) + HEADER), options);
  }

  return { Filter, made, open, fetchFilter, dictionary };
}

/** The body of a response, which is left as soon as it is too long. */
async function body(response, most) {
  if (response.body === null) return new Uint8Array();
  const parts = [];
  let length = 0;
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new TamisError(`${response.url} is longer than maxBytes allows: ${most} with a header`);
    }
    parts.push(value);
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
