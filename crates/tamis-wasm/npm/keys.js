// Keys of JavaScript become batches of the library. A batch is small, so that the copy that
// WebAssembly needs stays small, however many keys there are.

import { TamisError } from "./error.js";

const BATCH_KEYS = 8192;
const BATCH_BYTES = 1 << 20;
const MAX_KEY_BYTES = 1 << 26;
const MAX_WIDE = (1n << 128n) - 1n;
const MIN_WIDE = -(1n << 127n);

// What a key of a mixed batch is, as src/keys.rs has it.
const BYTES = 0;
const NATURAL = 1;
const NEGATIVE = 2;

const encoder = new TextEncoder();

/** A text that has UTF-8 bytes. Half a surrogate pair has none, and would become another key. */
export function checkText(text) {
  if (/\p{Surrogate}/u.test(text)) {
    throw new TamisError("a key has half of a surrogate pair, which no UTF-8 has; mend the text");
  }
  if (text.length > MAX_KEY_BYTES) throw tooLong(text.length);
  return text;
}

export function checkBytes(bytes) {
  if (bytes.length > MAX_KEY_BYTES) throw tooLong(bytes.length);
  return bytes;
}

export function checkNumber(number) {
  if (!Number.isSafeInteger(number)) {
    throw new TamisError(
      `${number} is no key: a number must be a safe integer; write it as text or as a bigint`,
    );
  }
  return number;
}

function tooLong(length) {
  return new TamisError(`a key has at most ${MAX_KEY_BYTES} bytes (got ${length})`);
}

export function noKey(key) {
  const what = key === null ? "null" : Array.isArray(key) ? "an array" : `a ${typeof key}`;
  return new TamisError(`${what} is no key; a key is a string, a safe integer, a bigint or bytes`);
}

/** Hands the keys to `take` in batches, each of which it need not free. */
export function inBatches(Batch, keys, take) {
  const give = (batch) => {
    try {
      take(batch);
    } finally {
      batch.free();
    }
  };
  const parts = (make) => {
    for (let start = 0; start < keys.length; start += BATCH_KEYS) {
      give(make(keys.subarray(start, start + BATCH_KEYS)));
    }
  };
  if (keys instanceof Uint32Array) return parts((part) => Batch.small(part));
  if (keys instanceof BigUint64Array) return parts((part) => Batch.natural(part));
  if (keys instanceof BigInt64Array) return parts((part) => Batch.signed(part));
  if (keys instanceof Float64Array) return parts((part) => Batch.numbers(part));
  if (
    keys instanceof Int32Array ||
    keys instanceof Int16Array ||
    keys instanceof Uint16Array ||
    keys instanceof Int8Array
  ) {
    return parts((part) => Batch.numbers(Float64Array.from(part)));
  }
  if (!Array.isArray(keys)) {
    throw new TamisError(
      "many keys are an array or a typed array of integers; a Uint8Array is one key: [bytes]",
    );
  }
  let [tags, ends, pieces, length] = [[], [], [], 0];
  const flush = () => {
    if (tags.length === 0) return;
    const bytes = new Uint8Array(length);
    let at = 0;
    for (const piece of pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    const batch = Batch.mixed(Uint8Array.from(tags), Uint32Array.from(ends), bytes);
    [tags, ends, pieces, length] = [[], [], [], 0];
    give(batch);
  };
  for (const key of keys) {
    const [tag, bytes] = packed(key);
    tags.push(tag);
    pieces.push(bytes);
    length += bytes.length;
    ends.push(length);
    if (tags.length === BATCH_KEYS || length >= BATCH_BYTES) flush();
  }
  flush();
}

function packed(key) {
  if (typeof key === "string") return [BYTES, encoder.encode(checkText(key))];
  if (typeof key === "number") return wide(BigInt(checkNumber(key)));
  if (typeof key === "bigint") return wide(key);
  if (key instanceof Uint8Array) return [BYTES, checkBytes(key)];
  throw noKey(key);
}

function wide(value) {
  if (value < MIN_WIDE || value > MAX_WIDE) {
    throw new TamisError(`${value} is no key: an integer goes from -2^127 to 2^128 - 1`);
  }
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt.asUintN(64, value), true);
  view.setBigUint64(8, BigInt.asUintN(64, value >> 64n), true);
  return [value < 0n ? NEGATIVE : NATURAL, bytes];
}
