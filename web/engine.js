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

const keyOf = (promise, options) => promise + JSON.stringify(options);

function remember(key, found) {
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(key, found);
  return found;
}

/** A plan of a promise, as { plan } or as { error } with the library's sentence. */
export function make(tamis, promise, options) {
  const plans = { rate: tamis.planRate, zone: tamis.planZone, privacy: tamis.planPrivacy };
  try {
    return { plan: plans[promise](options) };
  } catch (error) {
    return { error: String(error.message ?? error) };
  }
}

/** The same at once, for plans that take about a millisecond. */
export function plan(tamis, promise, options) {
  const key = keyOf(promise, options);
  return known.get(key) ?? remember(key, make(tamis, promise, options));
}

// Plans of zones take up to some seconds, so a worker makes them. Only the latest wishes count:
// those of a place that a drag has left are dropped.

let worker = null;
let busy = false;
let wishes = [];
let tell = () => {};

/** A plan that was made, or undefined. */
export function planned(promise, options) {
  return known.get(keyOf(promise, options));
}

/** Has these plans made, in their order, in place of earlier wishes. Calls back for each. */
export function wish(promise, list, arrived) {
  wishes = list.filter((options) => planned(promise, options) === undefined)
    .map((options) => ({ promise, options }));
  tell = arrived;
  next();
}

function next() {
  if (busy || wishes.length === 0) return;
  if (worker === null) {
    worker = new Worker("plan-worker.js", { type: "module" });
    worker.addEventListener("message", ({ data: { promise, options, found } }) => {
      busy = false;
      remember(keyOf(promise, options), found);
      tell();
      next();
    });
  }
  busy = true;
  worker.postMessage(wishes.shift());
}
