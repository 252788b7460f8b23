"""tamis beside other packages, in one process. See README.md."""

from __future__ import annotations

import argparse
import functools
import importlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tamis

ROOT = Path(__file__).resolve().parents[2]
RATE = 0.01


def module(name: str) -> Any:
    """A peer, or None if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"left out: {name} is not installed", file=sys.stderr)
        return None


def timed(work: Callable[[], object], count: int) -> float:
    """Nanoseconds a key."""
    start = time.process_time_ns()
    work()
    return (time.process_time_ns() - start) / count


def add_all(add: Callable[[Any], object], keys: list[Any]) -> None:
    for key in keys:
        add(key)


def ask_all(filter: Any, keys: list[Any]) -> None:
    for key in keys:
        key in filter


class Wrapped:
    """A package without `in`."""

    def __init__(self, add: Callable[[Any], object], contains: Callable[[Any], bool]) -> None:
        self.add = add
        self._contains = contains

    def __contains__(self, key: Any) -> bool:
        return self._contains(key)


def one_at_a_time(count: int, kind: str) -> dict[str, Callable[[], Any]]:
    found: dict[str, Callable[[], Any]] = {}
    if rbloom := module("rbloom"):
        found["rbloom"] = lambda: rbloom.Bloom(count, RATE)
    found["tamis Bloom"] = lambda: tamis.Bloom(count, RATE)
    found["tamis BlockedBloom"] = lambda: tamis.BlockedBloom(count, RATE)
    found["set"] = set
    if mmapped := module("pybloomfilter"):
        found["pybloomfiltermmap3"] = lambda: mmapped.BloomFilter(count, RATE)
    if fast := module("fastbloom_rs"):

        def fastbloom() -> Any:
            made = fast.BloomFilter(count, RATE)
            if kind == "int":
                return Wrapped(made.add_int, made.contains_int)
            return Wrapped(made.add_str, made.contains_str)

        found["fastbloom-rs"] = fastbloom
    if live := module("pybloom_live"):
        found["pybloom-live"] = lambda: live.BloomFilter(count, RATE)
    return found


@functools.lru_cache(maxsize=2)
def numbers_of(most: int, count: int, seed: int) -> list[int]:
    return random.Random(seed).sample(range(most), count)


def keys_of(kind: str, count: int, seed: int) -> tuple[list[Any], list[Any]]:
    """Members and strangers, in random order, none of the texts hashed before."""
    if kind == "int":
        numbers = numbers_of(1 << 62, 2 * count, seed)
        return numbers[:count], numbers[count:]
    texts = [f"https://example.org/{number:013d}" for number in numbers_of(10**12, 2 * count, seed)]
    assert len(texts[0]) == 33
    return texts[:count], texts[count:]


def table(title: str, columns: list[str], rows: dict[str, list[list[float]]], against: str) -> None:
    """Medians, and medians of the ratios within a round."""
    print(f"\n| {title} | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    base = rows.get(against)
    for name, rounds in rows.items():
        cells = []
        for place in range(len(columns)):
            values = [one[place] for one in rounds]
            if all(value != value for value in values):
                cells.append("-")
                continue
            cell = f"{statistics.median(values):.0f}"
            if base is not None and all(one[place] == one[place] for one in base):
                ratios = [mine[place] / theirs[place] for mine, theirs in zip(rounds, base)]
                cell += f" ({statistics.median(ratios):.2f})"
            cells.append(cell)
        print(f"| {name} | " + " | ".join(cells) + " |")


def single(count: int, rounds: int) -> None:
    for kind in ("str", "int"):
        makers = one_at_a_time(count, kind)
        rows: dict[str, list[list[float]]] = {name: [] for name in makers}
        for turn in range(rounds):
            names = list(makers)
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                if name == "pybloom-live" and turn > 0:
                    rows[name].append(rows[name][0])
                    continue
                # Everybody has keys of his own: Python stores the hash in a text.
                members, strangers = keys_of(kind, count, turn)
                filter = makers[name]()
                rows[name].append([
                    timed(lambda: add_all(filter.add, members), count),
                    timed(lambda: ask_all(filter, members), count),
                    timed(lambda: ask_all(filter, strangers), count),
                ])
        title = f"one {kind} at a time, ns (over rbloom)"
        table(title, ["add", "hit", "miss"], rows, "rbloom")


def library(kind: str, keys: list[Any]) -> list[float]:
    """What the library takes, by its own program."""
    program = ROOT / "target/release/examples/library_alone"
    if not program.exists():
        print("left out: the library itself; see README.md", file=sys.stderr)
        return [float("nan")] * 2
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(map(str, keys)))
        file.flush()
        words = [str(program), "integer" if kind == "int" else "text", file.name, "7"]
        printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return [float(word) for word in printed.split()]


def bulk(count: int, rounds: int) -> None:
    numpy, pyarrow, rbloom = module("numpy"), module("pyarrow"), module("rbloom")
    nan = float("nan")
    for kind in ("str", "int"):
        rows: dict[str, list[list[float]]] = {}

        def note(name: str, build: float, query: float) -> None:
            rows.setdefault(name, []).append([build, query])

        for turn in range(rounds):
            members, _ = keys_of(kind, count, turn)
            if rbloom:
                filter = rbloom.Bloom(count, RATE)
                build = timed(lambda: filter.update(members), count)
                note("rbloom, update and [k in b]", build, timed(lambda: [key in filter for key in members], count))
            columns: dict[str, Any] = {"list": keys_of(kind, count, turn)[0]}
            if pyarrow:
                columns["Arrow"] = pyarrow.array(members)
                if kind == "str":
                    columns["Arrow string_view"] = columns["Arrow"].cast(pyarrow.string_view())
            if numpy and kind == "int":
                columns["NumPy"] = numpy.array(members)
            for made in (tamis.Bloom, tamis.BlockedBloom):
                for source, column in columns.items():
                    filter = made(count, RATE)
                    build = timed(lambda: filter.insert_many(column), count)
                    query = timed(lambda: filter.contains_many(column), count)
                    note(f"tamis {made.__name__}, {source}", build, query)
            if pyarrow and kind == "str":
                values = columns["Arrow"]
                note("pyarrow is_in, exact", nan, timed(lambda: pyarrow.compute.is_in(values, values), count))
            if numpy and kind == "int":
                array = columns["NumPy"]
                note("numpy isin, exact", nan, timed(lambda: numpy.isin(array, array), count))
        title = f"{count:,} of {kind} in bulk, ns (over rbloom)"
        table(title, ["build", "query members"], rows, "rbloom, update and [k in b]")
        own = library(kind, keys_of(kind, count, 0)[0])
        best = [min(one[place] for one in rows.get("tamis Bloom, NumPy", rows.get("tamis Bloom, Arrow", [[nan, nan]]))) for place in (0, 1)]
        print(f"\nThe library itself, its best round: build {own[0]:.1f} ns, query {own[1]:.1f} ns a key; "
              f"the package's best round takes {best[0] / own[0]:.2f} and {best[1] / own[1]:.2f} times as long.")


def large(count: int, rounds: int) -> None:
    """Many integers from NumPy, beside the library."""
    numpy = module("numpy")
    if not numpy:
        return
    keys = numpy.random.default_rng(1).integers(0, 1 << 62, count)
    best = [float("inf")] * 2
    for _ in range(rounds):
        filter = tamis.Bloom(count, RATE)
        best[0] = min(best[0], timed(lambda: filter.insert_many(keys), count))
        best[1] = min(best[1], timed(lambda: filter.contains_many(keys), count))
    own = library("int", keys.tolist())
    print(f"\n{count:,} integers from NumPy, best round: build {best[0]:.1f} ns, query {best[1]:.1f} ns; the library itself "
          f"{own[0]:.1f} and {own[1]:.1f}: {best[0] / own[0]:.2f} and {best[1] / own[1]:.2f} times as long.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer keys and rounds")
    parser.add_argument("parts", nargs="*", help="single, bulk, large; all if none is said")
    said = parser.parse_args()
    quick, parts = said.quick, said.parts or ["single", "bulk", "large"]
    count, rounds = (10**5, 3) if quick else (10**6, 3)
    if module("pyarrow"):
        importlib.import_module("pyarrow.compute")
    print(f"tamis {tamis.__version__}, level {tamis.processor_level()}, Python {sys.version.split()[0]}")
    if "single" in parts:
        single(count, rounds)
    if "bulk" in parts:
        bulk(count, rounds)
    if "large" in parts:
        large(10 * count, 3)


if __name__ == "__main__":
    main()
