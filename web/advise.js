// From what a person has to a promise and a filter. It decides nothing that the library decides:
// sizes and rates come from its plans.

/** What each filter is, in a few words. */
export const FILTERS = {
  bloom: "the usual one; keys are added as they come",
  blocked: "one cache line a lookup: fast at any size",
  split: "half a cache line a lookup: fast in the caches",
  static: "the smallest; built once, from all keys",
  quotient: "keys can be removed and counted",
  counting: "keys can be removed, and filters intersected",
  scalable: "grows as keys come, and keeps its rate",
  rolling: "forgets: only the latest keys pass",
};

const BY_CHANGE = {
  add: "bloom",
  never: "static",
  remove: "quotient",
  grow: "scalable",
  forget: "rolling",
};

const WHY_CHANGE = {
  add: "Keys come one by one, and you know how many: a Bloom filter of fixed size.",
  never: "All keys are known now: a static filter takes the fewest bits.",
  remove: "Keys leave again: a quotient filter can remove them, at the size of a Bloom filter.",
  grow: "Nobody knows how many keys will come: a scalable filter grows and keeps its rate.",
  forget: "Only the latest keys count: a rolling filter forgets the others.",
};

/** The promise, the filter, and the reasons. */
export function advise(state) {
  if (state.away === "yes") return privacy(state);
  if (state.strangers === "never" && state.keys === "finite") return zone(state);
  return rate(state);
}

function privacy(state) {
  const why = ["You give the filter away, so it must not tell who is in it."];
  let warning = "";
  if (state.strangers === "never") {
    warning = "A private filter must be wrong at times: that is what hides its members.";
  }
  return { promise: "privacy", filter: "linear", why, warning };
}

function zone(state) {
  const why = [
    "No answer may be wrong, and the items come from a finite universe.",
    "Up to d items nobody is answered wrongly, and the filter can list what it holds.",
  ];
  const counting = state.change === "remove";
  if (counting) why.push("Items are removed: counters take the place of bits.");
  let warning = "";
  if (state.change === "grow" || state.change === "forget") {
    warning = "A zone filter has a fixed size and forgets nothing. Choose d large enough.";
  }
  return { promise: "zone", filter: counting ? "counting zone" : "zone", counting, why, warning };
}

function rate(state) {
  const why = ["A few strangers may pass; members always do."];
  let warning = "";
  if (state.strangers === "never") {
    warning =
      "Over endless keys every small filter is wrong at times. Say that your keys come from a " +
      "finite universe, or choose how many strangers may pass.";
  }
  let filter = BY_CHANGE[state.change];
  why.push(WHY_CHANGE[state.change]);
  if (state.change === "add" && state.wish === "fast") {
    filter = "blocked";
    why[1] = "Speed matters most: a blocked filter reads one cache line a lookup.";
  }
  const advised = filter;
  if (state.filter !== "advised") filter = state.filter;
  if (filter !== advised) why[1] = `You took ${filter} (${FILTERS[filter]}); advised is ${advised}.`;
  return { promise: "rate", filter, advised, why, warning };
}

/** The options of the library's plan for the state, in its own words. */
export function planOptions(state, advice = advise(state)) {
  if (advice.promise === "privacy") return { items: state.items, epsilon: state.epsilon };
  if (advice.promise === "zone") {
    return { universe: state.universe, items: state.d, counting: advice.counting };
  }
  return rateOptions(state.items, state.fpr, advice.filter);
}

/** The options of a plan of the rate promise. A rolling filter has a window in place of items. */
export function rateOptions(items, fpr, filter) {
  return filter === "rolling" ? { windowItems: items, fpr, filter } : { items, fpr, filter };
}
