// The full build in a browser.

import * as wasm from "./tamis.js";
import { everything } from "./full.js";

await wasm.default({ module_or_path: new URL("./tamis_bg.wasm", import.meta.url) });

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
