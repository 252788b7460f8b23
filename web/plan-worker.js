// Makes plans that take long, on a thread of its own: the page stays quick under a drag.

import { load, make } from "./engine.js";

addEventListener("message", async ({ data: { promise, options } }) => {
  let found;
  try {
    found = make(await load(), promise, options);
  } catch (error) {
    found = { error: String(error.message ?? error) };
  }
  postMessage({ promise, options, found });
});
