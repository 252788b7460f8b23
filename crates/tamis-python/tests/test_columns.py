"""Columns of other libraries: every layout answers as one key at a time does."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tamis
from tamis import Bloom

np = pytest.importorskip("numpy")
pa = pytest.importorskip("pyarrow")

WORDS = ["ant", "", "bee", "naïve", "a word that is longer than twelve bytes", "\U0001f41c", "bee"]


def inserted(column, made=Bloom) -> tamis.Filter:
    if made is tamis.StaticFilter:
        return tamis.StaticFilter(column, 1e-7)
    filled = made(1000, 1e-7)
    filled.insert_many(column)
    return filled


def check(column, values, made=Bloom) -> None:
    """The column holds these values, None for a null, and nothing else."""
    filled = inserted(column, made)
    present = [value for value in values if value is not None]
    assert filled == inserted(present, made), "the bits of the column are not those of its values"
    asked = Bloom(1000, 1e-7)
    asked.update(present[::2])
    expected = [None if value is None else value in asked for value in values]
    answers = asked.contains_many(column)
    assert as_list(answers) == expected
    falses = asked.contains_many(column, nulls=False)
    assert as_list(falses) == [bool(answer) for answer in expected]


def as_list(answers):
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(answers, name):
            found = getattr(answers, name)()
            return [None if answer is None or str(answer) == "<NA>" else bool(answer) for answer in found]
    return list(answers)


STRINGS = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]


@pytest.mark.parametrize("kind", STRINGS, ids=str)
@pytest.mark.parametrize("made", [Bloom, tamis.BlockedBloom, tamis.CountingBloom, tamis.StaticFilter])
def test_arrow_strings(kind, made) -> None:
    array = pa.array(WORDS, pa.string()).cast(kind)
    check(array, WORDS, made)
    check(array.slice(2, 3), WORDS[2:5], made)
    with_nulls = [None, *WORDS, None, "after"]
    array = pa.array(with_nulls, pa.string()).cast(kind)
    check(array, with_nulls, made)
    check(array.slice(1, 4), with_nulls[1:5], made)
    check(array.slice(3), with_nulls[3:], made)
    chunked = pa.chunked_array([array, array.slice(2), array.slice(0, 0)])
    check(chunked, with_nulls + with_nulls[2:], made)
    check(pa.chunked_array([], kind), [], made)
    check(array.slice(0, 0), [], made)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.int32()], ids=str)
def test_arrow_dictionaries(kind) -> None:
    values = [1, 2, 3] if kind == pa.int32() else ["ant", "bee", "a word that is longer than twelve"]
    for index in (pa.int8(), pa.uint8(), pa.int16(), pa.int32(), pa.uint32(), pa.int64()):
        places = pa.array([0, None, 1, 0, 1], index)
        array = pa.DictionaryArray.from_arrays(places, pa.array(values, kind))
        rows = [None if place is None else values[place] for place in places.to_pylist()]
        check(array, rows)
        check(array.slice(1, 3), rows[1:4])
        assert values[2] not in inserted(array), "an unused entry of a dictionary is no key"
    holed = pa.array([None, *values[1:]], kind)
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 2], pa.int8()), holed)
    check(array, [None, values[1], None, values[2]])


INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
def test_arrow_integers(kind) -> None:
    bits = kind.bit_width
    low, high = (0, 2**bits - 1) if str(kind).startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    values = [0, 1, high, low, None, 7, high - 1]
    array = pa.array(values, kind)
    check(array, values)
    check(array.slice(2, 4), values[2:6])
    check(array.drop_null(), [value for value in values if value is not None])
    check(pa.array([1, 2, 3], kind), [1, 2, 3])


def test_arrow_floats_and_booleans() -> None:
    check(pa.array([0.5, 1.0, None, -2.25, 1e300]), [0.5, 1.0, None, -2.25, 1e300])
    check(pa.array([0.5, 1.0, None], pa.float32()), [0.5, 1.0, None])
    check(pa.array([True, None, False, True]), [True, None, False, True])
    check(pa.array([True, None, False, True]).slice(1), [None, False, True])
    check(pa.nulls(3), [None] * 3)
    check(pa.array([b"abcd", None], pa.binary(4)), [b"abcd", None])


def test_arrow_tables() -> None:
    table = pa.table({"word": WORDS})
    check(table, WORDS)
    check(table.slice(2, 3), WORDS[2:5])
    check(table.to_batches()[0], WORDS)
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert inserted(reader) == inserted(WORDS)
    with pytest.raises(TypeError, match="2 columns"):
        Bloom(10, 0.1).insert_many(pa.table({"a": [1], "b": [2]}))


def test_uuid_columns_are_uuids() -> None:
    import uuid

    key = uuid.UUID(int=5)
    array = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([key.bytes], pa.binary(16)))
    assert key in inserted(array)


@pytest.mark.parametrize(
    "column",
    [
        pa.array([dt.date(2024, 1, 1)]),
        pa.array([dt.datetime(2024, 1, 1)]),
        pa.array([[1]]),
        pa.array([{"a": 1, "b": 2}]),
        pa.array([1], pa.decimal128(5)),
        np.array(["2024-01-01"], "datetime64[D]"),
        np.array([1 + 2j]),
        np.zeros((2, 2)),
        np.array(7),
    ],
    ids=lambda column: str(getattr(column, "type", getattr(column, "dtype", ""))),
)
def test_columns_without_keys_are_refused(column) -> None:
    for call in (Bloom(10, 0.1).insert_many, Bloom(10, 0.1).contains_many):
        with pytest.raises((TypeError, ValueError)):
            call(column)


@pytest.mark.parametrize("kind", "i1 i2 i4 i8 u1 u2 u4 u8 >i2 >i4 >i8 >u2 >u4 >u8".split())
def test_numpy_integers(kind) -> None:
    info = np.iinfo(kind)
    values = [0, 1, int(info.max), int(info.min), 7, int(info.max) - 1]
    array = np.array(values, kind)
    check(array, values)
    check(array[::2], values[::2])
    check(array[::-1], values[::-1])
    check(array[1:1], [])
    assert isinstance(Bloom(10, 0.1).contains_many(array), np.ndarray)
    assert Bloom(10, 0.1).contains_many(array).dtype == bool
    matrix = np.array([values, values], kind)
    check(matrix[:, 2], values[2:3] * 2)


def test_numpy_texts() -> None:
    check(np.array(WORDS), WORDS)
    check(np.array(WORDS).astype(">U50"), WORDS)
    check(np.array(WORDS)[::-2], WORDS[::-2])
    check(np.array([b"ant", b"", b"bee"]), [b"ant", b"", b"bee"])
    check(np.array(["x\0y", "\ud800"]), ["x\0y", "\ud800"])
    check(np.array(WORDS, object), WORDS)
    check(np.array(["ant", 7, 0.5], object), ["ant", 7, 0.5])
    if hasattr(np.dtypes, "StringDType"):
        check(np.array(WORDS, np.dtypes.StringDType()), WORDS)


def test_numpy_numbers() -> None:
    check(np.array([0.5, 1.0, -3.0, 1e300]), [0.5, 1.0, -3.0, 1e300])
    check(np.array([0.5, 1.0], ">f8"), [0.5, 1.0])
    check(np.array([0.5, 1.0], "f4"), [0.5, 1.0])
    check(np.array([0.5, 1.0], "f2"), [0.5, 1.0])
    check(np.array([True, False]), [True, False])
    strict = np.array([1, 2], "i8")
    strict.flags.writeable = False
    check(strict, [1, 2])


@pytest.mark.parametrize("scalar", [np.int8(1), np.uint64(1), np.float32(1), np.float64(1), np.True_, np.longdouble(1), np.complex64(1)], ids=lambda scalar: type(scalar).__name__)
def test_numpy_scalars_are_their_values(scalar) -> None:
    bf = Bloom(10, 1e-9)
    bf.add(1)
    assert scalar in bf
    other = Bloom(10, 1e-9)
    other.add(scalar)
    assert other == bf
    assert np.str_("ant") in inserted(["ant"]) and np.bytes_(b"ant") in inserted(["ant"])
    assert np.float32(0.1) in inserted([float(np.float32(0.1))])


def test_polars() -> None:
    pl = pytest.importorskip("polars")
    rows = [*WORDS, None]
    check(pl.Series(rows), rows)
    check(pl.Series(rows)[2:5], rows[2:5])
    check(pl.Series(rows, dtype=pl.Categorical), rows)
    check(pl.Series(["a", "b", None], dtype=pl.Enum(["a", "b", "c"])), ["a", "b", None])
    check(pl.Series([1, -2, None]), [1, -2, None])
    check(pl.DataFrame({"word": rows}), rows)
    check(pl.concat([pl.Series(rows), pl.Series(rows)], rechunk=False), rows + rows)
    answers = inserted(rows).contains_many(pl.Series(rows))
    assert isinstance(answers, pl.Series) and answers.dtype == pl.Boolean and answers.null_count() == 1


def test_pandas() -> None:
    pd = pytest.importorskip("pandas")
    rows = [*WORDS, None]
    check(pd.Series(WORDS), WORDS)
    check(pd.Series(WORDS)[2:5], WORDS[2:5])
    check(pd.Series([1, 2, -3]), [1, 2, -3])
    check(pd.Series(["a", "b", None], dtype="category"), ["a", "b", None])
    check(pd.Series(rows, dtype="string"), rows)
    check(pd.DataFrame({"word": WORDS})["word"], WORDS)
    check(pd.Index([1, 5, 3]), [1, 5, 3])
    series = pd.Series(["a", "b"], index=["x", "y"])
    answers = inserted(["a"]).contains_many(series)
    assert isinstance(answers, pd.Series) and list(answers.index) == ["x", "y"] and answers.dtype == bool
    assert series[answers].tolist() == ["a"]
    moment = pd.Timestamp("2024-01-31 12:00")
    assert dt.datetime(2024, 1, 31, 12) in inserted([moment])


def test_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select 'key ' || i as word from range(5000) t(i)")
    filled = Bloom(10_000, 1e-7)
    assert filled.insert_many(relation) == 5000
    assert "key 4999" in filled and "key 5000" not in filled
    assert all(filled.contains_many(relation).to_pylist())
    with pytest.raises(TypeError):
        filled.insert_many(duckdb.sql("select 1 as a, 2 as b"))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.none(), st.text()), max_size=30), st.integers(0, 30), st.sampled_from(STRINGS[:3]))
def test_any_strings_sliced(values, skip, kind) -> None:
    try:
        array = pa.array(values, pa.string()).cast(kind)
    except (UnicodeEncodeError, pa.ArrowInvalid):
        return
    check(array.slice(skip), values[skip:])


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), max_size=30), st.integers(0, 30))
def test_any_integers_sliced(values, skip) -> None:
    check(pa.array(values, pa.int64()).slice(skip), values[skip:])


def test_long_columns() -> None:
    count = 3_000_000
    numbers = np.arange(count)
    filled = tamis.BlockedBloom(count, 0.001)
    told: list[tuple[int, int | None]] = []
    assert filled.insert_many(numbers, progress=lambda done, total: told.append((done, total))) > 0.99 * count
    assert told[-1] == (count, count) and len(told) > 1
    assert filled.contains_many(numbers).all()
    assert filled.contains_many(pa.array(numbers)).to_pylist() == [True] * count
    texts = pa.array(numbers).cast(pa.string())
    words = Bloom(count, 0.01)
    words.insert_many(texts)
    assert all(words.contains_many(texts).to_numpy(zero_copy_only=False))
    # Large enough for the library to sort.
    large = tamis.BlockedBloom(40_000_000, 0.01)
    large.insert_many(numbers)
    assert large.contains_many(numbers).all()
    assert abs(large.approx_items - count) < 0.01 * count


def test_booleans() -> None:
    bf = inserted(["a"])

    class Column:
        """A library that tamis does not know."""

        def __arrow_c_array__(self, requested_schema=None):
            return pa.array(["a", None, "b"]).__arrow_c_array__()

    answers = bf.contains_many(Column())
    assert isinstance(answers, tamis.Booleans) and len(answers) == 3 and answers.null_count == 1
    assert answers.to_pylist() == [True, None, False] and list(answers) == [True, None, False]
    assert answers[-1] is False and answers[0] is True and answers[1] is None
    for row in (3, -4, 10**9):
        with pytest.raises(IndexError):
            answers[row]
    with pytest.raises(ValueError, match="nulls"):
        answers.to_numpy()
    assert pa.array(answers).equals(pa.array([True, None, False]))
    assert pa.array(answers).validate(full=True) is None
    again = bf.contains_many(Column(), nulls=False)
    assert again.to_numpy().tolist() == [True, False, False] and again.null_count == 0
    with pytest.raises(ValueError, match="nulls is None or False"):
        bf.contains_many(["a"], nulls=True)
    assert "rows=3" in repr(answers)


def test_columns_with_a_hash_function() -> None:
    def length(obj: object) -> int:
        return len(str(obj))

    bf = Bloom(100, 1e-9, length)
    bf.insert_many(pa.array(["ant", "bee"]))
    bf.insert_many(np.array(["abcd"]))
    assert "cat" in bf and "four" in bf and "fives" not in bf
    assert bf.contains_many(pa.array(["dog", "x"])) == [True, False]


def test_a_released_capsule_is_an_error() -> None:
    class Column:
        def __init__(self, capsules):
            self.capsules = capsules

        def __arrow_c_array__(self, requested_schema=None):
            return self.capsules

    capsules = pa.array(["a"]).__arrow_c_array__()
    pa.Array._import_from_c_capsule(*capsules)
    with pytest.raises(ValueError, match="released"):
        Bloom(10, 0.1).insert_many(Column(capsules))
    for wrong in (None, (), (1, 2), capsules[::-1]):
        with pytest.raises((TypeError, ValueError, IndexError)):
            Bloom(10, 0.1).insert_many(Column(wrong))


def test_a_failing_stream_is_an_error() -> None:
    def batches():
        yield pa.record_batch({"a": ["first"]})
        raise LookupError("own")

    schema = pa.schema({"a": pa.string()})
    bf = Bloom(10, 1e-6)
    with pytest.raises(Exception, match="own"):
        bf.insert_many(pa.RecordBatchReader.from_batches(schema, batches()))
    assert "first" in bf


def test_one_key_is_not_many() -> None:
    for wrong in ("abc", b"abc", bytearray(b"abc")):
        for call in (Bloom(10, 0.1).insert_many, Bloom(10, 0.1).contains_many, tamis.ConcurrentBloom(10, 0.1).insert_many):
            with pytest.raises(TypeError, match="one key, not many"):
                call(wrong)
        with pytest.raises(TypeError, match="one key, not many"):
            tamis.StaticFilter(wrong, 0.1)
    for wrong in (7, None, object()):
        with pytest.raises(TypeError):
            Bloom(10, 0.1).insert_many(wrong)
