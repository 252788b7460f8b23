// The tests in Node. scripts/test-wasm builds the package and writes expected.json.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { cases } from "./cases.js";

const built = fileURLToPath(new URL("../../../../target/npm", import.meta.url));
const build = process.env.TAMIS_NPM ?? built;
const load = (name) => import(pathToFileURL(join(build, "tamis", name)).href);

const expected = JSON.parse(readFileSync(join(build, "expected.json"), "utf8"));
const [tamis, lookup] = [await load("index-node.js"), await load("lookup-node.js")];
for (const [name, run] of cases(tamis, lookup, expected)) test(name, run);
