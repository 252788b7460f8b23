"""Python's equality decides which objects are one key, and keys last."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import fractions
import ipaddress
import struct
import subprocess
import sys
import uuid
from collections import namedtuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis import Bloom

Point = namedtuple("Point", "x y")


class Colour(str, enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Name(str):
    pass


UTC = dt.timezone.utc
EAST = dt.timezone(dt.timedelta(hours=2))

ONE_KEY = [
    [1, 1.0, True, decimal.Decimal("1.0"), fractions.Fraction(1), 1 + 0j],
    [0, -0.0, False, decimal.Decimal("-0"), 0j],
    [2**63, float(2**63), decimal.Decimal(2**63)],
    [-(2**63) - 2048, float(-(2**63) - 2048)],
    [2**64, float(2**64)],
    [2**127, 2.0**127],
    [-(2**127), -(2.0**127)],
    [2**128, 2.0**128, decimal.Decimal(2**128)],
    [-(2**128), -(2.0**128)],
    [-(2**135), -(2.0**135)],
    [2**1000, 2.0**1000, fractions.Fraction(2**1000)],
    [-3 * 2**1000, -3 * 2.0**1000],
    [int(1.7e308), 1.7e308],
    [0.5, decimal.Decimal("0.5"), fractions.Fraction(1, 2), 0.5 + 0j],
    [decimal.Decimal("0.1"), fractions.Fraction(1, 10)],
    [1 + 2j, complex(1, 2)],
    ["red", Colour.RED, Name("red")],
    [3, Level.HIGH],
    [(1, 2), Point(1, 2), (1.0, True + 1)],
    [b"ab", memoryview(b"ab")],
    [dt.datetime(2024, 1, 31, 12, tzinfo=UTC), dt.datetime(2024, 1, 31, 14, tzinfo=EAST)],
    [float("inf"), decimal.Decimal("inf")],
]

ALL_DIFFERENT = [
    None,
    "",
    (),
    ("",),
    ((),),
    "None",
    0,
    1,
    -1,
    -2,
    "1",
    2**61 - 1,
    2**64 - 1,
    2**64,
    2**128,
    -(2**63),
    -(2**64),
    -(2**128),
    0.1,
    decimal.Decimal("0.1"),
    float("inf"),
    -float("inf"),
    float("nan"),
    1j,
    ("a", "b"),
    ("ab",),
    ("a", ("b",)),
    (1, "a"),
    ("1", "a"),
    (None,),
    uuid.UUID(int=7),
    ipaddress.ip_address("10.0.0.1"),
    ipaddress.ip_address("::ffff:10.0.0.1"),
    ipaddress.ip_address("fe80::1%eth0"),
    ipaddress.ip_address("fe80::1"),
    dt.date(2024, 1, 31),
    dt.datetime(2024, 1, 31),
    dt.datetime(2024, 1, 31, tzinfo=UTC),
    dt.time(12, 30),
    "\ud800",
    "\udfff",
    "naïve",
    "nai\u0308ve",
    "\U0001f41c",
]


@pytest.mark.parametrize("same", ONE_KEY, ids=lambda same: repr(same[0])[:30])
def test_equal_objects_are_one_key(same) -> None:
    for first in same:
        for second in same:
            assert first == second and hash(first) == hash(second)
            bf = Bloom(10, 1e-12)
            bf.add(first)
            assert second in bf, (first, second)
            assert bf.contains_many([second]) == [True]
            assert Bloom.load_bytes(bf.save_bytes()) == bf


def test_different_objects_are_different_keys() -> None:
    for place, first in enumerate(ALL_DIFFERENT):
        bf = Bloom(10, 1e-12)
        bf.add(first)
        assert first in bf
        for other in ALL_DIFFERENT[:place] + ALL_DIFFERENT[place + 1 :]:
            assert other not in bf, (first, other)
        bf.save_bytes()


def test_text_and_its_bytes_are_one_key_as_in_the_library() -> None:
    bf = Bloom(10, 1e-12)
    bf.update(["naïve", b"ant"])
    assert "naïve".encode() in bf and "ant" in bf
    bf.add(uuid.UUID("12345678-1234-5678-1234-567812345678"))
    assert uuid.UUID("12345678-1234-5678-1234-567812345678").bytes in bf
    bf.add(dt.date(2024, 1, 31))
    assert "2024-01-31" in bf
    bf.add(ipaddress.ip_address("10.0.0.1"))
    assert b"\n\0\0\1" in bf


number = st.one_of(
    st.integers(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.booleans(),
    st.fractions(),
    st.decimals(allow_nan=False, places=3),
    st.complex_numbers(allow_nan=False),
)


@given(number, number)
def test_numbers_are_one_key_if_they_are_equal(a, b) -> None:
    bf = Bloom(10, 1e-12)
    bf.add(a)
    assert a in bf
    if a == a and b == b:
        assert (b in bf) == (a == b)


@given(st.integers())
def test_integers_and_their_floats(value) -> None:
    try:
        number = float(value)
    except OverflowError:
        return
    bf = Bloom(10, 1e-12)
    bf.add(int(number))
    assert number in bf and decimal.Decimal(int(number)) in bf


class Own:
    """An object that only its hash knows."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own) and self.name == other.name


class Caseless(str):
    def __hash__(self) -> int:
        return hash(self.lower())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and self.lower() == other.lower()


@pytest.mark.parametrize(
    ("key", "same", "other"),
    [
        (Own("a"), Own("a"), Own("b")),
        (frozenset({1, 2}), frozenset({2, 1}), frozenset({1})),
        ((1, Own("a")), (1.0, Own("a")), (1, Own("b"))),
        (int, int, str),
        (Caseless("Ab"), Caseless("aB"), Caseless("b")),
        (dt.timedelta(1), dt.timedelta(hours=24), dt.timedelta(2)),
    ],
)
def test_other_objects_work_in_memory_only(key, same, other) -> None:
    bf = Bloom(100, 1e-9)
    bf.add("lasting")
    bf.save_bytes()
    bf.add(key)
    assert same in bf and other not in bf and "lasting" in bf
    assert "hashed values" in bf.key_kinds
    for filters in (bf, bf.copy(), bf | Bloom(100, 1e-9), Bloom(100, 1e-9) | bf):
        with pytest.raises(tamis.HashedKeysError, match="cannot be saved or pickled"):
            filters.save_bytes()
        with pytest.raises(ValueError):
            filters.save("never-made")
        with pytest.raises(tamis.HashedKeysError):
            filters.__reduce__()
    bulk = Bloom(100, 1e-9)
    bulk.insert_many([key])
    assert same in bulk
    with pytest.raises(tamis.HashedKeysError):
        bulk.save_bytes()
    static = tamis.StaticFilter([key], 1e-6)
    assert same in static
    with pytest.raises(tamis.HashedKeysError):
        static.save_bytes()
    with pytest.raises(tamis.HashedKeysError):
        tamis.publish([key], tamis.plan_privacy(10, 1))
    bf.clear()
    bf.save_bytes()


def test_deep_tuples_are_an_error_and_no_crash() -> None:
    key: tuple = ()
    for _ in range(150):
        key = (key,)
    bf = Bloom(10, 0.01)
    bf.add(key)
    assert key in bf
    for _ in range(100_000):
        key = (key,)
    with pytest.raises(RecursionError):
        bf.add(key)
    # Python's own destructor of such a tuple is safe.
    del key


def test_huge_decimals_are_an_error_and_no_hang() -> None:
    with pytest.raises(OverflowError, match="use its text"):
        Bloom(10, 0.01).add(decimal.Decimal("1e999999"))
    with pytest.raises(OverflowError, match="use its text"):
        decimal.Decimal("1e-999999") in Bloom(10, 0.01)


def test_the_same_filter_in_another_process(tmp_path) -> None:
    keys = [key for key in ALL_DIFFERENT if key == key]
    bf = Bloom(100, 1e-9)
    bf.update(keys)
    bf.save(tmp_path / "keys.tamis")
    program = """
import sys, datetime as dt, decimal, ipaddress, uuid
sys.path.insert(0, sys.argv[2])
from test_keys import ALL_DIFFERENT
import tamis
with tamis.open(sys.argv[1]) as opened:
    assert all(key in opened for key in ALL_DIFFERENT if key == key)
    assert "stranger" not in opened
"""
    folder = __file__.rpartition("/")[0]
    arguments = [sys.executable, "-c", program, str(tmp_path / "keys.tamis"), folder]
    subprocess.run(arguments, check=True, env={"PYTHONHASHSEED": "12345", "PATH": ""})


def part(key: object) -> bytes:
    """A part of a tuple, as FORMAT.md says: its tag, its length, its bytes."""
    if isinstance(key, int) and -(2**63) <= key < 2**64:
        content, tag = (key % 2**64).to_bytes(8, "little"), 1 if key >= 0 else 2
    else:
        content, tag = encoded(key), 0
    return bytes([tag]) + len(content).to_bytes(8, "little") + content


def encoded(key: object) -> bytes:
    """The bytes of a key that is written out, as FORMAT.md says."""
    if isinstance(key, str):
        return key.encode("utf-8", "surrogatepass")
    if isinstance(key, int):
        size = 16 if -(2**127) <= key < 2**128 else key.bit_length() // 8 + 1
        return (key % 2 ** (8 * size)).to_bytes(size, "little") + (b"\1" if key >= 0 else b"\2")
    if isinstance(key, float):
        return b"\xffF" + struct.pack("<d", key)
    if isinstance(key, complex):
        return b"\xffC" + struct.pack("<dd", key.real, key.imag)
    if key is None:
        return b"\xffN"
    if isinstance(key, tuple):
        return b"".join(map(part, key)) or b"\xffT"
    if isinstance(key, (fractions.Fraction, decimal.Decimal)):
        above, below = key.as_integer_ratio()
        return b"\xffR" + part(above) + part(below)
    if isinstance(key, uuid.UUID):
        return key.bytes
    if isinstance(key, (ipaddress.IPv4Address, ipaddress.IPv6Address)):
        scope = getattr(key, "scope_id", None)
        return key.packed + (b"%" + scope.encode() if scope else b"")
    assert isinstance(key, (dt.date, dt.time))
    return key.isoformat().encode()


WRITTEN_OUT = [key for key in ALL_DIFFERENT if not (type(key) is int and -(2**63) <= key < 2**64)]


@pytest.mark.parametrize("key", [*WRITTEN_OUT, 2**1000 + 1, -(2**127) - 1], ids=lambda key: repr(key)[:30])
def test_keys_are_encoded_as_the_specification_says(key) -> None:
    bf = Bloom(10, 1e-12)
    bf.add(key)
    assert encoded(key) in bf
    bf.clear()
    bf.add(encoded(key))
    assert key in bf


def test_known_bits() -> None:
    """The bits of a small filter: no release changes how keys are encoded and hashed."""
    bf = Bloom(20, 0.01)
    bf.update(["ant", b"bee", 7, -7, 2**70, 2**200, 0.5, None, ("ab", 7), uuid.UUID(int=1)])
    assert bf.save_bytes()[128:].hex() == "a1943a0e04018209b0042106235600912a58450911484011"
