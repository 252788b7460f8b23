// Writes what the command line says of the golden files and of plans, for the tests to compare:
//   node expected.js TAMIS REPOSITORY > expected.json

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [tamis, repository] = process.argv.slice(2);
const SECRET = "an example secret of 32 bytes...";
const COLOURS = Array.from({ length: 200 }, (_, i) => `colour ${i}`);

const scratch = mkdtempSync(join(tmpdir(), "tamis-"));
const keyFile = join(scratch, "key");
const colourFile = join(scratch, "colours");
writeFileSync(keyFile, SECRET);
writeFileSync(colourFile, `${COLOURS.join("\n")}\n`);

function run(args, input = "") {
  const { status, stdout, stderr, error } = spawnSync(tamis, args, { input, encoding: "utf8" });
  if (error) throw error;
  if (status === 2) throw new Error(`tamis ${args.join(" ")}: ${stderr}`);
  return stdout;
}

// Texts that are members of the golden files, strangers, and elements of their universes.
const texts = [
  ...Array.from({ length: 100 }, (_, i) => `key ${i}`),
  "naïve 雪",
  "x".repeat(200),
  ...Array.from({ length: 200 }, (_, i) => `stranger ${i}`),
];
const elements = [
  ...Array.from({ length: 60 }, (_, i) => `${i}`),
  ...["1000", "1001", "1998", "1999", "1048576", "1048577", "4294967295", "18446744073709551615"],
  ...["10.0.0.1", "10.0.0.2", "10.0.0.3", "255.255.255.255", "0.0.0.0"],
  ...COLOURS.slice(0, 10),
  "colour 199",
];

function goldens() {
  const folder = join(repository, "crates/tamis/tests/golden");
  const files = readdirSync(folder).filter((name) => name.endsWith(".tamis"));
  return files.sort().map((name) => {
    const path = join(folder, name);
    const bytes = readFileSync(path);
    let key = [];
    let info;
    try {
      info = run(["info", "--json", path]);
    } catch (error) {
      if (!`${error}`.includes("key")) throw error;
      key = ["--key-file", keyFile];
      info = run(["info", "--json", ...key, path]);
    }
    const { file: _, ...facts } = JSON.parse(info);
    const zone = facts.promise === "zone";
    const colours = zone && facts.fingerprint ? ["--universe", `dictionary:${colourFile}`] : [];
    const asked = [...(zone ? [] : texts), ...elements];
    const given = `${asked.join("\n")}\n`;
    const ask = (...more) => {
      const skip = zone ? ["--skip-foreign"] : [];
      const args = ["query", ...more, ...skip, ...key, ...colours, path];
      return new Set(run(args, given).split("\n"));
    };
    const [passing, failing] = [ask(), ask("-v")];
    const answers = asked.map((text) => (passing.has(text) ? 1 : failing.has(text) ? 0 : null));
    const golden = {
      name,
      base64: bytes.toString("base64"),
      keyed: key.length > 0,
      colours: colours.length > 0,
      info: facts,
      asked,
      answers,
    };
    if (zone) {
      const { file: _, ...list } = JSON.parse(run(["list", "--json", ...colours, path]));
      golden.list = list;
    }
    return golden;
  });
}

// Options of JavaScript, and the same at the command line.
const rates = [
  { items: 1000000, fpr: 0.01 },
  { items: 3, fpr: 0.001 },
  { items: 1000, bits: 8000 },
  { fpr: 0.02, bits: 1000000 },
  ...["blocked", "split", "counting", "quotient", "static"].flatMap((filter) => [
    { filter, items: 123456, fpr: 0.003 },
    { filter, items: 5000, bits: 100000 },
    { filter, fpr: 0.07, bits: 65536 },
  ]),
  { filter: "counting", items: 1000, fpr: 0.01, counterBits: 3 },
  { filter: "counting", items: 1000, bits: 30000, counterBits: 5 },
  { filter: "scalable", items: 1000000, fpr: 0.01 },
  { filter: "scalable", items: 300, fpr: 0.001, first: 100, growth: 4 },
  { filter: "rolling", windowItems: 1000000, fpr: 0.01 },
  { filter: "rolling", windowSeconds: 3600, items: 5000, fpr: 0.02 },
  { items: "100000000000", fpr: 1e-9 },
];
const zones = [
  { universe: 606, items: 3 },
  { universe: "1..48", items: 2, code: "egh" },
  { universe: "ipv4", items: 4 },
  { universe: "10.0.0.0/8", items: 2, counting: true },
  { universe: "2^16", items: 10, prefer: "probes" },
  { universe: 1000, items: 2, code: "coprime" },
  { universe: "ipv6", items: 2 },
  { universe: "hex:20", items: 3, counting: true },
];
const privates = [
  { items: 1000000, epsilon: 4 },
  { items: 1000, epsilon: "0.5" },
  { items: 1000, epsilon: 0.1, fp: 0.2 },
  { items: 1000000, epsilon: 4, fp: 0.001 },
  { items: 1000000, epsilon: 4, method: "bloom" },
  { items: 1000, epsilon: 3, method: "bloom", fp: 0.1 },
  { items: 1048576, epsilon: 40, method: "bloom", bits: 16777216, hashes: 10, threshold: 10 },
];

function plans(promise, cases) {
  const window = "--window";
  const flags = { counterBits: "--counter-bits", windowItems: window, windowSeconds: window };
  return cases.map((options) => {
    const args = Object.entries(options).flatMap(([name, value]) => {
      const flag = flags[name] ?? `--${name}`;
      if (value === true) return [flag];
      return [flag, name === "windowSeconds" ? `${value}s` : `${value}`];
    });
    return { options, plan: JSON.parse(run(["plan", promise, ...args, "--json"])) };
  });
}

function foreigners() {
  const folder = join(repository, "crates/tamis-foreign/tests/fixtures");
  const asked = ["apple", "stranger", "word 1", "zebra", "1", "42"];
  const files = ["guava_m64_utf8.bin", "bnb_words.bin", "dcso_words.bloom", "dcso_words.bloom.gz"];
  return files.map((name) => {
    const path = join(folder, name);
    const { file: _, ...info } = JSON.parse(run(["info", "--json", path]));
    const passing = new Set(run(["query", path], `${asked.join("\n")}\n`).split("\n"));
    const base64 = readFileSync(path).toString("base64");
    return { name, base64, info, asked, answers: asked.map((text) => passing.has(text)) };
  });
}

try {
  const expected = {
    secret: SECRET,
    colours: COLOURS,
    goldens: goldens(),
    rates: plans("rate", rates),
    zones: plans("zone", zones),
    privates: plans("privacy", privates),
    foreigners: foreigners(),
  };
  process.stdout.write(JSON.stringify(expected));
} finally {
  rmSync(scratch, { recursive: true });
}
