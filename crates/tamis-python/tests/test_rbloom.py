"""The contract of rbloom's Bloom: what runs there runs here."""

from __future__ import annotations

import decimal
import gc
import itertools
import weakref
from hashlib import sha256
from pickle import dumps

import pytest

from tamis import Bloom


def hash_func(obj: object) -> int:
    digest = sha256(dumps(obj)).digest()
    return int.from_bytes(digest[:16], "big", signed=True)


def test_the_quickstart_of_its_documentation() -> None:
    bf = Bloom(200, 0.01)
    bf.add("hello")
    assert "hello" in bf
    assert "world" not in bf
    bf.update(["hello", "world"])
    other_bf = Bloom(200, 0.01)
    other_bf.add("other")
    third_bf = bf | other_bf
    assert "other" in third_bf and "world" in third_bf
    again = bf.copy()
    again.update(other_bf)
    assert again == third_bf
    assert bf.issubset(third_bf) and bf <= third_bf


def test_persistence_of_its_documentation(tmp_path) -> None:
    bf = Bloom(10_000, 0.01, hash_func)
    bf.add("hello")
    bf.add("world")
    bf.save(tmp_path / "bf.bloom")
    loaded_bf = Bloom.load(tmp_path / "bf.bloom", hash_func)
    assert loaded_bf == bf
    bf_bytes = bf.save_bytes()
    loaded = Bloom.load_bytes(bf_bytes, hash_func)
    assert loaded == bf and "hello" in loaded and "never" not in loaded


@pytest.mark.parametrize("path", [str, lambda path: str(path).encode(), lambda path: path])
def test_paths_are_text_bytes_or_pathlike(tmp_path, path) -> None:
    bf = Bloom(100, 0.01)
    bf.add("x")
    bf.save(path(tmp_path / "f"))
    assert "x" in Bloom.load(path(tmp_path / "f"))
    with pytest.raises(FileNotFoundError) as error:
        Bloom.load(path(tmp_path / "none"))
    assert error.value.filename == path(tmp_path / "none")


@pytest.mark.parametrize("items", [0])
def test_no_items(items) -> None:
    with pytest.raises(ValueError, match="at least 1 item"):
        Bloom(items, 0.01)


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1, 2.0, float("nan"), float("inf")])
def test_rates_outside_of_0_and_1(rate) -> None:
    with pytest.raises(ValueError, match="rate"):
        Bloom(10, rate)


@pytest.mark.parametrize("items", [-1, 2**64])
def test_items_outside_of_64_bits(items) -> None:
    with pytest.raises(OverflowError):
        Bloom(items, 0.01)


@pytest.mark.parametrize("arguments", [(1.5, 0.1), ("7", 0.1), (7, "x"), (7, 0.1, 3), (7,), ()])
def test_wrong_types(arguments) -> None:
    with pytest.raises(TypeError):
        Bloom(*arguments)


def test_too_many_items_are_an_error_and_no_abort() -> None:
    with pytest.raises((MemoryError, ValueError)):
        Bloom(10**15, 0.01)
    with pytest.raises((MemoryError, ValueError)):
        Bloom(2**64 - 1, 1e-15)


def test_keyword_names() -> None:
    bf = Bloom(expected_items=10, false_positive_rate=0.1, hash_func=None)
    assert bf.hash_func is hash


def test_properties() -> None:
    bf = Bloom(27000, 0.0317)
    assert abs(bf.size_in_bits - 193960) <= 8
    assert bf.approx_items == 0.0 and isinstance(bf.approx_items, float)
    assert bf.hash_func is hash
    assert Bloom(10, 0.1, hash).hash_func is hash
    assert Bloom(10, 0.1, hash_func).hash_func is hash_func
    assert repr(bf).startswith(f"<Bloom size_in_bits={bf.size_in_bits} approx_items=0.0 ")
    bf.update(range(1000))
    assert abs(bf.approx_items - 1000) < 50


def test_add_takes_one_object_by_position() -> None:
    bf = Bloom(10, 0.1)
    assert bf.add("x") is None
    with pytest.raises(TypeError):
        bf.add(obj="x")
    with pytest.raises(TypeError):
        bf.add()


def test_it_is_no_set() -> None:
    bf = Bloom(10, 0.1)
    with pytest.raises(TypeError):
        hash(bf)
    with pytest.raises(TypeError):
        iter(bf)
    with pytest.raises(TypeError):
        len(bf)


def test_unhashable_objects() -> None:
    bf = Bloom(10, 0.1)
    for bad in ([], {}, set(), bytearray(b"x"), ([],), (1, ([2],))):
        with pytest.raises(TypeError):
            bf.add(bad)
        with pytest.raises(TypeError):
            bad in bf
        with pytest.raises(TypeError):
            bf.update([bad])


def test_an_error_in_hash_passes_through() -> None:
    class Bad:
        def __hash__(self) -> int:
            raise LookupError("own")

    bf = Bloom(10, 0.1)
    with pytest.raises(LookupError, match="own"):
        bf.add(Bad())
    with pytest.raises(LookupError, match="own"):
        Bad() in bf


def test_what_a_hash_function_returns() -> None:
    for good in (-(2**127), 2**127 - 1, 0, -1, True):
        bf = Bloom(10, 0.1, lambda _, good=good: good)
        bf.add("x")
        assert "x" in bf and "anything" in bf
    for bad, error in ((2**127, OverflowError), (-(2**127) - 1, OverflowError), ("1", TypeError)):
        bf = Bloom(10, 0.1, lambda _, bad=bad: bad)
        with pytest.raises(error):
            bf.add("x")
        with pytest.raises(error):
            "x" in bf
    with pytest.raises(TypeError):
        Bloom(10, 0.1, lambda _: 1.0).add("x")


def test_update_takes_filters_and_iterables() -> None:
    bf, other = Bloom(1000, 1e-6), Bloom(1000, 1e-6)
    other.add("other")
    assert bf.update() is None
    bf.update(["a"], ("b",), {"c"}, {"d": 1}, (letter for letter in "ef"), other, bf, "gh")
    assert all(letter in bf for letter in "abcdefgh") and "other" in bf
    with pytest.raises(TypeError):
        bf.update(7)


def test_items_before_an_error_stay() -> None:
    def items():
        yield "before"
        raise LookupError("own")

    bf = Bloom(100, 1e-6)
    with pytest.raises(LookupError, match="own"):
        bf.update(items())
    assert "before" in bf
    with pytest.raises(TypeError):
        bf.update(["also", [], "after"])
    assert "also" in bf and "after" not in bf


def test_union_and_intersection() -> None:
    a, b = Bloom(1000, 1e-6), Bloom(1000, 1e-6)
    a.update(range(100))
    b.update(range(50, 150))
    both, either = a & b, a | b
    assert a.union(b) == either and a.union(range(50, 150)) == either
    assert a.intersection(b) == both and a.intersection(range(50, 150)) == both
    assert a.union() == a and a.union() is not a
    assert a.intersection(b, range(70)).approx_items < 30
    assert all(i in both for i in range(50, 100)) and all(i in either for i in range(150))
    assert 0 not in both
    c = a.copy()
    same = c
    c |= b
    assert c is same and c == either
    c &= a
    assert c is same and c == (either & a)
    c.intersection_update(b, [60])
    assert 60 in c and 70 not in c
    a |= a
    a &= a
    a.update(a)
    a.intersection_update(a)


def test_operators_take_filters_only() -> None:
    bf = Bloom(10, 0.1)
    for other in ([1], {1}, "x", None, 7):
        for operation in ("__or__", "__and__", "__ior__", "__iand__", "__lt__", "__ge__"):
            assert getattr(bf, operation)(other) is NotImplemented
        with pytest.raises(TypeError):
            bf | other
        with pytest.raises(TypeError):
            bf &= other
        with pytest.raises(TypeError):
            bf < other
        assert (bf == other) is False and (bf != other) is True


def test_filters_of_another_shape() -> None:
    bf = Bloom(100, 0.1)
    for other in (Bloom(101, 0.1), Bloom(100, 0.2), Bloom(100, 0.1, hash_func), Bloom(100, 0.1, seed=1)):
        for operation in ("__or__", "__and__", "__ior__", "__iand__", "__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__", "update", "union", "intersection", "intersection_update", "issubset", "issuperset"):
            with pytest.raises(ValueError, match="differ"):
                getattr(bf, operation)(other)
    own = Bloom(100, 0.1, hash_func)
    assert own == Bloom(100, 0.1, hash_func)


def test_order() -> None:
    small, large = Bloom(100, 1e-6), Bloom(100, 1e-6)
    large.update("ab")
    small.add("a")
    assert small < large and small <= large and large > small and large >= small
    assert not large < small and not small > large and small != large
    assert small <= small and not small < small
    assert small.issubset("ab") and small.issubset(large) and not large.issubset("a")
    assert large.issuperset("a") and large.issuperset([]) and not small.issuperset("ab")


def test_bool_clear_and_copy() -> None:
    bf = Bloom(100, 0.1)
    assert not bf
    bf.add(1)
    twin = bf.copy()
    assert bf and twin == bf and twin is not bf
    bf.clear()
    assert not bf and 1 in twin and 1 not in bf


def test_cycles_through_the_hash_function_are_collected() -> None:
    class Function:
        def __call__(self, obj: object) -> int:
            return 1

    function = Function()
    bf = Bloom(10, 0.1, function)
    function.filter = bf
    gone = weakref.ref(bf)
    del bf, function
    gc.collect()
    assert gone() is None


def test_better_than_rbloom_at_large_rates() -> None:
    for rate in (0.26, 0.6, 0.9):
        bf = Bloom(1000, rate)
        assert "x" not in bf
        bf.update(range(1000))
        passed = sum(i in bf for i in range(10**6, 10**6 + 20_000)) / 20_000
        # Five standard deviations of the filter's own fill and of the sample.
        assert abs(passed - rate) < 5 * (0.02 + (rate * (1 - rate) / 20_000) ** 0.5)


def test_better_than_rbloom_with_integers() -> None:
    bf = Bloom(10_000, 0.01)
    bf.update([-1, 0])
    assert -2 not in bf and 2**61 - 1 not in bf
    bf.clear()
    bf.update(i << 40 for i in range(10_000))
    passed = sum((i << 40) in bf for i in range(10_000, 40_000)) / 30_000
    assert passed < 0.01 + 5 * (0.01 / 30_000) ** 0.5 + 0.002


def test_damaged_bytes_are_errors() -> None:
    for data in (b"", b"x", b"\0" * 100):
        with pytest.raises(ValueError):
            Bloom.load_bytes(data, hash_func)
    good = Bloom(100, 0.1).save_bytes()
    for place in range(0, len(good), 7):
        with pytest.raises(ValueError):
            Bloom.load_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(ValueError):
            Bloom.load_bytes(good[:place])


def test_numbers_that_are_equal_are_one_key() -> None:
    bf = Bloom(100, 1e-9)
    bf.add(1)
    for same in (1, 1.0, True, decimal.Decimal(1), 1 + 0j):
        assert same in bf


def test_a_generator_may_use_the_filter() -> None:
    bf = Bloom(1000, 1e-6)

    def items():
        for i in range(100):
            bf.add(("inner", i))
            yield i

    bf.update(items())
    assert all(i in bf and ("inner", i) in bf for i in range(100))


def test_long_iterators() -> None:
    bf = Bloom(10**5, 0.01)
    bf.update(itertools.islice(itertools.count(), 10**5))
    assert 99_999 in bf
