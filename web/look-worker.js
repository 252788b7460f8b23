// Opens and asks a filter on a thread of its own: a large file does not stop the page, and a
// listing that takes too long can be stopped by ending the thread.

import { load } from "./engine.js";

/** The most memory that a file may take. */
const MAX_BYTES = 256 * 1024 * 1024;

let filter = null;
let foreign = false;

/** All of tamis' own files begin so: byte 0x89, then "TAMIS", then a line end. */
const MAGIC = [0x89, 0x54, 0x41, 0x4d, 0x49, 0x53, 0x0d, 0x0a];

function isOwn(bytes) {
  return MAGIC.every((byte, i) => bytes[i] === byte);
}

/** The lines of a text. A line end at its end begins no further one. */
function linesOf(text) {
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}

const DO = {
  open(tamis, { name, bytes, key, dictionary }) {
    filter?.free();
    filter = null;
    foreign = false;
    const length = bytes.length;
    if (bytes.length > MAX_BYTES) {
      throw new Error(`the file has ${bytes.length} bytes; this page takes at most ${MAX_BYTES}`);
    }
    if (isOwn(bytes)) {
      filter = tamis.open(bytes, {
        maxBytes: MAX_BYTES,
        ...(key && { key }),
        ...(dictionary && { dictionary: linesOf(dictionary) }),
      });
      return described(name, length);
    }
    try {
      filter = tamis.openForeign(bytes, { maxBytes: MAX_BYTES });
    } catch (error) {
      throw new Error(`this is no filter file that tamis knows: ${error.message}`);
    }
    foreign = true;
    return described(name, length);
  },

  sample(tamis) {
    filter?.free();
    foreign = false;
    const options = { universe: "ipv4", items: 4, counting: true };
    filter = tamis.buildZone(options, ["10.0.0.1", "10.0.0.2", "192.168.7.9"]);
    return described("a sample of three addresses", filter.toBytes().length);
  },

  ask(_, { keys, kind }) {
    return keys.map((key) => {
      try {
        return foreign ? filter.query(key, kind) : filter.query(key);
      } catch (error) {
        return String(error.message);
      }
    });
  },

  list() {
    const { exact, len, elements } = filter.list();
    return { exact, len, elements };
  },
};

function described(name, length) {
  const info = filter.info();
  const draw = { title: name, bare: true };
  let picture = null;
  try {
    picture = filter.picture(draw);
  } catch (error) {
    picture = { problem: String(error.message) };
  }
  return {
    name,
    length,
    foreign,
    kind: foreign ? filter.format : filter.kind,
    promise: foreign ? "rate" : filter.promise,
    health: foreign ? (info.health ?? null) : (info.health === undefined ? null : filter.health),
    fill: foreign ? info.fill : filter.fill,
    estimatedItems: foreign ? info.estimated_items : filter.estimatedItems,
    fnr: foreign ? 0 : filter.fnr,
    keyKinds: foreign ? filter.keyKinds : [],
    info,
    picture,
  };
}

addEventListener("message", async ({ data: { number, name, given } }) => {
  try {
    const tamis = await load();
    postMessage({ number, found: DO[name](tamis, given) });
  } catch (error) {
    postMessage({ number, error: String(error.message ?? error) });
  }
});
