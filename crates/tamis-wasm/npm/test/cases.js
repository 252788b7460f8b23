// The tests, for Node and for a browser alike: `cases(tamis, lookup, expected)` gives names and
// functions that throw.

/** A failure that says both values. */
function same(got, wanted, what) {
  const [left, right] = [JSON.stringify(sorted(got)), JSON.stringify(sorted(wanted))];
  if (left !== right) throw new Error(`${what}: got ${left}, wanted ${right}`);
}

/**
 * The same, but for the last digits of shares: each platform has its own logarithms. Integers must
 * be exact.
 */
function alike(got, wanted, what) {
  if (typeof wanted === "number" && typeof got === "number" && !Number.isInteger(wanted)) {
    const apart = Math.abs(got - wanted);
    if (apart > 1e-12 * Math.abs(wanted)) throw new Error(`${what}: got ${got}, wanted ${wanted}`);
  } else if (wanted !== null && typeof wanted === "object" && got !== null) {
    same(Object.keys(got).sort(), Object.keys(wanted).sort(), `${what}: fields`);
    for (const field of Object.keys(wanted)) alike(got[field], wanted[field], `${what}.${field}`);
  } else {
    same(got, wanted, what);
  }
}

/** The same value with its fields in order: JSON has none. */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  const fields = Object.keys(value).sort();
  return Object.fromEntries(fields.map((field) => [field, sorted(value[field])]));
}

function holds(condition, what) {
  if (!condition) throw new Error(what);
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));
}

/** Refused with a sentence of the library that has these words. */
function refused(tamis, action, words) {
  let result;
  try {
    result = action();
  } catch (error) {
    holds(error instanceof tamis.TamisError, `${words}: ${error} is no TamisError`);
    holds(error.name === "TamisError" && error.message.includes(words), `${error} lacks ${words}`);
    return;
  }
  throw new Error(`nothing was refused, where ${words} was to be: ${result}`);
}

function openGolden(tamis, golden, expected, bytes = bytesOf(golden.base64)) {
  const options = {};
  if (golden.keyed) options.key = new TextEncoder().encode(expected.secret);
  if (golden.colours) options.dictionary = expected.colours;
  return tamis.open(bytes, options);
}

/** Whether the small build has it: no zone filters, and no hashes of published documents. */
function isSmall(golden) {
  return !["sha256-md5", "prefixed", "zone"].some((part) => golden.name.includes(part));
}

function goldenCases(tamis, expected, name, known) {
  const all = [];
  for (const golden of expected.goldens.filter(known)) {
    all.push([`${name}: ${golden.name}`, () => {
      const filter = openGolden(tamis, golden, expected);
      // The command line tells the filter the time.
      if (filter.kind === "rolling") filter.advance();
      else refused(tamis, () => filter.advance(), "forget");
      if (filter.info) alike(filter.info(), golden.info, "info");
      alike(filter.fpr, golden.info.fpr_now, "fpr");
      alike(filter.fnr, golden.info.fn ?? 0, "fnr");
      same(filter.health, golden.info.health ?? "within", "health");
      same(filter.promise, golden.info.promise, "promise");
      golden.asked.forEach((text, i) => {
        const answer = golden.answers[i];
        if (answer === null) refused(tamis, () => filter.query(text), "");
        else same(filter.query(text) ? 1 : 0, answer, `query ${text}`);
      });
      filter.free();
      refused(tamis, () => filter.has("ant"), "freed");
    }]);
  }
  return all;
}

export function cases(tamis, lookup, expected) {
  const all = [
    ...goldenCases(tamis, expected, "full build", () => true),
    ...goldenCases(lookup, expected, "small build", isSmall),
  ];
  const test = (name, run) => all.push([name, run]);

  test("the small build says what it has not got", () => {
    for (const golden of expected.goldens.filter((golden) => !isSmall(golden))) {
      const bytes = bytesOf(golden.base64);
      refused(lookup, () => lookup.open(bytes), "feature");
    }
    refused(lookup, () => lookup.open(new Uint8Array(), { dictionary: [] }), "dictionary");
  });

  test("golden files are written again byte for byte", () => {
    for (const golden of expected.goldens) {
      const filter = openGolden(tamis, golden, expected);
      const [again, bytes] = [filter.toBytes(), bytesOf(golden.base64)];
      holds(again.length === bytes.length, `${golden.name}: ${again.length} bytes`);
      holds(again.every((byte, i) => byte === bytes[i]), `${golden.name} differs`);
      const copy = filter.clone();
      same(copy.info(), filter.info(), "copy");
      holds(copy.picture().includes("<svg"), `${golden.name} has no picture`);
      same(copy.picture({ bare: true }).slice(0, 4), "<svg", "bare");
      if (golden.list) same(filter.list(), golden.list, "list");
      else refused(tamis, () => filter.list(), "zone");
    }
  });

  test("hostile bytes are refused, and never trap", () => {
    for (const golden of expected.goldens) {
      const bytes = bytesOf(golden.base64);
      const step = Math.max(1, Math.floor(bytes.length / 60));
      const small = isSmall(golden) ? lookup : tamis;
      for (let length = 0; length < bytes.length; length += length < 200 ? 1 : step) {
        const cut = bytes.slice(0, length);
        refused(tamis, () => openGolden(tamis, golden, expected, cut), "");
      }
      const longer = new Uint8Array(bytes.length + 1);
      longer.set(bytes);
      refused(tamis, () => openGolden(tamis, golden, expected, longer), "");
      for (let bit = 0; bit < bytes.length * 8; bit += bit < 128 * 8 ? 3 : 8 * step + 5) {
        const flipped = bytes.slice();
        flipped[bit >> 3] ^= 1 << (bit & 7);
        refused(tamis, () => openGolden(tamis, golden, expected, flipped), "");
        refused(lookup, () => openGolden(small, golden, expected, flipped), "");
      }
    }
    // Any bytes at all, also as filters of other programs.
    let state = 1;
    const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 24;
    for (let length = 0; length < 400; length++) {
      const bytes = Uint8Array.from({ length }, random);
      refused(tamis, () => tamis.open(bytes), "");
      try {
        tamis.openForeign(bytes).free();
      } catch (error) {
        holds(error instanceof tamis.TamisError, `${error}`);
      }
    }
  });

  for (const [promise, plan, made] of [
    ["rate", tamis.planRate, expected.rates],
    ["zone", tamis.planZone, expected.zones],
    ["privacy", tamis.planPrivacy, expected.privates],
  ]) {
    test(`plans of ${promise} are those of the command line`, () => {
      for (const { options, plan: wanted } of made) {
        alike(plan(options), wanted, JSON.stringify(options));
      }
    });
  }

  test("charts are drawings", () => {
    const charts = [
      tamis.chartRate({ items: 1000, fpr: 0.01 }),
      tamis.chartRate({ items: 1000, fpr: 0.01, filter: "static" }),
      tamis.chartZone({ universe: 606, items: 3 }),
      tamis.chartPrivacy({ items: 1000, epsilon: 4 }),
      tamis.chartPrivacy({ items: 1000, epsilon: 4, method: "bloom" }),
    ];
    for (const chart of charts) holds(chart.startsWith("<?xml"), chart.slice(0, 60));
    same(tamis.chartRate({ items: 9, fpr: 0.5 }, { bare: true }).slice(0, 4), "<svg", "bare");
    holds(tamis.STYLE.includes("--ink"), "style");
    refused(tamis, () => tamis.chartRate({ filter: "scalable" }), "one size");
  });

  test("keys are those of the library", () => {
    // bloom-fast was given texts and integers, bloom-keys integers past 64 bits.
    const find = (name) => expected.goldens.find((golden) => golden.name === `v1-${name}.tamis`);
    const mixed = openGolden(tamis, find("bloom-fast"), expected);
    for (let i = 0; i < 50; i++) holds(mixed.has(i) && mixed.has(BigInt(i)), `${i}`);
    const bytes = new TextEncoder().encode("key 7");
    holds(mixed.has("key 7") && mixed.has(bytes), "text is its bytes");
    holds(mixed.has(-1) && mixed.has(-1n), "-1");
    holds(mixed.has(-(2n ** 63n)) && mixed.has(2n ** 64n - 1n), "the ends of 64 bits");
    same(mixed.has(-0), mixed.has(0), "-0 is 0");
    const wide = openGolden(tamis, find("bloom-keys"), expected);
    const integers = [2n ** 64n, 2n ** 128n - 1n, -(2n ** 63n) - 1n, -(2n ** 127n)];
    for (const integer of integers) holds(wide.has(integer), `${integer}`);
    const many = ["key 7", 7, 7n, bytes, -1n, 2n ** 64n - 1n, "stranger 1", 1234567];
    same([...mixed.hasMany(many)], many.map((key) => (mixed.has(key) ? 1 : 0)), "hasMany");
    const numbers = Array.from({ length: 20000 }, (_, i) => i);
    const wanted = numbers.map((number) => (mixed.has(number) ? 1 : 0));
    for (const keys of [
      numbers,
      numbers.map(BigInt),
      Uint32Array.from(numbers),
      Int32Array.from(numbers),
      Int16Array.from(numbers),
      Uint16Array.from(numbers),
      Float64Array.from(numbers),
      BigUint64Array.from(numbers.map(BigInt)),
      BigInt64Array.from(numbers.map(BigInt)),
    ]) {
      same([...mixed.hasMany(keys)], wanted, keys.constructor.name);
    }
    same(mixed.hasMany([]).length, 0, "no keys");
    for (const key of [0.5, NaN, Infinity, 2 ** 53, -(2 ** 53)]) {
      refused(tamis, () => mixed.has(key), "safe integer");
      refused(tamis, () => mixed.hasMany([key]), "safe integer");
      refused(tamis, () => mixed.hasMany(Float64Array.of(1, key)), "safe integer");
    }
    for (const key of [2n ** 128n, -(2n ** 127n) - 1n]) {
      refused(tamis, () => mixed.has(key), "2^128");
    }
    for (const key of [undefined, null, {}, [], true, Symbol("key"), new Date(0)]) {
      refused(tamis, () => mixed.has(key), "is no key");
      refused(tamis, () => mixed.hasMany([key]), "is no key");
    }
    refused(tamis, () => mixed.has("\ud800"), "surrogate");
    refused(tamis, () => mixed.hasMany(["fine", "a\udc00"]), "surrogate");
    refused(tamis, () => mixed.hasMany(bytes), "[bytes]");
    refused(tamis, () => mixed.hasMany("keys"), "array");
    holds(mixed.has("naïve 雪") && !mixed.has("🐜"), "text beyond ASCII");
  });

  test("filters are built, changed and read again", () => {
    const words = Array.from({ length: 1000 }, (_, i) => `word ${i}`);
    for (const filter of ["bloom", "blocked", "split", "counting", "quotient", "scalable"]) {
      const made = tamis.buildRate({ filter, items: 1000, fpr: 0.01 }, words);
      same(made.kind, filter, "kind");
      holds(made.hasMany(words).every((answer) => answer === 1), `${filter} lost a key`);
      const read = tamis.open(made.toBytes());
      same(read.info(), made.info(), filter);
      holds(made.insert("another") === true && made.has("another"), `${filter}: insert`);
      holds(made.insert("another") === false, `${filter}: once`);
      made.union(read);
      made.union(made);
      if (filter === "counting" || filter === "quotient") {
        const plain = tamis.buildRate({ filter, items: 1000, fpr: 0.01 }, ["ant"]);
        plain.remove("ant");
        holds(!plain.has("ant"), `${filter}: remove`);
        refused(tamis, () => plain.remove("ant"), "");
      } else {
        refused(tamis, () => made.remove("another"), "");
      }
    }
    const fixed = tamis.buildRate({ filter: "static", fpr: 0.01 }, words);
    holds(fixed.hasMany(words).every((answer) => answer === 1), "static lost a key");
    same(fixed.info().distinct, 1000, "static");
    refused(tamis, () => fixed.insert("late"), "");
    refused(tamis, () => tamis.buildRate({ filter: "static", fpr: 0.01 }), "keys");
    refused(tamis, () => tamis.buildRate({ filter: "static", items: 9, fpr: 0.01 }, []), "items");
    const rolling = tamis.buildRate({ filter: "rolling", windowItems: 100, fpr: 0.01 }, words);
    holds(rolling.has("word 999"), "rolling");
    // The golden file of an empty filter, made here.
    const empty = expected.goldens.find((golden) => golden.name === "v1-empty.tamis");
    const own = tamis.buildRate({ items: 1, fpr: 0.01 }).toBytes();
    same(btoa(String.fromCharCode(...own)), empty.base64, "empty");
    // A secret hash, and another seed.
    const key = new TextEncoder().encode(expected.secret);
    const keyed = tamis.buildRate({ items: 10, fpr: 0.01, key }, ["ant"]);
    holds(tamis.open(keyed.toBytes(), { key }).has("ant"), "keyed");
    refused(tamis, () => tamis.open(keyed.toBytes()), "key");
    same(tamis.buildRate({ items: 10, fpr: 0.01, seed: 7n }).info().seed, 7, "seed");
    refused(tamis, () => tamis.buildRate({ items: 10, fpr: 0.01, seed: -1 }), "seed");
    refused(tamis, () => fixed.union(rolling), "");
    refused(tamis, () => fixed.union({}), "filter");
    refused(tamis, () => new tamis.Filter(), "opened or built");
  });

  test("a zone filter is never wrong within its zone, and lists", () => {
    const plan = { universe: 60, items: 2, counting: true };
    const zone = tamis.buildZone(plan, [7, 11]);
    for (let i = 0; i < 60; i++) same(zone.has(i), i === 7 || i === 11, `${i}`);
    same(zone.list(), { exact: true, len: 2, elements: ["7", "11"] }, "list");
    refused(tamis, () => zone.insert(13), "");
    refused(tamis, () => zone.has(60), "");
    holds(zone.insertBeyond(13) && zone.health === "beyond", "beyond");
    const colours = tamis.buildZone({ universe: ["red", "green", "blue"], items: 1 }, ["green"]);
    holds(colours.has("green") && !colours.has("red") && colours.query("green"), "colours");
    refused(tamis, () => tamis.open(colours.toBytes()), "dictionary");
    const unnamed = tamis.open(colours.toBytes(), { withoutDictionary: true });
    same(unnamed.info().len, 1, "unnamed");
    refused(tamis, () => unnamed.has("green"), "");
    refused(tamis, () => tamis.buildZone({ universe: ["a", "a"], items: 1 }), "");
    refused(tamis, () => tamis.buildZone({ universe: [1, 2], items: 1 }), "text");
    const hosts = tamis.buildZone({ universe: "ipv4", items: 4 }, ["10.0.0.1"]);
    same(hosts.list().elements, ["10.0.0.1"], "hosts");
  });

  test("a release has two errors and an estimate, and each is drawn anew", () => {
    for (const method of ["linear", "bloom"]) {
      const options = { items: 2000, epsilon: 3, method };
      const members = Uint32Array.from({ length: 2000 }, (_, i) => i);
      const release = tamis.drawRelease(options, members);
      const plan = tamis.planPrivacy(options);
      same([release.promise, release.estimatedItems], ["privacy", null], method);
      same(release.fnr, plan.fn, `${method}: fn`);
      holds(Math.abs(release.fpr - plan.fp) < 0.1, `${method}: fp ${release.fpr} of ${plan.fp}`);
      const passed = release.hasMany(members).reduce((sum, answer) => sum + answer, 0);
      const wanted = 2000 * (1 - plan.fn);
      // Six standard deviations, and some more for what members share.
      holds(Math.abs(passed - wanted) < 6 * Math.sqrt(2000 * 0.25), `${method}: ${passed}`);
      const { value, low, high } = release.estimateMembers(members);
      // The interval is cut off at the number of keys; the estimate is not.
      const cut = Math.min(value, members.length);
      holds(low <= cut && cut <= high, `${method}: ${low} ${value} ${high}`);
      holds(Math.abs(value - 2000) < 300, `${method}: about ${value}`);
      const other = tamis.drawRelease(options, members);
      holds(other.toBytes().some((byte, i) => byte !== release.toBytes()[i]), "the same coins");
      refused(tamis, () => release.insert(1), "");
      same(tamis.open(release.toBytes()).info(), release.info(), method);
    }
    refused(tamis, () => tamis.drawRelease({ items: 100001, epsilon: 1 }, []), "tamis publish");
    const bloom = tamis.buildRate({ items: 10, fpr: 0.01 });
    refused(tamis, () => bloom.estimateMembers(["ant"]), "published");
  });

  test("memory is capped before it is taken", () => {
    const small = tamis.buildRate({ items: 1000, fpr: 0.01 }).toBytes();
    refused(tamis, () => tamis.open(small, { maxBytes: 100 }), "100");
    holds(tamis.open(small, { maxBytes: 2000 }).bytes < 2000, "enough");
    for (const filter of ["bloom", "blocked", "split", "counting", "quotient", "rolling"]) {
      const size = filter === "rolling" ? { windowItems: 1e11 } : { items: 1e11 };
      refused(tamis, () => tamis.buildRate({ filter, ...size, fpr: 0.01 }), "memory");
    }
    const chain = tamis.buildRate({ filter: "scalable", first: 100, fpr: 0.01, maxBytes: 10000 });
    const many = Uint32Array.from({ length: 100000 }, (_, i) => i);
    refused(tamis, () => chain.insertMany(many), "memory");
    refused(tamis, () => tamis.buildZone({ universe: 2 ** 50, items: 1e6 }), "");
    const fixed = { filter: "static", fpr: 0.01, maxBytes: 1000 };
    refused(tamis, () => tamis.buildRate(fixed, many), "memory");
    refused(tamis, () => tamis.open(small, { maxBytes: -1 }), "maxBytes");
    refused(tamis, () => tamis.open(small, { maxbytes: 100 }), "maxbytes");
    refused(tamis, () => tamis.open("seen.tamis"), "fetchFilter");
  });

  test("options are refused with their names", () => {
    refused(tamis, () => tamis.planRate({ items: 1000 }), "two of");
    refused(tamis, () => tamis.planRate({ items: 1.5, fpr: 0.01 }), "items");
    refused(tamis, () => tamis.planRate({ items: NaN, fpr: 0.01 }), "items");
    refused(tamis, () => tamis.planRate({ items: -1, fpr: 0.01 }), "items");
    refused(tamis, () => tamis.planRate({ itmes: 1, fpr: 0.01 }), "itmes");
    refused(tamis, () => tamis.planRate({ items: 10, fpr: 2 }), "");
    refused(tamis, () => tamis.planRate({ items: 10, fpr: 0.1, filter: "cuckoo" }), "cuckoo");
    refused(tamis, () => tamis.planRate({ items: 10, fpr: 0.1, growth: 2 }), "growth");
    refused(tamis, () => tamis.planZone({ universe: "moon", items: 1 }), "moon");
    refused(tamis, () => tamis.planZone({ universe: "10.0.0.1/8", items: 1 }), "10.0.0.0/8");
    refused(tamis, () => tamis.planZone({ universe: 60 }), "items");
    refused(tamis, () => tamis.planZone({ items: 1 }), "universe");
    refused(tamis, () => tamis.planPrivacy({ items: 10, epsilon: -1 }), "");
    refused(tamis, () => tamis.planPrivacy({ items: 10, epsilon: 1, bits: 99 }), "bits");
    refused(tamis, () => tamis.planPrivacy({ items: 10, epsilon: 1, method: "x" }), "x");
    const bloom = tamis.buildRate({ items: 10, fpr: 0.01 });
    for (const options of [undefined, null, 7, "items"]) {
      for (const name of ["planRate", "planZone", "planPrivacy", "buildRate", "buildZone"]) {
        refused(tamis, () => tamis[name](options), "");
      }
      if (options === undefined) continue;
      refused(tamis, () => tamis.open(bloom.toBytes(), options), "options");
      refused(tamis, () => bloom.picture(options), "options");
    }
    refused(tamis, () => bloom.query(7), "text");
    holds(bloom.picture({ title: 7 }).includes("7"), "title");
  });

  test("filters of other programs", () => {
    for (const foreign of expected.foreigners) {
      const filter = tamis.openForeign(bytesOf(foreign.base64));
      alike(filter.info(), foreign.info, foreign.name);
      same(filter.format, foreign.info.format, "format");
      const answers = foreign.asked.map((text) => filter.query(text));
      same(answers, foreign.answers, foreign.name);
      holds(filter.picture().includes("<svg"), "picture");
      holds(filter.keyKinds.includes("text"), "kinds");
      refused(tamis, () => filter.query("ant", "moon"), "moon");
      const small = { maxBytes: 10 };
      refused(tamis, () => tamis.openForeign(bytesOf(foreign.base64), small), "10");
    }
  });

  test("a filter is fetched, and a long body is left", async () => {
    const bytes = tamis.buildRate({ items: 100, fpr: 0.01 }, ["ant"]).toBytes();
    const url = `data:application/octet-stream;base64,${btoa(String.fromCharCode(...bytes))}`;
    for (const build of [tamis, lookup]) {
      const filter = await build.fetchFilter(url, { init: { cache: "no-store" } });
      holds(filter.has("ant"), "fetched");
      let error;
      try {
        await build.fetchFilter(url, { maxBytes: 10 });
      } catch (thrown) {
        error = thrown;
      }
      holds(error instanceof build.TamisError, `${error}`);
    }
    same(tamis.version, lookup.version, "version");
  });

  return all;
}
