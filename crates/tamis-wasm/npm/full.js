// What the full build has besides: plans, drawings, building, filters of other programs.

import { TamisError } from "./error.js";
import { lookups } from "./filter.js";
import { checkText, inBatches } from "./keys.js";
import { bytesOf, checkNames, checkOptions, maxBytes, written } from "./options.js";
import { secretOf, seedOf } from "./options.js";

const MAKING = Symbol("tamis");
const BUILDING = ["maxBytes", "seed", "key"];

export function everything(wasm) {
  const { Filter, made, open, fetchFilter, dictionary } = lookups(wasm);

  Object.assign(Filter.prototype, {
    insert(key) {
      return this.insertMany([key]) === 1;
    },
    insertMany(keys) {
      const raw = this.raw();
      let fresh = 0;
      inBatches(wasm.Batch, keys, (batch) => (fresh += raw.insert_batch(batch)));
      return fresh;
    },
    insertBeyond(key) {
      const raw = this.raw();
      let fresh = 0;
      inBatches(wasm.Batch, [key], (batch) => (fresh += raw.insert_beyond(batch)));
      return fresh === 1;
    },
    remove(key) {
      const raw = this.raw();
      inBatches(wasm.Batch, [key], (batch) => raw.remove_batch(batch));
    },
    union(other) {
      if (!(other instanceof Filter)) throw new TamisError("union takes another filter");
      // The library may not change a filter while it reads it; with itself there is nothing to do.
      if (other !== this) this.raw().union(other.raw());
    },
    info() {
      return JSON.parse(this.raw().info());
    },
    list() {
      return JSON.parse(this.raw().list());
    },
    toBytes() {
      return this.raw().to_bytes();
    },
    picture(options = {}) {
      checkNames(options, ["title", "bare"]);
      const title = String(options.title ?? `a ${this.kind} filter`);
      return this.raw().picture(title, Boolean(options.bare));
    },
    clone() {
      return made(this.raw().copy());
    },
  });

  const planRate = (options) => JSON.parse(wasm.plan_rate(written(options)));
  const planPrivacy = (options) => JSON.parse(wasm.plan_privacy(written(options)));
  const planZone = (options) => {
    const [json, keys] = zoneOptions(options);
    return JSON.parse(wasm.plan_zone(json, keys));
  };

  const bareOf = (draw) => {
    checkNames(draw, ["bare"]);
    return Boolean(draw.bare);
  };
  const chartRate = (options, draw = {}) => wasm.chart_rate(written(options), bareOf(draw));
  const chartPrivacy = (options, draw = {}) => wasm.chart_privacy(written(options), bareOf(draw));
  const chartZone = (options, draw = {}) => {
    const [json, keys] = zoneOptions(options);
    return wasm.chart_zone(json, keys, bareOf(draw));
  };

  /** The options of a zone filter, and the keys of its dictionary if that is its universe. */
  function zoneOptions(options, except = []) {
    checkOptions(options);
    if (!Array.isArray(options.universe)) return [written(options, except), undefined];
    return [written(options, ["universe", ...except]), dictionary(options.universe)];
  }

  function filled(filter, keys) {
    try {
      if (keys !== undefined) filter.insertMany(keys);
      return filter;
    } catch (error) {
      filter.free();
      throw error;
    }
  }

  function buildRate(options, keys) {
    const most = maxBytes(options);
    const [seed, secret] = [seedOf(options), secretOf(options)];
    if (options.filter !== "static") {
      return filled(made(wasm.build_rate(written(options, BUILDING), seed, secret, most)), keys);
    }
    checkNames(options, ["filter", "fpr", ...BUILDING]);
    if (keys === undefined || typeof options.fpr !== "number") {
      throw new TamisError("a static filter is built from all its keys, at a rate: give fpr, keys");
    }
    const draft = new wasm.StaticDraft(options.fpr, seed, secret, most);
    inBatches(wasm.Batch, keys, (batch) => draft.add(batch));
    return made(draft.build());
  }

  function buildZone(options, keys) {
    const [json, names] = zoneOptions(options, ["maxBytes"]);
    return filled(made(wasm.build_zone(json, names, maxBytes(options))), keys);
  }

  function drawRelease(options, keys) {
    const draft = new wasm.ReleaseDraft(written(options, ["maxBytes"]), maxBytes(options));
    inBatches(wasm.Batch, keys, (batch) => draft.add(batch));
    return made(draft.publish());
  }

  class ForeignFilter {
    #raw;

    constructor(making, raw) {
      if (making !== MAKING) throw new TamisError("openForeign opens filters of other programs");
      this.#raw = raw;
    }
    get format() {
      return this.#open().format();
    }
    get keyKinds() {
      return this.#open().key_kinds();
    }
    query(text, keyKind) {
      return this.#open().query(checkText(text), keyKind === undefined ? undefined : `${keyKind}`);
    }
    info() {
      return JSON.parse(this.#open().info());
    }
    picture(options = {}) {
      checkNames(options, ["title", "bare"]);
      const title = String(options.title ?? `a ${this.format} filter`);
      return this.#open().picture(title, Boolean(options.bare));
    }
    free() {
      this.#raw?.free();
      this.#raw = null;
    }
    #open() {
      if (this.#raw === null) throw new TamisError("the filter was freed; open it again");
      return this.#raw;
    }
  }

  function openForeign(bytes, options = {}) {
    checkNames(options, ["maxBytes", "format"]);
    const [file, most] = [bytesOf(bytes), maxBytes(options)];
    // The bytes are copied for the library to look at.
    if (file.length > most) {
      throw new TamisError(`the file has ${file.length} bytes, and maxBytes allows ${most}`);
    }
    const format = options.format === undefined ? undefined : `${options.format}`;
    return new ForeignFilter(MAKING, wasm.RawForeign.open(file, format, most));
  }

  return {
    Filter,
    ForeignFilter,
    STYLE: wasm.drawing_style(),
    TamisError,
    buildRate,
    buildZone,
    chartPrivacy,
    chartRate,
    chartZone,
    drawRelease,
    fetchFilter,
    open,
    openForeign,
    planPrivacy,
    planRate,
    planZone,
    version: wasm.version(),
  };
}
