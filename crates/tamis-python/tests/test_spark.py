"""tamis.spark on a real Spark: two executors, each a JVM of its own.

TAMIS_SPARK_ROWS is how many rows the large tests have.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
from typing import Any, Iterable, Iterator

import pytest

pytest.importorskip("pyspark")
pa = pytest.importorskip("pyarrow")
if shutil.which("java") is None:
    pytest.skip("no Java", allow_module_level=True)

import tamis  # noqa: E402
import tamis.spark  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
ROWS = int(os.environ.get("TAMIS_SPARK_ROWS", "100000"))


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .appName("tamis")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.executor.memory", "1g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    # The tasks of this file are found there.
    session.sparkContext.addPyFile(__file__)
    yield session
    session.stop()


def local(kind: str, keys: Any, items: int, fpr: float) -> Any:
    """The filter that one process builds by the same plan."""
    if kind == "static":
        parts = tamis.Parts.static(items, fpr, of=1)
        return parts.join([parts.build(1, [digests for _, digests in parts.deal(keys)])])
    made = {"bloom": tamis.Bloom, "blocked": tamis.BlockedBloom, "split": tamis.SplitBloom}[kind]
    filter = made(items, fpr)
    filter.insert_many(keys)
    return filter


def executors(spark: Any) -> set[int]:
    """The process of the executor that runs each of some tasks."""
    return {row.pid for row in spark.range(64, numPartitions=8).mapInArrow(tell, "pid long").collect()}


def parent(process: int) -> int:
    text = pathlib.Path(f"/proc/{process}/stat").read_text()
    return int(text.rpartition(")")[2].split()[1])


def executor() -> int:
    """The executor that a worker belongs to: the parent of the daemon that forked the worker."""
    return parent(os.getppid())


def tell(batches: Iterable[Any]) -> Iterator[Any]:
    for _ in batches:
        pass
    yield pa.RecordBatch.from_pydict({"pid": [executor()]})


def test_there_are_two_executors(spark: Any) -> None:
    found: set[int] = set()
    for _ in range(20):
        found |= executors(spark)
        if len(found) == 2:
            break
    assert len(found) == 2 and os.getpid() not in found


@pytest.mark.parametrize("kind", ["static", "blocked", "bloom", "split"])
def test_a_filter_is_the_one_of_a_local_build(spark: Any, kind: str) -> None:
    rows = ROWS if kind in ("static", "blocked") else 10_000
    # Every key comes twice, in two partitions.
    frame = spark.range(2 * rows, numPartitions=6).selectExpr(f"(id % {rows}) * 7 as k")
    built = tamis.spark.build(frame, "k", rows, 0.01, filter=kind)
    numpy = pytest.importorskip("numpy")
    keys = numpy.arange(rows, dtype="int64") * 7
    assert built.save_bytes() == local(kind, keys, rows, 0.01).save_bytes()
    assert built.contains_many(keys).all()


def test_texts_and_nulls(spark: Any) -> None:
    frame = spark.range(3000, numPartitions=3).selectExpr(
        "case when id % 3 = 0 then null else concat('name ', id) end as who", "id"
    )
    names = [f"name {i}" for i in range(3000) if i % 3]
    for kind in ("static", "blocked"):
        built = tamis.spark.build(frame, "who", 2000, 0.01, filter=kind)
        assert built.save_bytes() == local(kind, names, 2000, 0.01).save_bytes()
    few = tamis.StaticFilter(["name 1", "name 4"], 1e-9)
    kept = tamis.spark.filter(frame, "who", few)
    assert sorted(row.id for row in kept.collect()) == [1, 4]
    assert kept.schema == frame.schema


def test_more_parts_than_keys(spark: Any) -> None:
    # Three shards, and one of them is built where no key is.
    frame = spark.createDataFrame([(1,), (2,)], "k long")
    built = tamis.spark.build(frame, "k", 2_500_000, 0.01, filter="static", parts=3)
    assert built.save_bytes() == local("static", [1, 2], 2_500_000, 0.01).save_bytes()
    for kind in ("static", "bloom"):
        empty = tamis.spark.build(frame.where("k > 7"), "k", 100, 0.01, filter=kind)
        assert 1 not in empty


def test_rows_are_kept(spark: Any, tmp_path: Any) -> None:
    frame = spark.range(ROWS, numPartitions=4).selectExpr("id", "id % 1000 as k")
    members = tamis.BlockedBloom(50, 0.001)
    members.insert_many(range(0, 1000, 20))
    kept = tamis.spark.filter(frame, "k", members)
    passing = sum(members.contains_many(list(range(1000))))
    assert kept.count() == ROWS // 1000 * passing
    members.save(tmp_path / "members.tamis")
    assert tamis.spark.filter(frame, "k", tmp_path / "members.tamis").count() == kept.count()
    keys = spark.range(0, 1000, 20).withColumnRenamed("id", "k")
    joined = tamis.spark.semi_join(frame, "k", keys, items=50)
    assert joined.count() == ROWS // 20
    assert tamis.spark.semi_join(frame, "k", keys, members).count() == ROWS // 20


def kill_once(marker: str) -> Any:
    """A task that kills its executor, and then is run again on another."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        for i, batch in enumerate(batches):
            yield batch
            if i == 0:
                try:
                    os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
                except FileExistsError:
                    continue
                os.kill(executor(), signal.SIGKILL)

    return run


@pytest.mark.parametrize("kind", ["static", "blocked"])
def test_an_executor_that_dies_changes_nothing(spark: Any, tmp_path: Any, kind: str) -> None:
    marker = str(tmp_path / "killed")
    frame = spark.range(ROWS, numPartitions=6).mapInArrow(kill_once(marker), "id long")
    built = tamis.spark.build(frame, "id", ROWS, 0.01, filter=kind)
    assert os.path.exists(marker)
    numpy = pytest.importorskip("numpy")
    keys = numpy.arange(ROWS, dtype="int64")
    assert built.save_bytes() == local(kind, keys, ROWS, 0.01).save_bytes()


def test_a_release_is_charged_once(spark: Any, tmp_path: Any) -> None:
    rows = 600_000
    frame = spark.range(rows, numPartitions=4)
    ledger = tamis.Ledger.create(tmp_path / "book", 5)
    release = tamis.spark.publish(frame, "id", rows, 4, ledger, note="spring")
    assert isinstance(release, tamis.LinearFilter)
    assert [entry.note for entry in ledger.entries] == ["spring"]
    assert ledger.spent == release.epsilon
    plan = tamis.plan_privacy(rows, 4)
    assert len(release.save_bytes()) == plan.file_bytes
    numpy = pytest.importorskip("numpy")
    for start, share in [(0, 1 - plan.fnr), (1 << 40, plan.fpr)]:
        passed = release.contains_many(numpy.arange(start, start + rows)).sum()
        sigma = (rows * share * (1 - share)) ** 0.5
        assert abs(passed - rows * share) < 5 * sigma + 0.01 * rows * share
    # The budget does not allow another one: nothing is read or charged.
    with pytest.raises(tamis.BudgetError):
        tamis.spark.publish(frame, "id", rows, 4, ledger)
    assert len(ledger.entries) == 1
    # Each release has coins of its own.
    assert tamis.spark.publish(frame, "id", rows, 4).save_bytes() != release.save_bytes()


def test_errors_come_before_the_work(spark: Any) -> None:
    frame = spark.createDataFrame([(1, None)], "k long, d date")
    with pytest.raises(ValueError, match="there is no column 'q'"):
        tamis.spark.build(frame, "q", 10)
    with pytest.raises(TypeError, match="cast"):
        tamis.spark.build(frame, "d", 10)
    with pytest.raises(ValueError, match="filter is one of"):
        tamis.spark.build(frame, "k", 10, filter="zone")
    with pytest.raises(tamis.PlanError):
        tamis.spark.build(frame, "k", 10, 2.0)
    with pytest.raises(ValueError, match="too large to be merged"):
        tamis.spark.build(frame, "k", 10**10)
    with pytest.raises(ValueError, match="items"):
        tamis.spark.semi_join(frame, "k", frame)
    with pytest.raises(FileNotFoundError):
        tamis.spark.filter(frame, "k", "nothing.tamis")


def test_too_many_keys_are_an_error(spark: Any) -> None:
    with pytest.raises(tamis.PlanError, match="more"):
        tamis.spark.build(spark.range(1000), "id", 900, filter="static")
