// The small build in a browser.

import * as wasm from "./tamis_lookup.js";
import { lookups } from "./filter.js";

await wasm.default({ module_or_path: new URL("./tamis_lookup_bg.wasm", import.meta.url) });

export { TamisError } from "./error.js";
export const { fetchFilter, open } = lookups(wasm);
export const version = wasm.version();
