// The tests in a browser: browser.js serves this, and is told what came of it.

import { cases } from "./cases.js";
import * as lookup from "/tamis/lookup.js";
import * as tamis from "/tamis/index.js";

const results = [];
const expected = await (await fetch("/expected.json")).json();
for (const [name, run] of cases(tamis, lookup, expected)) {
  try {
    await run();
    results.push({ name });
  } catch (error) {
    results.push({ name, error: `${error.stack ?? error}` });
  }
}
await fetch("/results", { method: "POST", body: JSON.stringify(results) });
