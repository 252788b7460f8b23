// The lines that the page gives to copy do what they say: every filter, in every place.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { FILTERS } from "../advise.js";
import { lines } from "../lines.js";
import { NAMED, START } from "../link.js";

const { TAMIS_BINARY, TAMIS_RLIB, TAMIS_PYTHON, TAMIS_SERVER, TAMIS_MODULE } = process.env;

/** A state for each filter that the page can advise. */
const CASES = [
  ...Object.keys(FILTERS).map((filter) => ({ ...START, items: 5000, fpr: 0.004, filter })),
  ...["ipv4", "ipv6", "mac", "uuid", "1e6", "7..400"].flatMap((universe) =>
    ["add", "remove"].map((change) =>
      ({ ...START, strangers: "never", keys: "finite", universe, change, d: 3 }))),
  { ...START, away: "yes", items: 5000, epsilon: 1.3 },
];

/** The keys.txt and the others.txt of a case: others has one member. */
function keysOf({ keys, universe }) {
  if (keys === "any") return [["ant", "bee", "cat"], ["bee", "dog"]];
  if (universe in NAMED) {
    const last = (digit) => NAMED[universe].replace(/.$/, digit);
    return [[last("1"), last("2")], [last("2"), last("3")]];
  }
  return [["7", "42"], ["42", "43"]];
}

function text(state, place) {
  return lines(state).find((one) => one.place === place).text;
}

function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "tamis-lines-"));
  const end = () => rmSync(folder, { recursive: true, force: true });
  try {
    const done = work(folder);
    if (done instanceof Promise) return done.finally(end);
    end();
    return done;
  } catch (error) {
    end();
    throw error;
  }
}

const PATH = `${dirname(TAMIS_BINARY)}:${process.env.PATH}`;

function bash(folder, script, extra = {}) {
  const options = { cwd: folder, env: { ...process.env, ...extra, PATH }, stdio: "pipe" };
  return execFileSync("bash", ["-euc", script], options).toString();
}

test("at the shell", () => {
  for (const state of CASES) {
    inFolder((folder) => {
      const [keys, others] = keysOf(state);
      writeFileSync(join(folder, "keys.txt"), keys.join("\n") + "\n");
      writeFileSync(join(folder, "others.txt"), others.join("\n") + "\n");
      // A release may miss the only member, and `query` then says so with exit code 1.
      const script = state.away === "yes"
        ? text(state, "shell").replace(/(tamis query .*)/, "$1 || [ $? -eq 1 ]")
        : text(state, "shell");
      const said = bash(folder, script);
      if (state.away !== "yes") assert.match(said, new RegExp(`^${others[0]}$`, "m"), script);
      if (state.strangers === "never") {
        assert.ok(said.endsWith(`${keys.join("\n")}\n`), `${script}: ${said}`);
        assert.doesNotMatch(said, new RegExp(`^${others[1]}$`, "m"));
      }
    });
  }
});

test("in Rust", () => {
  inFolder((folder) => {
    const modules = CASES.map((state, i) =>
      `mod m${i} {\n${text(state, "rust").replace("fn main", "pub fn main")}\n}\n`);
    const calls = CASES.map((_, i) =>
      `    m${i}::main().unwrap();\n    let _ = std::fs::remove_file("list.ledger");\n`);
    const source = `${modules.join("")}fn main() {\n${calls.join("")}}\n`;
    writeFileSync(join(folder, "all.rs"), source);
    const deps = join(dirname(TAMIS_RLIB), "deps");
    bash(folder, `rustc --edition 2024 -D warnings all.rs -L dependency='${deps}' ` +
      `--extern tamis='${TAMIS_RLIB}' && ./all`);
  });
});

test("in Python", { skip: !TAMIS_PYTHON }, () => {
  for (const state of CASES) {
    inFolder((folder) => {
      // Python only asks a rolling filter.
      if (state.filter === "rolling") {
        writeFileSync(join(folder, "keys.txt"), "ant\n");
        bash(folder, text(state, "shell").split("\n")[1]);
      }
      writeFileSync(join(folder, "all.py"), text(state, "python"));
      bash(folder, `'${TAMIS_PYTHON}' all.py`);
    });
  }
});

test("in a server", { skip: !TAMIS_SERVER }, async () => {
  await inFolder(async (folder) => {
    const socket = join(folder, "socket");
    const server = spawn(`${TAMIS_SERVER}-server`, ["--port", "0", "--unixsocket", socket, "--save",
      "", "--dir", folder, "--loadmodule", TAMIS_MODULE], { stdio: "ignore" });
    try {
      const client = `${TAMIS_SERVER}-cli -e -s '${socket}'`;
      bash(folder, `for _ in $(seq 100); do ${client} PING && break; sleep 0.1; done`);
      for (const state of CASES) {
        writeFileSync(join(folder, "keys.txt"), `${keysOf(state)[0].join("\n")}\nant\n`
          .replace(state.keys === "finite" ? /ant\n/ : /$^/, ""));
        rmSync(join(folder, "list.ledger"), { force: true });
        const built = text(state, "valkey").includes("TAMIS.LOAD");
        // The file that is loaded is the one that the command line built.
        if (built) bash(folder, text(state, "shell").split("\n").slice(1, -1).join("\n"));
        const script = text(state, "valkey").split("\n").map((line) =>
          line.startsWith("valkey-cli") ? line.replace("valkey-cli", client) : `${client} ${line}`);
        const said = bash(folder, `${client} FLUSHALL\n${script.join("\n")}`);
        assert.doesNotMatch(said, /ERR/, script.join("\n"));
        if (state.away !== "yes") {
          assert.match(said, state.keys === "finite" ? /\d\n$/ : /1\n$/);
        }
      }
    } finally {
      server.kill();
    }
  });
});
