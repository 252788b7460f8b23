// The parts of the page that need neither a browser nor the library.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { FILTERS, advise, planOptions } from "../advise.js";
import { lines } from "../lines.js";
import { LIMITS, START, fromHash, isUniverse, toHash } from "../link.js";
import * as numbers from "../numbers.js";

const ROOT = new URL("../", import.meta.url);

test("counts are read as the command line reads them", () => {
  for (const [text, value] of [
    ["1000", 1000], ["1_000", 1000], ["1,000", 1000], ["1e6", 1_000_000], ["1.5e6", 1_500_000],
    ["1M", 1_000_000], ["2k", 2000], ["2^20", 1 << 20], [" 7 ", 7], ["1.1e6", 1_100_000],
  ]) {
    assert.equal(numbers.readCount(text), value, text);
  }
  for (const text of ["", "-1", "1.5", "ant", "1e400", "2^64", "1e", "0x10", "1 in 5", "NaN"]) {
    assert.equal(numbers.readCount(text), null, text);
  }
});

test("shares are read as a share, as percent and as odds", () => {
  for (const [text, value] of [
    ["0.01", 0.01], ["1%", 0.01], ["1 in 100", 0.01], ["1/100", 0.01], [".5", 0.5], ["1e-6", 1e-6],
    ["0.1%", 0.001], ["1 in 1,000", 0.001], ["29%", 0.29],
  ]) {
    assert.equal(numbers.readShare(text), value, text);
  }
  for (const text of ["", "0", "1", "100%", "-1%", "2", "1 in 0", "ant"]) {
    assert.equal(numbers.readShare(text), null, text);
  }
});

test("what is written is read again", () => {
  for (let place = 0; place <= 120; place += 1) {
    const value = Math.round(numbers.atPlace(place));
    assert.equal(numbers.readCount(numbers.grouped(value)), value);
    assert.ok(place < 10 || numbers.placeOf(numbers.atPlace(place)) === place, `place ${place}`);
  }
  for (let place = 3; place <= 90; place += 1) {
    const share = numbers.atPlace(-place);
    assert.equal(numbers.readShare(numbers.percent(share)), share, `${share}`);
  }
});

test("numbers for people", () => {
  assert.equal(numbers.percent(0.010039), "1.004%");
  assert.equal(numbers.percent(0), "0%");
  assert.equal(numbers.percent(1e-9), "1e-9");
  assert.equal(numbers.odds(0.01), "1 in 100");
  assert.equal(numbers.size(1198133), "1.198 MB");
  assert.equal(numbers.size(79), "79 bytes");
  assert.equal(numbers.size(1), "1 byte");
  assert.equal(numbers.grouped("18446744073709551616"), "18,446,744,073,709,551,616");
  assert.equal(numbers.spoken(2_500_000), "2.5 million");
});

/** All answers to all questions, with a few numbers. */
function* states() {
  for (const keys of ["any", "finite"]) {
    for (const strangers of ["some", "never"]) {
      for (const away of ["no", "yes"]) {
        for (const change of ["add", "never", "remove", "grow", "forget"]) {
          for (const wish of ["small", "fast"]) {
            for (const filter of ["advised", ...Object.keys(FILTERS)]) {
              yield { ...START, keys, strangers, away, change, wish, filter };
            }
          }
        }
      }
    }
  }
}

test("a state survives its link", () => {
  assert.equal(toHash(START), "");
  assert.deepEqual(fromHash(""), START);
  for (const state of states()) assert.deepEqual(fromHash(toHash(state)), state);
  const state = { ...START, items: 123_456, fpr: 3.2e-7, epsilon: 0.7, d: 12, universe: "1..48" };
  assert.deepEqual(fromHash(toHash(state)), state);
});

test("a link that is wrong changes nothing", () => {
  for (const hash of [
    "#look", "#items=-1", "#items=1.5", "#items=1e13", "#items=ant", "#fpr=0", "#fpr=1",
    "#epsilon=1e9", "#d=0", "#universe=<b>", "#universe=9..3", "#keys=all", "#__proto__=1",
    "#constructor=x", "#filter=best", "#items=%", "#items=NaN", "#items=",
  ]) {
    assert.deepEqual(fromHash(hash), START, hash);
  }
});

test("universes", () => {
  for (const text of ["ipv4", "uuid", "65536", "1e6", "2^16", "1..48", "0..0"]) {
    assert.ok(isUniverse(text), text);
  }
  for (const text of ["", "0", "ipv5", "toString", "9..3", "-1..3", "1..2..3", "a..b"]) {
    assert.ok(!isUniverse(text), text);
  }
});

test("every answer leads to a promise, with a reason and lines to type", () => {
  const seen = new Set();
  for (const state of states()) {
    const advice = advise(state);
    seen.add(advice.promise + advice.filter);
    assert.ok(advice.why.length > 0 && advice.why.every((reason) => !reason.includes("undefined")));
    assert.ok(planOptions(state).items ?? planOptions(state).windowItems);
    const promised = state.away === "yes" ? "privacy"
      : state.strangers === "never" && state.keys === "finite" ? "zone" : "rate";
    assert.equal(advice.promise, promised);
    // An answer that cannot be had is not passed over in silence.
    if (state.strangers === "never" && promised !== "zone") assert.notEqual(advice.warning, "");
    for (const { text } of lines(state)) {
      assert.ok(!/undefined|NaN|null/.test(text), text);
    }
  }
  assert.equal(seen.size, Object.keys(FILTERS).length + 3);
});

test("sliders and links have the same limits", () => {
  const page = readFileSync(new URL("index.html", ROOT), "utf8");
  const ends = (name) => {
    const slider = new RegExp(`id="${name}-slider" min="([^"]+)" max="([^"]+)"`).exec(page);
    return [Number(slider[1]), Number(slider[2])];
  };
  assert.deepEqual(ends("items").map(numbers.atPlace), LIMITS.items);
  assert.deepEqual(ends("d").map(numbers.atPlace), LIMITS.d);
  assert.deepEqual(ends("fpr").map((place) => numbers.atPlace(-place)).reverse(), LIMITS.fpr);
  assert.deepEqual(ends("epsilon"), LIMITS.epsilon);
});

test("the page loads nothing from elsewhere, and has no style or script in its text", () => {
  const page = readFileSync(new URL("index.html", ROOT), "utf8");
  assert.match(page, /Content-Security-Policy" content="default-src 'none'/);
  assert.doesNotMatch(page, / on[a-z]+=| style=|<style|<script(?! type="module" src="main.js">)/);
  for (const name of readdirSync(ROOT)) {
    if (!/\.(html|css|js)$/.test(name)) continue;
    const text = readFileSync(new URL(name, ROOT), "utf8");
    const links = text.match(/https?:\/\/[^\s"')]+/g) ?? [];
    assert.deepEqual(links.filter((link) => link !== "http://www.w3.org/2000/svg"), [], name);
    assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|\beval\(/, name);
  }
});

test("every id that a module asks for is in the page", () => {
  const page = readFileSync(new URL("index.html", ROOT), "utf8");
  let asked = 0;
  for (const name of readdirSync(ROOT).filter((name) => name.endsWith(".js"))) {
    const text = readFileSync(new URL(name, ROOT), "utf8");
    for (const [, id] of text.matchAll(/(?:\$|getElementById)\("([\w-]+)"\)/g)) {
      asked += 1;
      assert.ok(page.includes(`id="${id}"`), `${name} asks for #${id}`);
    }
  }
  assert.ok(asked > 80);
});
