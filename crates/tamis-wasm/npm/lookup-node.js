// The small build in Node.

import { readFileSync } from "node:fs";
import * as wasm from "./tamis_lookup.js";
import { lookups } from "./filter.js";

wasm.initSync({ module: readFileSync(new URL("./tamis_lookup_bg.wasm", import.meta.url)) });

export { TamisError } from "./error.js";
export const { fetchFilter, open } = lookups(wasm);
export const version = wasm.version();
