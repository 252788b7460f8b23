/**
 * The small build: it opens rate filters and published ones, and asks them. For zone filters, for
 * `info` and for all the rest import "tamis".
 */

import type { Filter as FullFilter } from "./index.js";

export type { Estimate, Key, Keys } from "./index.js";
export { TamisError, version } from "./index.js";

export interface OpenOptions {
  /** The most memory that the filter may take, checked before any is. 256 MiB if not given. */
  maxBytes?: number;
  /** The secret key of a filter with a keyed hash. */
  key?: Uint8Array;
}

/** A filter that can be asked, and not changed. */
export type Filter = Pick<
  FullFilter,
  | "kind"
  | "promise"
  | "health"
  | "fill"
  | "fpr"
  | "fnr"
  | "estimatedItems"
  | "bytes"
  | "has"
  | "hasMany"
  | "query"
  | "advance"
  | "estimateMembers"
  | "free"
>;

/** Opens the bytes of a filter file. */
export function open(bytes: Uint8Array | ArrayBuffer, options?: OpenOptions): Filter;

/** Fetches a filter file and opens it. A body past `maxBytes` is not read to its end. */
export function fetchFilter(
  url: string | URL | Request,
  options?: OpenOptions & { init?: RequestInit },
): Promise<Filter>;
