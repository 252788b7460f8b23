"""Spark's join with and without filters, side by side in one session, and the building of filters.

    python bench.py [ROWS] [KEYS] [ROUNDS]

ROWS facts with integer keys are joined with KEYS keys, of which one fact in twenty has one. Two
executors with a core each. See README.md.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from typing import Any, Callable

import tamis
import tamis.spark
from pyspark.sql import SparkSession

ROWS = int(float(sys.argv[1])) if len(sys.argv) > 1 else 20_000_000
KEYS = int(float(sys.argv[2])) if len(sys.argv) > 2 else 1_000_000
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 3


def session() -> Any:
    made = (
        SparkSession.builder.master("local-cluster[2,1,2048]")
        .config("spark.ui.enabled", "false")
        .config("spark.executor.memory", "2g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.sql.autoBroadcastJoinThreshold", "-1")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("OFF")
    return made


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def main() -> None:
    spark = session()
    folder = os.environ.get("TAMIS_SPARK_FOLDER", "/tmp/tamis-spark-bench")
    facts_file, keys_file = f"{folder}/facts-{ROWS}-{KEYS}", f"{folder}/keys-{KEYS}"
    if not os.path.exists(f"{facts_file}/_SUCCESS"):
        # A random key below 20 KEYS: one in twenty is among the first KEYS.
        facts = spark.range(ROWS, numPartitions=8).selectExpr(
            f"pmod(xxhash64(id), {20 * KEYS}) as k", "id as v"
        )
        facts.write.mode("overwrite").parquet(facts_file)
        keys = spark.range(KEYS, numPartitions=4).selectExpr("id as k", "id % 7 as kind")
        keys.write.mode("overwrite").parquet(keys_file)
    facts, keys = spark.read.parquet(facts_file), spark.read.parquet(keys_file)
    # The runtime filter wants a side that looks selective.
    selective = keys.where("kind >= 0")

    def runtime_filter(on: bool) -> None:
        spark.conf.set("spark.sql.optimizer.runtime.bloomFilter.enabled", str(on).lower())
        settings = {
            "applicationSideScanSizeThreshold": "0",
            "creationSideThreshold": "1g",
            "expectedNumItems": str(KEYS),
            "maxNumItems": str(20 * KEYS),
        }
        for name, value in settings.items():
            spark.conf.set(f"spark.sql.optimizer.runtime.bloomFilter.{name}", value)

    def sum_of(frame: Any) -> Any:
        return frame.selectExpr("count(*) as n", "sum(v) as s").collect()[0]

    def plain() -> Any:
        runtime_filter(False)
        return sum_of(facts.join(selective, "k", "left_semi"))

    def spark_filter() -> Any:
        runtime_filter(True)
        return sum_of(facts.join(selective, "k", "left_semi"))

    def broadcast() -> Any:
        from pyspark.sql.functions import broadcast as whole

        runtime_filter(False)
        return sum_of(facts.join(whole(selective.select("k")), "k", "left_semi"))

    def ours() -> Any:
        runtime_filter(False)
        return sum_of(tamis.spark.semi_join(facts, "k", selective, items=KEYS))

    built = tamis.spark.build(keys, "k", KEYS)

    def ours_built() -> Any:
        runtime_filter(False)
        return sum_of(tamis.spark.semi_join(facts, "k", selective, built))

    def test_alone() -> Any:
        return sum_of(tamis.spark.filter(facts, "k", built))

    def empty_map() -> Any:
        return sum_of(facts.mapInArrow(lambda batches: batches, facts.schema))

    joins = {
        "plain sort-merge join": plain,
        "Spark's runtime filter, forced on": spark_filter,
        "broadcast hash join": broadcast,
        "tamis.spark.semi_join, filter built on the way": ours,
        "tamis.spark.semi_join, filter at hand": ours_built,
    }
    others = {"an empty mapInArrow, no join": empty_map, "tamis.spark.filter, no join": test_alone}
    builds = {
        f"build {kind}": (lambda kind=kind: tamis.spark.build(facts, "v", ROWS, filter=kind))
        for kind in ("blocked", "static")
    }
    publishing = {"publish, epsilon 4": lambda: tamis.spark.publish(facts, "v", ROWS, 4)}
    plain()  # warm
    times: dict[str, list[float]] = {}
    answers = set()
    for _ in range(ROUNDS):
        for name, work in {**joins, **others, **builds, **publishing}.items():
            took, result = seconds(work)
            times.setdefault(name, []).append(took)
            if name in joins:
                answers.add(result)
    assert len(answers) == 1, answers
    print(f"{ROWS} facts, {KEYS} keys, {ROUNDS} rounds, level {tamis.processor_level()}")
    base = times["plain sort-merge join"]
    print("| | seconds | over the plain join |\n|---|---|---|")
    for name, took in times.items():
        ratio = statistics.median(mine / theirs for mine, theirs in zip(took, base))
        print(f"| {name} | {statistics.median(took):.1f} | {ratio:.2f} |")
    load = os.getloadavg()[0]
    print(f"load of the machine at the end: {load:.1f}")
    spark.stop()


if __name__ == "__main__":
    main()
