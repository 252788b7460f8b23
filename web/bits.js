// The cells of a small filter, read from the bytes of its file.

/** The bits of a filter's body. Bit i is bit i mod 8, from the least, of byte i / 8. */
export function bitsOf(filter, count) {
  const file = filter.toBytes();
  // A body ends the file.
  const body = file.subarray(file.length - Math.ceil(count / 8));
  return Array.from({ length: count }, (_, i) => (body[i >> 3] >> (i & 7)) & 1);
}

/** Which bits of a filter are set. */
export function onesOf(filter, count) {
  return bitsOf(filter, count).flatMap((bit, i) => (bit ? [i] : []));
}
