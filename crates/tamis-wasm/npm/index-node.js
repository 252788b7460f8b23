// The full build in Node.

import { readFileSync } from "node:fs";
import * as wasm from "./tamis.js";
import { everything } from "./full.js";

wasm.initSync({ module: readFileSync(new URL("./tamis_bg.wasm", import.meta.url)) });

export { TamisError } from "./error.js";
export const {
  Filter,
  ForeignFilter,
  STYLE,
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
  version,
} = everything(wasm);
