// Runs the tests of page.js in a Chromium without a window:
//   node browser.js CHROMIUM BUILD
// BUILD is the folder with tamis/ and expected.json.

import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const [chromium, build] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const types = { js: "text/javascript", json: "application/json", wasm: "application/wasm" };
const PAGE = '<!doctype html><title>tamis</title><script type="module" src="/page.js"></script>';
const SECONDS = 120;

// A fresh one each time. The last one stays, since Chromium writes to it until it has ended.
const profile = join(build, "chromium");
rmSync(profile, { recursive: true, force: true });
let browser;

function end(code, text) {
  clearTimeout(timer);
  console.log(text);
  browser.once("exit", () => process.exit(code));
  browser.kill();
}

function judge(text) {
  const results = JSON.parse(text);
  const failed = results.filter((result) => result.error);
  for (const { name, error } of failed) console.log(`failed: ${name}\n${error}`);
  const summary = `in the browser: ${results.length} tests, ${failed.length} failed`;
  end(failed.length === 0 && results.length > 50 ? 0 : 1, summary);
}

const server = createServer((request, response) => {
  const path = normalize(new URL(request.url, "http://localhost").pathname);
  if (request.method === "POST" && path === "/results") {
    let text = "";
    request.on("data", (part) => (text += part));
    request.on("end", () => {
      response.end();
      judge(text);
    });
    return;
  }
  if (path === "/") {
    response.setHeader("content-type", "text/html");
    return response.end(PAGE);
  }
  const folder = path.startsWith("/tamis/") || path === "/expected.json" ? build : here;
  try {
    const body = readFileSync(join(folder, path));
    response.setHeader("content-type", types[path.split(".").pop()] ?? "text/plain");
    response.end(body);
  } catch {
    response.statusCode = 404;
    response.end();
  }
});

const timer = setTimeout(() => end(1, `the browser said nothing in ${SECONDS} s`), SECONDS * 1000);
server.listen(0, "127.0.0.1", () => {
  const url = `http://127.0.0.1:${server.address().port}/`;
  const flags = ["--headless", "--disable-gpu", "--no-first-run", `--user-data-dir=${profile}`];
  // A container's root may not make the sandbox, and the page is ours.
  if (process.getuid?.() === 0) flags.push("--no-sandbox");
  browser = spawn(chromium, [...flags, url], { stdio: "ignore" });
});
