// The state of the page as the part of its address behind "#", and back.

import { readCount } from "./numbers.js";

const CHOICES = {
  keys: ["any", "finite"],
  strangers: ["some", "never"],
  away: ["no", "yes"],
  change: ["add", "never", "remove", "grow", "forget"],
  wish: ["small", "fast"],
  filter: [
    "advised", "bloom", "blocked", "split", "static", "quotient", "counting", "scalable", "rolling",
  ],
};

/** What a page shows that was opened without a link. */
export const START = Object.freeze({
  items: 1_000_000,
  keys: "any",
  universe: "ipv4",
  strangers: "some",
  fpr: 0.01,
  away: "no",
  epsilon: 4,
  change: "add",
  wish: "small",
  d: 4,
  filter: "advised",
});

/** The limits of the numbers, which are those of the sliders. The library has the last word. */
export const LIMITS = {
  items: [1, 1e12],
  fpr: [1e-9, 0.5],
  epsilon: [0.1, 12],
  d: [1, 1000],
};

/** The universes that have a name, with an element of each. */
export const NAMED = {
  ipv4: "10.0.0.1",
  ipv6: "2001:db8::1",
  mac: "02:00:00:00:00:01",
  uuid: "123e4567-e89b-12d3-a456-426614174000",
};

/** Whether a text names a universe: ipv4 and the like, a size, or first..last. */
export function isUniverse(text) {
  if (Object.hasOwn(NAMED, text)) return true;
  const ends = /^(\d+)\.\.(\d+)$/.exec(text);
  if (ends) return Number(ends[1]) <= Number(ends[2]) && Number.isSafeInteger(Number(ends[2]));
  const size = readCount(text);
  return size !== null && size >= 1;
}

/** The state as text: only what differs from the start, so that links stay short. */
export function toHash(state) {
  const parts = Object.keys(START)
    .filter((name) => state[name] !== START[name])
    .map((name) => `${name}=${encodeURIComponent(state[name])}`);
  return parts.length === 0 ? "" : `#${parts.join("&")}`;
}

/** The state that a text describes. What it does not say, or says wrongly, is as at the start. */
export function fromHash(hash) {
  const state = { ...START };
  for (const [name, value] of new URLSearchParams(hash.replace(/^#/, ""))) {
    if (Object.hasOwn(CHOICES, name)) {
      if (CHOICES[name].includes(value)) state[name] = value;
    } else if (name === "universe") {
      if (isUniverse(value)) state.universe = value;
    } else if (Object.hasOwn(LIMITS, name)) {
      const number = Number(value);
      const [low, high] = LIMITS[name];
      const whole = name === "items" || name === "d";
      if (number >= low && number <= high && (!whole || Number.isInteger(number))) {
        state[name] = number;
      }
    }
  }
  return state;
}
