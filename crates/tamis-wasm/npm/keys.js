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

// Node 18 has no such method.
const isWellFormed = "".isWellFormed
  ? (text) => text.isWellFormed()
  : (text) => !/\p{Surrogate}/u.test(text);

/** A text that has UTF-8 bytes. Half a surrogate pair has none, and would become another key. */
export function checkText(text) {
  if (typeof text !== "string") throw noKey(text);
  if (!isWellFormed(text)) {
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
  for (let start = 0; start < keys.length; ) {
    const end = batchEnd(keys, start);
    const batch = asciiBatch(Batch, keys, start, end) ?? mixedBatch(Batch, keys, start, end);
    start = end;
    give(batch);
  }
}

/** Where a batch ends that begins at `start`: it has at least one key. */
function batchEnd(keys, start) {
  const most = Math.min(keys.length, start + BATCH_KEYS);
  let [end, length] = [start, 0];
  while (end < most && length < BATCH_BYTES) length += keys[end++]?.length ?? 16;
  return end;
}

/** The keys as a batch, if all are texts of ASCII: these are encoded at once. */
function asciiBatch(Batch, keys, start, end) {
  const ends = new Uint32Array(end - start);
  let length = 0;
  for (let i = start; i < end; i++) {
    if (typeof keys[i] !== "string") return null;
    length += keys[i].length;
    ends[i - start] = length;
  }
  if (length > MAX_KEY_BYTES) return null;
  const bytes = encoder.encode(keys.slice(start, end).join(""));
  // Other texts have more bytes than characters.
  if (bytes.length !== length) return null;
  return Batch.mixed(new Uint8Array(end - start).fill(BYTES), ends, bytes);
}

function mixedBatch(Batch, keys, start, end) {
  const tags = new Uint8Array(end - start);
  const ends = new Uint32Array(end - start);
  const pieces = [];
  let length = 0;
  for (let i = start; i < end; i++) {
    const [tag, piece] = packed(keys[i]);
    tags[i - start] = tag;
    pieces.push(piece);
    length += piece.length;
    ends[i - start] = length;
  }
  const bytes = new Uint8Array(length);
  pieces.forEach((piece, i) => bytes.set(piece, i === 0 ? 0 : ends[i - 1]));
  return Batch.mixed(tags, ends, bytes);
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
