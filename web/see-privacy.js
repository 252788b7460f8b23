// The privacy promise: one list, published again and again, and how often the releases err.

import { draw } from "./chart.js";
import { $, element } from "./dom.js";
import { grouped, percent } from "./numbers.js";

const MEMBERS = Array.from({ length: 40 }, (_, i) => `member ${i + 1}`);
const STRANGERS = Array.from({ length: 160 }, (_, i) => `stranger ${i + 1}`);
/** Enough for both shares to come close to the plan. */
const ENOUGH = 400;
const A_FRAME = 4;

export function beginPrivacy(tamis) {
  const slider = $("privacy-epsilon");
  const people = [...MEMBERS, ...STRANGERS].map(() => element("span", { class: "cell" }));
  const gap = element("span", { class: "gap" });
  $("privacy-people").replaceChildren(
    ...people.slice(0, MEMBERS.length), gap, ...people.slice(MEMBERS.length));
  let options;
  let plan;
  let draws;
  let missed;
  let passed;
  let path;
  let running = false;

  function begin() {
    options = { items: MEMBERS.length, epsilon: Number(slider.value) };
    plan = tamis.planPrivacy(options);
    [draws, missed, passed, path] = [0, 0, 0, []];
    $("privacy-epsilon-said").textContent = slider.value;
    for (const cell of people) cell.className = "cell";
    $("privacy-people").setAttribute("aria-label", "No release has been drawn yet");
    show();
  }

  function drawOne() {
    const release = tamis.drawRelease(options, MEMBERS);
    const members = release.hasMany(MEMBERS);
    const strangers = release.hasMany(STRANGERS);
    release.free();
    const misses = members.filter((passes) => !passes).length;
    const passes = strangers.filter(Boolean).length;
    draws += 1;
    missed += misses;
    passed += passes;
    path.push([draws, missed / (draws * MEMBERS.length), passed / (draws * STRANGERS.length)]);
    people.forEach((cell, i) => {
      const member = i < MEMBERS.length;
      const yes = member ? members[i] : strangers[i - MEMBERS.length];
      cell.className = `cell${member ? (yes ? " on" : " missed") : (yes ? " wrong" : "")}`;
    });
    $("privacy-people").setAttribute("aria-label", `The last release: ${misses} of ` +
      `${MEMBERS.length} members are missed, ${passes} of ${STRANGERS.length} strangers pass`);
  }

  function show() {
    const most = Math.max(10, draws);
    const flat = (name, share) => ({ name, dashed: true, points: [[1, share], [most, share]] });
    const curves = [flat("plan, FN", plan.fn), flat("plan, FP", plan.fp)];
    if (draws > 0) {
      const line = (at) => path.map((one) => [one[0], one[at]]);
      curves.push({ name: "members", chosen: true, points: line(1) });
      curves.push({ name: "strangers", chosen: true, wrong: true, points: line(2) });
    }
    const shares = [plan.fn, plan.fp, ...path.slice(-ENOUGH).flatMap((one) => [one[1], one[2]])];
    const step = Math.max(...shares) > 0.5 ? 0.25 : Math.max(...shares) > 0.2 ? 0.1 : 0.05;
    const top = Math.min(1, step * Math.ceil((Math.max(...shares) * 1.1) / step));
    const yTicks = [];
    for (let tick = 0; tick <= top / step + 0.01; tick += 1) {
      yTicks.push([tick * step, percent(tick * step)]);
    }
    draw($("privacy-chart"), {
      title: "The two errors over all releases so far, and the plan",
      x: { label: "releases", from: 1, to: most, log: true,
        ticks: [1, 3, 10, 30, 100, 300, 1000, 3000, 10000].filter((n) => n <= most)
          .map((n) => [n, grouped(n)]) },
      y: { label: "wrong answers, so far", from: 0, to: top, log: false, ticks: yTicks },
      curves,
      marks: [],
    });
    if (!running) say();
  }

  function say() {
    const planned = `The plan says ${percent(plan.fn)} of members missed and ${percent(plan.fp)} ` +
      "of strangers passing.";
    if (draws === 0) {
      $("privacy-said").replaceChildren(`${planned} Draw releases and see.`);
      return;
    }
    const [, fn, fp] = path.at(-1);
    $("privacy-said").replaceChildren(
      `After ${grouped(draws)} ${draws === 1 ? "release" : "releases"}: `,
      element("b", {}, `${percent(fn)} of members missed, ${percent(fp)} of strangers passed`),
      `. ${planned}`);
  }

  function stop() {
    running = false;
    $("privacy-run").textContent = "Draw releases";
    show();
  }

  function step(goal) {
    if (!running) return;
    // All at once for people who asked for less motion.
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const until = Math.min(goal, draws + (still ? ENOUGH : A_FRAME));
    while (draws < until) drawOne();
    if (draws >= goal) {
      stop();
      return;
    }
    show();
    requestAnimationFrame(() => step(goal));
  }

  $("privacy-run").addEventListener("click", () => {
    if (running) {
      stop();
      return;
    }
    running = true;
    $("privacy-run").textContent = "Stop";
    step(draws + ENOUGH);
  });
  $("privacy-one").addEventListener("click", () => {
    running = false;
    drawOne();
    stop();
  });
  $("privacy-clear").addEventListener("click", () => {
    running = false;
    begin();
    stop();
  });
  slider.addEventListener("input", () => {
    running = false;
    begin();
    stop();
  });
  let width = 0;
  new ResizeObserver(() => {
    const now = $("privacy-chart").parentElement.clientWidth;
    if (now !== width) show();
    width = now;
  }).observe($("privacy-chart").parentElement);
  begin();
}
