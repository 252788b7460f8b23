// The library, as WebAssembly. Everything on this page that is a fact comes through here.

const LIBRARY = "./pkg/index.js";

let loading;

/** The functions of the library. The page is painted before they are loaded. */
export function load() {
  loading ??= import(LIBRARY);
  return loading;
}

/** Plans that were made already: a drag asks for the same ones again and again. */
const known = new Map();
const MAX_KNOWN = 20_000;

function remembered(name, options, make) {
  const key = name + JSON.stringify(options);
  let found = known.get(key);
  if (found === undefined) {
    try {
      found = { plan: make(options) };
    } catch (error) {
      found = { error: String(error.message ?? error) };
    }
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(key, found);
  }
  return found;
}

/** A plan of a promise, as { plan } or as { error } with the library's sentence. */
export function plan(tamis, promise, options) {
  const make = { rate: tamis.planRate, zone: tamis.planZone, privacy: tamis.planPrivacy }[promise];
  return remembered(promise, options, make);
}
