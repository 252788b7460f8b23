"""Filters on a Spark cluster: built, asked and published where the data is.

The executors hash the column and build parts of the filter. The driver joins the parts, and never
sees a key. The filter is byte for byte the one that a single machine builds by the same plan.

    import tamis.spark
    seen = tamis.spark.build(orders, "customer", 10_000_000, 0.01)
    few = tamis.spark.filter(visits, "customer", seen)
    seen.save("seen.tamis")

It needs PySpark 4.0 or later (classic, not Connect), PyArrow, and this package on every executor.
"""

from __future__ import annotations

import hashlib
import math
import os
import secrets
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator

import pyarrow
from pyspark import SparkFiles
from pyspark.sql import types

from . import (
    BlockedBloom,
    Bloom,
    BudgetError,
    Filter,
    LinearFilter,
    MutableFilter,
    Parts,
    SplitBloom,
    plan_rate,
)
from . import open as _open

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from . import Ledger

__all__ = ["build", "filter", "publish", "semi_join"]

#: The filters that are merged by union.
_MERGED: dict[str, Callable[..., MutableFilter]] = {
    "bloom": Bloom,
    "blocked": BlockedBloom,
    "split": SplitBloom,
}
#: The types of columns whose values are keys. The others have no encoding of their own.
_KEYS = (
    types.StringType,
    types.CharType,
    types.VarcharType,
    types.BinaryType,
    types.ByteType,
    types.ShortType,
    types.IntegerType,
    types.LongType,
    types.FloatType,
    types.DoubleType,
    types.BooleanType,
)
#: The most keys of a part, on average: a task holds 16 bytes for each of them.
_PART_KEYS = 1 << 24
#: How many keys a task deals at a time. The more, the fewer rows are shuffled.
_DEAL_KEYS = 1 << 21
#: The largest filter that is merged by union: it travels as one value of a row.
_MERGED_BYTES = 1 << 30
#: Up to so many bytes come to the driver at once. More come one filter after the other.
_COLLECTED_BYTES = 1 << 28


def _column(df: DataFrame, column: str) -> DataFrame:
    """The column alone, if its values are keys."""
    if column not in df.columns:
        raise ValueError(f"there is no column {column!r}; the columns are {', '.join(df.columns)}")
    kind = df.schema[column].dataType
    if not isinstance(kind, _KEYS):
        raise TypeError(
            f"the column {column!r} is of type {kind.simpleString()}, which is no key; cast it to "
            f'string, binary or bigint: df.withColumn({column!r}, df[{column!r}].cast("string"))'
        )
    return df.select(df[column].alias("key"))


def _parallelism(df: DataFrame) -> int:
    return max(1, df.sparkSession.sparkContext.defaultParallelism)


def build(
    df: DataFrame,
    column: str,
    items: int,
    fpr: float = 0.01,
    *,
    filter: str = "blocked",
    seed: int = 0,
    parts: int | None = None,
) -> Any:
    """Builds one filter of a column on the executors. Nulls go nowhere.

    `items` is at least the number of distinct keys. `filter` is one of

    - `"blocked"`, `"bloom"`, `"split"`: every partition makes a filter of the whole size, and they
      are merged in a tree. Best up to some 10^8 keys.
    - `"static"`: the smallest. The executors exchange 16 bytes for each row, and build `parts` parts
      that nobody has to merge. Best for many keys; more than `items` keys are a `PlanError`.
    """
    if filter == "static":
        if parts is None:
            shards = Parts.static(items, fpr, of=1).shards
            parts = _number_of_parts(items, shards, _parallelism(df))
        plan = Parts.static(items, fpr, of=parts, seed=seed)
        return plan.join(_built(_column(df, column), plan))
    make = _MERGED.get(filter)
    if make is None:
        names = ", ".join([*_MERGED, "static"])
        raise ValueError(f"filter is one of {names} (got {filter!r})")
    if parts is not None:
        raise ValueError('parts goes with filter="static"; leave it out')
    size = plan_rate(items, fpr, filter=filter).bytes
    if size > _MERGED_BYTES:
        raise ValueError(
            f'a {filter} filter of {items} items is too large to be merged; take filter="static"'
        )
    empty = make(items, fpr, seed=seed)

    def fill(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        partial = make(items, fpr, seed=seed)
        rows = 0
        for batch in batches:
            rows += batch.num_rows
            partial.insert_many(batch.column(0))
        if rows:
            yield _rows([partial.save_bytes()])

    partials = _column(df, column).mapInArrow(fill, "body binary")
    # Half of the tree on the executors, the other half here.
    branches = math.isqrt(_parallelism(df) - 1) + 1
    merged = partials.repartition(branches).mapInArrow(_merge, "body binary")
    small = branches * size <= _COLLECTED_BYTES
    for row in merged.collect() if small else merged.toLocalIterator(prefetchPartitions=True):
        empty |= type(empty).load_bytes(bytes(row.body))
    return empty


def _rows(bodies: list[bytes]) -> pyarrow.RecordBatch:
    return pyarrow.RecordBatch.from_arrays([pyarrow.array(bodies, pyarrow.binary())], ["body"])


def _merge(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """One filter of many."""
    merged: Any = None
    for batch in batches:
        for body in batch.column(0):
            other = Filter.load_bytes(body.as_py())
            if merged is None:
                merged = other
            else:
                merged |= other
    if merged is not None:
        yield _rows([merged.save_bytes()])


def _number_of_parts(items: int, shards: int, parallelism: int) -> int:
    """Two parts for each core, more if they would be too large, and never without shards."""
    return min(shards, max(2 * parallelism, math.ceil(items / _PART_KEYS)), 1 << 20)


def _built(keys: DataFrame, plan: Parts) -> Iterator[bytes]:
    """The parts of a filter, built on the executors."""

    def deal(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        waiting: list[pyarrow.Array] = []
        rows = 0
        for batch in batches:
            waiting.append(batch.column(0))
            rows += batch.num_rows
            if rows >= _DEAL_KEYS:
                yield hands(waiting)
                waiting, rows = [], 0
        if waiting:
            yield hands(waiting)

    def hands(arrays: list[pyarrow.Array]) -> pyarrow.RecordBatch:
        dealt = plan.deal(pyarrow.chunked_array(arrays))
        numbers = pyarrow.array([number for number, _ in dealt], pyarrow.int32())
        digests = pyarrow.array([some for _, some in dealt], pyarrow.binary())
        return pyarrow.RecordBatch.from_arrays([numbers, digests], ["part", "digests"])

    def make(dealt: pyarrow.Table) -> pyarrow.Table:
        number = dealt.column("part")[0].as_py()
        body = plan.build(number, (some.as_py() for some in dealt.column("digests")))
        return pyarrow.table(
            [pyarrow.array([number], pyarrow.int32()), pyarrow.array([body], pyarrow.binary())],
            ["part", "body"],
        )

    dealt = keys.mapInArrow(deal, "part int, digests binary")
    built = dealt.groupBy("part").applyInArrow(make, "part int, body binary")
    # Each row comes once, and a part is drawn once: nothing here runs the job again.
    seen = set()
    for row in built.collect():
        seen.add(row.part)
        yield bytes(row.body)
    # A part that got no key is built here: it holds nothing.
    for number in range(1, plan.of + 1):
        if number not in seen:
            yield plan.build(number, [])


def publish(
    df: DataFrame,
    column: str,
    items: int,
    epsilon: object,
    ledger: Ledger | None = None,
    *,
    fpr: float | None = None,
    note: str = "",
    parts: int | None = None,
) -> LinearFilter:
    """Publishes a column as a differentially private filter.

    The executors draw the parts, each with coins of its own. The ledger is charged once, on the
    driver, when all parts are there and before the release is. A ledger that cannot pay is refused
    before the work begins. `items` becomes public: choose it without counting.

    Parts that a failed task had drawn are thrown away and cost nothing, as long as the cluster
    keeps its shuffle files and its memory to itself.
    """
    seed = secrets.randbits(64)
    one = Parts.linear(items, epsilon, of=1, seed=seed, fpr=fpr)
    if parts is None:
        parts = _number_of_parts(items, one.shards, _parallelism(df))
    if ledger is not None and not ledger.charges_left(one.epsilon, most=1):
        raise BudgetError(
            f"a charge of {one.epsilon} is more than the budget of {ledger.budget} allows, of which "
            f"{ledger.left} is left; nothing was read and nothing was charged"
        )
    plan = Parts.linear(items, epsilon, of=parts, seed=seed, fpr=fpr)
    release = plan.join(_built(_column(df, column), plan), ledger=ledger, note=note)
    assert isinstance(release, LinearFilter)
    return release


#: The filters that this Python worker has mapped, by the name of the file.
_mapped: dict[str, Any] = {}


def _map(name: str) -> Any:
    """The filter that was sent to this executor. All its workers map one file."""
    found = _mapped.get(name)
    if found is None:
        found = _mapped[name] = _open(SparkFiles.get(name))
    return found


def _send(df: DataFrame, f: Filter | str | os.PathLike[str]) -> str:
    """Sends a filter to every executor, once; the name of its file there."""
    context = df.sparkSession.sparkContext
    if isinstance(f, Filter):
        data = f.save_bytes()
    else:
        with open(f, "rb") as file:
            data = file.read()
        Filter.load_bytes(data)
    name = f"tamis-{hashlib.sha256(data).hexdigest()[:32]}.tamis"
    sent = _sent.setdefault(context.applicationId or "", {})
    if name not in sent:
        path = os.path.join(tempfile.mkdtemp(prefix="tamis-"), name)
        with open(path, "wb") as out:
            out.write(data)
        context.addFile(path)
        sent[name] = path
    return name


#: What was sent, by application.
_sent: dict[str, dict[str, str]] = {}


def filter(df: DataFrame, column: str, f: Filter | str | os.PathLike[str]) -> DataFrame:
    """The rows whose key passes the filter: all members, and of strangers the planned share.

    The filter, or the file of one, goes to every executor once, and is mapped there. A null does not
    pass.
    """
    _column(df, column)
    name, index = _send(df, f), df.columns.index(column)

    def keep(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        mapped = _map(name)
        for batch in batches:
            passes = mapped.contains_many(batch.column(index), nulls=False)
            kept = batch.filter(passes)
            if kept.num_rows:
                yield kept

    return df.mapInArrow(keep, df.schema)


def semi_join(
    df: DataFrame,
    column: str,
    other: DataFrame,
    f: Filter | str | os.PathLike[str] | None = None,
    *,
    items: int | None = None,
    fpr: float = 0.01,
) -> DataFrame:
    """The rows whose key is in the column of the same name of `other`, exactly.

    A filter of `other` drops nearly all other rows of `df` before they are shuffled. Give the filter
    `f`, or `items`, how many distinct keys `other` has at most, to build one.
    """
    keys = _column(other, column).withColumnRenamed("key", column)
    if f is None:
        if items is None:
            raise ValueError("give a filter f of the other column, or items to build one")
        f = build(other, column, items, fpr)
    return filter(df, column, f).join(keys, column, "left_semi")
