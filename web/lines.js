// What to type: the same plan at the shell, in Rust, in Python and in Valkey.

import { advise } from "./advise.js";
import { NAMED } from "./link.js";
import { readCount, underscored } from "./numbers.js";

const RUST = {
  bloom: "Bloom",
  blocked: "BlockedBloom",
  split: "SplitBloom",
  counting: "CountingBloom",
  quotient: "QuotientFilter",
  scalable: "Scalable",
  rolling: "Rolling",
};

const PYTHON = {
  bloom: "Bloom",
  blocked: "BlockedBloom",
  split: "SplitBloom",
  counting: "CountingBloom",
  quotient: "QuotientFilter",
  scalable: "ScalableBloom",
};

/** The first link of a scalable filter. */
const FIRST = 1000;

/** Four pieces of text, each with the name of its place. */
export function lines(state) {
  const advice = advise(state);
  const of = { rate: ofRate, zone: ofZone, privacy: ofPrivacy }[advice.promise];
  const { shell, rust, python, valkey } = of(state, advice);
  return [
    { place: "shell", name: "Command line", text: shell.join("\n") },
    { place: "rust", name: "Rust", text: main(rust) },
    { place: "python", name: "Python", text: python.join("\n") },
    { place: "valkey", name: "Valkey", text: valkey.join("\n") },
  ];
}

function main(body) {
  const inner = body.map((line) => `    ${line}`).join("\n");
  return `fn main() -> Result<(), tamis::Error> {\n${inner}\n    Ok(())\n}`;
}

/** `--filter` is left out for the usual one. */
function layout(filter) {
  return filter === "bloom" ? "" : ` --filter ${filter}`;
}

function ofRate({ items, fpr }, { filter }) {
  const sized = filter === "rolling" ? `--window ${items}` : `--items ${items}`;
  // A static filter counts its keys itself, and a scalable one grows with them.
  const built = filter === "static" || filter === "scalable" ? "" : `${sized} `;
  const shell = [
    `tamis plan rate ${sized} --fpr ${fpr}${layout(filter)}`,
    `tamis build rate ${built}--fpr ${fpr}${layout(filter)} -o seen.tamis keys.txt`,
    "tamis query seen.tamis others.txt",
  ];
  if (filter === "static") {
    return {
      shell,
      rust: [
        `let seen = tamis::StaticFilter::build(["ant", "bee"], ${fpr})?;`,
        'assert!(seen.contains("ant"));',
        'seen.save("seen.tamis")?;',
      ],
      python: [
        "import tamis",
        `seen = tamis.StaticFilter(["ant", "bee"], ${fpr})`,
        'assert "ant" in seen',
        'seen.save("seen.tamis")',
      ],
      valkey: loaded("seen", "seen.tamis", "BF.EXISTS"),
    };
  }
  const first = filter === "scalable" ? FIRST : items;
  // These can be full, or lack memory for the next link.
  const insert = ["quotient", "scalable", "rolling"].includes(filter) ? "?" : "";
  const rust = [
    `let mut seen = tamis::${RUST[filter]}::new(${underscored(first)}, ${fpr})?;`,
    `seen.insert("ant")${insert};`,
    'assert!(seen.contains("ant"));',
    'seen.save("seen.tamis")?;',
  ];
  const python = PYTHON[filter]
    ? [
        "import tamis",
        `seen = tamis.${PYTHON[filter]}(${underscored(first)}, ${fpr})`,
        'seen.add("ant")',
        'assert "ant" in seen',
        'seen.save("seen.tamis")',
      ]
    : [
        "# Python asks a rolling filter that the command line keeps.",
        "import tamis",
        'seen = tamis.open("seen.tamis")',
        'print("ant" in seen)',
      ];
  return { shell, rust, python, valkey: inValkey(filter, items, fpr) };
}

function inValkey(filter, items, fpr) {
  switch (filter) {
    case "quotient":
      return loaded("seen", "seen.tamis", "CF.EXISTS");
    case "counting":
      return [`TAMIS.RESERVE seen COUNTING ${fpr} ${items}`, "TAMIS.ADD seen ant",
        "TAMIS.EXISTS seen ant"];
    case "rolling":
      return [`TAMIS.RESERVE seen ROLLING ${fpr} ${items}`, "TAMIS.ADD seen ant",
        "TAMIS.EXISTS seen ant"];
    case "scalable":
      return [`BF.RESERVE seen ${fpr} ${FIRST} EXPANSION 8`, "BF.ADD seen ant",
        "BF.EXISTS seen ant"];
    default:
      return [`BF.RESERVE seen ${fpr} ${items} NONSCALING LAYOUT ${filter}`, "BF.ADD seen ant",
        "BF.EXISTS seen ant"];
  }
}

/** A file that was built at the shell, taken in as it is. */
function loaded(name, file, exists) {
  return [`valkey-cli -x TAMIS.LOAD ${name} < ${file}`, `valkey-cli ${exists} ${name} ant`];
}

function ofZone({ universe, d }, { counting }) {
  const ends = /^(\d+)\.\.(\d+)$/.exec(universe);
  const size = readCount(universe);
  const named = Object.hasOwn(NAMED, universe);
  const element = named ? `"${NAMED[universe]}"` : `${ends ? ends[1] : 0}`;
  const rustElement = named ? element : `${element}u64`;
  let rustUniverse = `Universe::${universe}()`;
  let pythonUniverse = `"${universe}"`;
  if (ends) {
    const [first, last] = [underscored(Number(ends[1])), underscored(Number(ends[2]))];
    rustUniverse = `Universe::interval(${first}, ${last})?`;
    pythonUniverse = `tamis.Universe.interval(${first}, ${last})`;
  } else if (size !== null) {
    rustUniverse = `Universe::sized(${underscored(size)})?`;
    pythonUniverse = underscored(size);
  }
  const shellUniverse = size === null ? universe : String(size);
  const flag = counting ? " --counting" : "";
  const type = counting ? "CountingFilter" : "Filter";
  const plan = `Plan::new(${rustUniverse}, ${underscored(d)}, Prefer::Bits)?`;
  return {
    shell: [
      `tamis plan zone --universe ${shellUniverse} --items ${d}${flag}`,
      `tamis build zone --universe ${shellUniverse} --items ${d}${flag} -o items.tamis keys.txt`,
      "tamis query items.tamis others.txt",
      "tamis list items.tamis",
    ],
    rust: [
      `use tamis::zone::{${type}, Plan, Prefer, Universe};`,
      `let plan = ${plan}${counting ? ".counting()" : ""};`,
      `let mut items = ${type}::with_plan(plan)?;`,
      `items.insert(${rustElement})?;`,
      `assert!(items.contains(${rustElement})?);`,
      'items.save("items.tamis")?;',
    ],
    python: [
      "import tamis",
      `items = tamis.${counting ? "CountingZoneFilter" : "ZoneFilter"}(${pythonUniverse}, ${d})`,
      `items.add(${element})`,
      "print(items.list())",
      'items.save("items.tamis")',
    ],
    valkey: [
      `TAMIS.ZONE.RESERVE items UNIVERSE ${shellUniverse} ITEMS ${d}${counting ? " COUNTING" : ""}`,
      `TAMIS.ZONE.ADD items ${element.replaceAll('"', "")}`,
      "TAMIS.ZONE.LIST items",
    ],
  };
}

function ofPrivacy({ items, epsilon }) {
  return {
    shell: [
      `tamis plan privacy --items ${items} --epsilon ${epsilon}`,
      `tamis ledger new list.ledger --budget ${epsilon}`,
      `tamis build privacy --items ${items} --epsilon ${epsilon} --ledger list.ledger ` +
        "-o public.tamis keys.txt",
      "tamis query public.tamis others.txt",
    ],
    rust: [
      "use tamis::privacy::{Ledger, LinearFilter, LinearPlan};",
      `let plan = LinearPlan::new(${underscored(items)}, "${epsilon}".parse()?)?;`,
      `let mut ledger = Ledger::create("list.ledger", "${epsilon}".parse()?, "my list")?;`,
      'let receipt = ledger.charge(plan.epsilon(), "the first release")?;',
      'LinearFilter::publish(plan, ["ant", "bee"], receipt)?.save("public.tamis")?;',
    ],
    python: [
      "import tamis",
      `plan = tamis.plan_privacy(${underscored(items)}, ${epsilon})`,
      `ledger = tamis.Ledger.create("list.ledger", ${epsilon}, about="my list")`,
      'public = tamis.publish(["ant", "bee"], plan, ledger=ledger)',
      'public.save("public.tamis")',
    ],
    valkey: loaded("public", "public.tamis", "TAMIS.EXISTS"),
  };
}
