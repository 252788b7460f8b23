/** The small build: it opens filter files of every kind and asks them. */
export { Filter, Info, Integer, Key, Keys, Estimate, OpenOptions, TamisError } from "./index.js";
export { fetchFilter, open, version } from "./index.js";
