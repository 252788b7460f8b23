// Numbers as people read and write them.

const group = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** Digits in groups of three. Takes the strings that stand for integers past 2^53, too. */
export function grouped(value) {
  return typeof value === "string" ? group.format(BigInt(value)) : group.format(value);
}

/** Four significant digits, without zeros at the end. */
export function significant(value, digits = 4) {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  if (Math.abs(value) < 1e-5 || Math.abs(value) >= 1e15) {
    return String(Number(value.toPrecision(digits)));
  }
  return new Intl.NumberFormat("en", { maximumSignificantDigits: digits }).format(value);
}

/** A share as percent: 0.01 is "1%". */
export function percent(share) {
  if (share !== 0 && Math.abs(share) < 1e-7) return significant(share);
  return `${significant(100 * share)}%`;
}

/** A share as odds: 0.01 is "1 in 100". */
export function odds(share) {
  if (share <= 0) return "none";
  const one = 1 / share;
  return one < 10 ? `1 in ${significant(one, 2)}` : `1 in ${grouped(Number(one.toPrecision(3)))}`;
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB", "PB"];

/** A size in a unit that suits it: 1198133 is "1.198 MB". */
export function size(bytes) {
  let value = Number(bytes);
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  if (unit === 0) return value === 1 ? "1 byte" : `${value} bytes`;
  return `${significant(value)} ${UNITS[unit]}`;
}

const WORDS = [
  [1e12, "trillion"],
  [1e9, "billion"],
  [1e6, "million"],
];

/** A count for a label: 1000000 is "1 million". */
export function spoken(value) {
  for (const [unit, word] of WORDS) {
    if (value >= unit) return `${significant(value / unit)} ${word}`;
  }
  return grouped(value);
}

const SUFFIXES = { k: 1e3, m: 1e6, g: 1e9, t: 1e12 };

/** Reads a count as the command line does: 1000, 1_000, 1,000, 1e3, 1k, 2^10. Null if it is none. */
export function readCount(text) {
  const bare = text.trim().replace(/[_,\s]/g, "").toLowerCase();
  let value;
  const power = /^(\d+)\^(\d+)$/.exec(bare);
  const number = /^(\d+(?:\.\d+)?(?:e\d+)?)([kmgt]?)$/.exec(bare);
  if (power) value = Number(power[1]) ** Number(power[2]);
  else if (number) value = Number(number[1]) * (SUFFIXES[number[2]] ?? 1);
  else return null;
  // 1.1e6 may be a little off as a product of doubles; an integer near it is meant.
  const whole = Math.round(value);
  if (Math.abs(value - whole) > 1e-6 * Math.max(1, value)) return null;
  return Number.isSafeInteger(whole) ? whole : null;
}

/** Reads a share: 0.01, 1% or "1 in 100". Null if it is none. */
export function readShare(text) {
  const bare = text.trim().replace(/,/g, "").toLowerCase();
  const one = /^1\s*(?:in|\/)\s*(\d+(?:\.\d+)?(?:e\d+)?)$/.exec(bare);
  if (one) return Number(one[1]) > 0 ? 1 / Number(one[1]) : null;
  const parts = /^(\d*\.?\d+(?:e-?\d+)?)\s*(%?)$/.exec(bare);
  if (!parts) return null;
  const share = parts[2] ? Number(`${parts[1]}e-2`) : Number(parts[1]);
  // `1e-7%` has two exponents, which Number does not read.
  const value = Number.isNaN(share) ? Number(parts[1]) / 100 : share;
  return value > 0 && value < 1 ? value : null;
}

/** The preferred numbers of a slider: ten in a decade, easy to read. */
const DECADE = [1, 1.25, 1.6, 2, 2.5, 3.2, 4, 5, 6.4, 8];

/** The number at a place of a slider with ten places for each decade. */
export function atPlace(place) {
  const index = ((place % 10) + 10) % 10;
  const decade = Math.round((place - index) / 10);
  return Number(`${DECADE[index]}e${decade}`);
}

/** The place nearest to a number. */
export function placeOf(value) {
  return Math.round(10 * Math.log10(value));
}

/** An integer as Rust and Python write it: 1000000 is "1_000_000". */
export function underscored(value) {
  return grouped(value).replaceAll(",", "_");
}
