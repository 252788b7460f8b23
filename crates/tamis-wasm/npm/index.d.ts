/**
 * tamis in JavaScript: filters that answer "is this key in the set?", with the promise you choose.
 * The module is ready when it is imported. Every function works without waiting, except
 * `fetchFilter`.
 */

/**
 * A key. A text is its UTF-8 bytes, so "ant" and its bytes are one key. An integer is its value: a
 * number must be a safe integer, a bigint goes from -2^127 to 2^128 - 1, and 7 and 7n are one key.
 * The integer 7 and the text "7" are different keys. Anything else is refused.
 */
export type Key = string | number | bigint | Uint8Array;

/** Many keys. The elements of a typed array of integers are integers. */
export type Keys =
  | readonly Key[]
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | BigUint64Array
  | BigInt64Array
  | Float64Array;

/** An integer: a number, or its digits as a string past 2^53. */
export type Integer = number | string;

/** An integer that is asked for: a safe number, a bigint, or decimal digits. */
export type Count = number | bigint | string;

/** What can go wrong: the library's own sentence, which names the value and the remedy. */
export class TamisError extends Error {
  readonly name: "TamisError";
}

/** The version of the package. */
export const version: string;

export interface OpenOptions {
  /** The most memory that the filter may take, checked before any is. 256 MiB if not given. */
  maxBytes?: number;
  /** The secret key of a filter with a keyed hash. */
  key?: Uint8Array;
  /** The keys of the dictionary that is the universe of a zone filter. */
  dictionary?: readonly Key[];
  /** Opens a zone filter over a dictionary without it: info, picture, no keys. */
  withoutDictionary?: boolean;
}

/** Opens the bytes of a filter file, of any kind that tamis writes. */
export function open(bytes: Uint8Array | ArrayBuffer, options?: OpenOptions): Filter;

/** Fetches a filter file and opens it. A body past `maxBytes` is not read to its end. */
export function fetchFilter(
  url: string | URL | Request,
  options?: OpenOptions & { init?: RequestInit },
): Promise<Filter>;

/** A filter of any kind. A method that its kind has not got throws a `TamisError`. */
export class Filter {
  private constructor();
  /**
   * "bloom", "blocked", "split", "counting", "quotient", "static", "scalable", "rolling", "zone",
   * "counting zone", "public bloom" or "linear".
   */
  readonly kind: string;
  readonly promise: "rate" | "zone" | "privacy";
  /** Whether the filter still keeps what its plan promised. */
  readonly health: "within" | "beyond";
  /** The share of cells that are not empty. */
  readonly fill: number;
  /** The share of strangers that pass now. */
  readonly fpr: number;
  /** The share of members that do not pass: 0, except in a published filter. */
  readonly fnr: number;
  /** The distinct keys that it most likely holds; null for a published filter. */
  readonly estimatedItems: number | null;
  /** The bytes of its body. */
  readonly bytes: number;

  /** Whether a key passes. */
  has(key: Key): boolean;
  /** Whether each of many keys passes: 1 or 0, in their order. */
  hasMany(keys: Keys): Uint8Array;
  /**
   * Whether a key passes that was written as text, taken as `tamis query` takes it: as an integer
   * where the filter holds integers, as an element of the universe of a zone filter.
   */
  query(text: string): boolean;
  /**
   * Tells a rolling filter the time, in milliseconds since 1970 (now if not given): it forgets what
   * has left its window. Until it is told, it answers as of the last key that it got.
   */
  advance(milliseconds?: number): void;
  /** Puts a key in, and says whether it was certainly new. */
  insert(key: Key): boolean;
  /**
   * Puts many keys in, and says how many were certainly new. If one is refused, some of those that
   * come before it are in.
   */
  insertMany(keys: Keys): number;
  /** Puts an element in even if it is one too many for a zone filter, which is beyond then. */
  insertBeyond(key: Key): boolean;
  /** Takes a key out of a filter that can remove: counting, quotient, counting zone. */
  remove(key: Key): void;
  /** Takes in all that another filter of the same plan holds. */
  union(other: Filter): void;
  /** The elements of a zone filter. */
  list(): List;
  /** How many of these distinct keys are in the set of a published filter. */
  estimateMembers(keys: Keys): Estimate;

  /** The object that `tamis info --json` prints, without its field `file`. */
  info(): Info;
  /** The bytes of its file. */
  toBytes(): Uint8Array;
  /** What it holds, as an SVG. */
  picture(options?: DrawOptions): string;
  /** A copy. */
  clone(): Filter;
  /** Gives the memory back at once; else it goes when the object does. */
  free(): void;
}

export interface List {
  /** False for a filter beyond its zone: all its elements are there, but others may be too. */
  exact: boolean;
  len: Integer;
  elements: string[];
}

export interface Estimate {
  value: number;
  low: number;
  high: number;
}

export interface DrawOptions {
  /** The title of a picture; the kind of the filter if not given. */
  title?: string;
  /**
   * Without the style that a file of its own needs: the page defines the colours (`STYLE`). False
   * if not given.
   */
  bare?: boolean;
}

/** The style of drawings that are `bare`, as CSS. */
export const STYLE: string;

/** The fields of `tamis info --json`: those of the plan, and these. */
export type Info = { [field: string]: unknown } & {
  version: number;
  verified: boolean;
  promise: "rate" | "zone" | "privacy";
  fpr_now: number;
};

// Plans: the same fields as `tamis plan ... --json` prints.

export interface RateOptions {
  /** Two of items, fpr and bits. */
  items?: Count;
  fpr?: number;
  bits?: Count;
  /** "bloom" if not given. */
  filter?:
    | "bloom"
    | "blocked"
    | "split"
    | "counting"
    | "quotient"
    | "static"
    | "scalable"
    | "rolling";
  /** The width of a counter of a counting filter. */
  counterBits?: number;
  /** The keys of the first link of a scalable filter, and how many times as many the next has. */
  first?: Count;
  growth?: number;
  /** What a rolling filter remembers: so many keys, or so many seconds of `items` keys. */
  windowItems?: Count;
  windowSeconds?: number;
}

export interface RatePlan {
  promise: "rate";
  filter: string;
  items: Integer;
  fpr: number;
  bits: Integer;
  bytes: Integer;
  file_bytes: Integer;
  bits_per_item: number;
  /** Not of a static, scalable or rolling filter, as the next four. */
  cells?: Integer;
  counter_bits?: number;
  hashes?: number;
  approximate_fpr?: number;
  expected_fpr_half?: number;
  /** Not of a scalable or rolling filter. */
  expected_fpr?: number;
  /** Of a static filter. */
  fingerprint_bits?: number;
  shards?: Integer;
  /** Of a scalable or rolling filter. */
  first?: Integer;
  growth?: number;
  window_insertions?: Integer;
  window_seconds?: number;
  generations?: number;
  links?: { items: Integer; len?: Integer; bits: Integer; counter_bits: number }[];
  /** In the words of the command line. */
  advice: string[];
}

/**
 * A universe: a size, "1..48", "2^16", "ipv4", "10.0.0.0/8", "ipv6", "uuid", "mac", "hex:20", as
 * the command line takes it; or the keys of a dictionary.
 */
export type UniverseOption = Count | readonly Key[];

export interface ZoneOptions {
  universe: UniverseOption;
  items: Count;
  /** "auto" if not given. */
  code?: "auto" | "egh" | "coprime" | "rs";
  prefer?: "bits" | "probes";
  counting?: boolean;
}

export interface ZonePlan {
  promise: "zone";
  code: string;
  items: Integer;
  universe: Integer;
  zone: Integer;
  bits: Integer;
  bytes: Integer;
  bits_per_item: number;
  probes: Integer;
  counter_bits: number;
  certificate: string;
  min_bits: number | null;
  max_probes: number | null;
  listing_work: number;
  alternatives: { code: string; bits: Integer; probes: Integer }[];
  beyond: { items: Integer; fpr: number; bloom_fpr: number; bloom_best_fpr: number }[];
  listable: Integer;
  usually_lists_all: boolean;
  usually_lists_all: boolean;
  grows_to_items: Integer;
  grows_to_blocks: Integer;
}

export interface PrivacyOptions {
  items: Count;
  /** As decimal digits, if a number is not exact enough. */
  epsilon: number | string;
  /** "linear" if not given. */
  method?: "linear" | "bloom";
  /** The share of strangers that may pass; as many as members that do not, if not given. */
  fp?: number;
  /** Of method "bloom": bits (16 an item if not given), hashes, threshold. */
  bits?: Count;
  hashes?: number;
  threshold?: number;
}

export interface PrivacyPlan {
  promise: "privacy";
  method: "linear" | "bloom";
  items: Integer;
  epsilon: number;
  epsilon_asked: number;
  epsilon_replace: number;
  fp: number;
  fn: number;
  f1: number;
  /** The least that both errors can be at this epsilon. */
  floor: number;
  bits: Integer;
  bytes: Integer;
  file_bytes: Integer;
  bits_per_item: number;
  /** Of method "linear". */
  q?: number;
  drop_rate?: number;
  shards?: Integer;
  columns?: Integer;
  /** Of method "bloom". */
  hashes?: number;
  threshold?: number;
  epsilon_bit?: number;
  flip_rate?: number;
  reconstruction_error?: number;
}

export function planRate(options: RateOptions): RatePlan;
export function planZone(options: ZoneOptions): ZonePlan;
export function planPrivacy(options: PrivacyOptions): PrivacyPlan;

/** The chart of `tamis plan ... --plot`, as an SVG: the plan among its neighbours. */
export function chartRate(options: RateOptions, draw?: DrawOptions): string;
export function chartZone(options: ZoneOptions, draw?: DrawOptions): string;
export function chartPrivacy(options: PrivacyOptions, draw?: DrawOptions): string;

export interface BuildOptions {
  /** The most memory that the filter may take, checked before any is. 256 MiB if not given. */
  maxBytes?: number;
  /** Another public hash: 0 if not given. */
  seed?: Count;
  /** A secret hash: a key of at least 16 bytes. */
  key?: Uint8Array;
}

/**
 * Builds a filter of the rate promise. `keys` may come later, by `insert`, except those of a static
 * filter; its `items` are the number of keys if not given. An integer seed is public: see `key`
 * where others choose the keys.
 */
export function buildRate(options: RateOptions & BuildOptions, keys?: Keys): Filter;

/** Builds a zone filter. */
export function buildZone(options: ZoneOptions & { maxBytes?: number }, keys?: Keys): Filter;

/**
 * Draws a private release of these keys, with the coins of the browser's secure generator. Each
 * call spends its epsilon anew, and no ledger is charged here: for demonstrations on invented data.
 * More than 100,000 items are refused; publish real sets with `tamis publish`.
 */
export function drawRelease(options: PrivacyOptions & { maxBytes?: number }, keys: Keys): Filter;

// Filters of other programs: Guava, Spark, RedisBloom, Parquet and others.

export interface ForeignOptions {
  maxBytes?: number;
  /** The format by its name; found by its shape if not given. */
  format?: string;
}

/** Opens the filter of another program. */
export function openForeign(
  bytes: Uint8Array | ArrayBuffer,
  options?: ForeignOptions,
): ForeignFilter;

export class ForeignFilter {
  private constructor();
  /** "guava", "spark", "redisbloom", ... */
  readonly format: string;
  /** The kinds of keys that it takes; the first is meant if none is said. */
  readonly keyKinds: string[];
  /** Whether a key passes that is written as text. */
  query(text: string, keyKind?: string): boolean;
  /** The object that `tamis info --json` prints, without its field `file`. */
  info(): { [field: string]: unknown };
  picture(options?: DrawOptions): string;
  free(): void;
}
