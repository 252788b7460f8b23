// Options on their way to the library. Numbers travel as their digits, so that none is rounded.

import { TamisError } from "./error.js";

const MAX_BYTES = 2 ** 28;

/** Refuses what is no object. */
export function checkOptions(options) {
  if (options === null || typeof options !== "object") {
    throw new TamisError("options are an object, for example { items: 1000000, fpr: 0.01 }");
  }
}

/** The cap on memory: 256 MiB, or what the caller says. */
export function maxBytes(options) {
  checkOptions(options);
  const most = options.maxBytes ?? MAX_BYTES;
  if (!Number.isSafeInteger(most) || most < 0) {
    throw new TamisError(`maxBytes must be a whole number of bytes from 0 up (got ${most})`);
  }
  return most;
}

/** Refuses names that no option has: a misspelt cap would be none. */
export function checkNames(options, names) {
  checkOptions(options);
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) {
      throw new TamisError(`there is no option ${name}; there are ${names.join(", ")}`);
    }
  }
}

/** The options as JSON that src/options.rs reads, without those that are for `except`. */
export function written(options, except = []) {
  checkOptions(options);
  const texts = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || except.includes(name)) continue;
    if (typeof value === "number") {
      if (!Number.isFinite(value)) throw new TamisError(`${name} must be finite (got ${value})`);
      texts[name] = digits(value);
    } else if (typeof value === "bigint") {
      texts[name] = value.toString();
    } else if (typeof value === "string" || typeof value === "boolean") {
      texts[name] = value;
    } else {
      throw new TamisError(`${name} must be a number, a bigint, a string or a boolean`);
    }
  }
  return JSON.stringify(texts);
}

/** The shortest digits of a number; a whole one without an exponent. */
function digits(number) {
  return Number.isInteger(number) ? BigInt(number).toString() : String(number);
}

/** The seed of a public hash, as a bigint of 64 bits. */
export function seedOf(options) {
  const { seed = 0 } = options;
  let value;
  try {
    value = BigInt(seed);
  } catch {
    value = -1n;
  }
  if (value < 0n || value >= 1n << 64n) {
    throw new TamisError(`seed must be a whole number from 0 to 2^64 - 1 (got ${seed})`);
  }
  return value;
}

/** The secret of a keyed hash, if one is given. */
export function secretOf(options) {
  const { key } = options;
  if (key === undefined) return undefined;
  if (!(key instanceof Uint8Array)) throw new TamisError("key must be a Uint8Array of 16 or more");
  return key;
}

/** The bytes of a file. */
export function bytesOf(bytes) {
  if (bytes instanceof Uint8Array) return bytes;
  if (bytes instanceof ArrayBuffer) return new Uint8Array(bytes);
  throw new TamisError("a file is a Uint8Array or an ArrayBuffer; for a URL see fetchFilter");
}
