"""Filters that several processes build, and what a ledger says of the future."""

from __future__ import annotations

import pickle
from decimal import Decimal

import pytest

import tamis


def built(parts: tamis.Parts, *sources) -> list[bytes]:
    """All parts, of keys that several processes have."""
    # Every process has its own copy.
    parts = pickle.loads(pickle.dumps(parts))
    hands = [hand for keys in sources for hand in parts.deal(keys)]
    numbers = range(parts.of, 0, -1)
    return [parts.build(n, [some for to, some in hands if to == n]) for n in numbers]


@pytest.mark.parametrize("of", [1, 2, 7])
def test_parts_join_to_the_local_file(of) -> None:
    keys = [f"key {i}" for i in range(3000)]
    parts = tamis.Parts.static(3000, 0.01, of=of)
    joined = parts.join(built(parts, keys[:2000], keys[1000:], []))
    assert joined.save_bytes() == tamis.StaticFilter(keys, 0.01).save_bytes()
    assert len(joined.save_bytes()) == parts.file_bytes
    seeded = tamis.Parts.static(3000, 0.01, of=of, seed=9)
    local = tamis.StaticFilter(keys, 0.01, seed=9)
    assert seeded.join(built(seeded, keys)).save_bytes() == local.save_bytes()


def test_several_shards_and_kinds_of_keys() -> None:
    numpy = pytest.importorskip("numpy")
    keys = numpy.arange(1_100_000, dtype="int64") - 7
    parts = tamis.Parts.static(1_100_001, 0.05, of=2)
    assert parts.shards == 2
    joined = parts.join(built(parts, keys[:600_000], keys[600_000:], ["ant"]))
    assert joined.contains_many(keys).all() and "ant" in joined


def test_a_release_is_charged_when_it_is_joined(tmp_path) -> None:
    ledger = tamis.Ledger.create(tmp_path / "book", 5)
    parts = tamis.Parts.linear(20_000, 4, of=3, seed=11)
    assert ledger.charges_left(parts.epsilon) == 1
    bodies = built(parts, range(20_000))
    with pytest.raises(tamis.MismatchError, match="missing"):
        parts.join(bodies[1:], ledger=ledger)
    assert ledger.spent == 0
    release = parts.join(bodies, ledger=ledger, note="spring")
    assert ledger.spent == release.epsilon == parts.epsilon
    assert [entry.note for entry in ledger.entries] == ["spring"]
    assert sum(release.contains_many(list(range(20_000)))) > 19_000
    with pytest.raises(tamis.BudgetError):
        parts.join(bodies, ledger=ledger)
    # The join draws nothing, the parts are drawn afresh.
    assert parts.join(bodies).save_bytes() == release.save_bytes()
    assert parts.join(built(parts, range(20_000))).save_bytes() != release.save_bytes()


def test_what_is_wrong_is_told() -> None:
    parts = tamis.Parts.static(100, 0.01, of=2)
    bodies = built(parts, range(100))
    with pytest.raises(tamis.MismatchError, match="twice"):
        parts.join([bodies[0], bodies[0]])
    with pytest.raises(tamis.MismatchError, match="no part was given"):
        parts.join([])
    with pytest.raises(tamis.FileError, match="not a part"):
        parts.join([b"ant"])
    with pytest.raises(tamis.FileError, match="damaged"):
        parts.join([bodies[0][:-1] + bytes([bodies[0][-1] ^ 1])])
    with pytest.raises(tamis.FileError, match="no digests"):
        parts.build(1, [b"\x01ant"])
    with pytest.raises(tamis.FileError, match="no digests"):
        parts.build(1, [b""])
    with pytest.raises(tamis.FileError, match="no digests"):
        parts.build(1, [b"\xff"])
    with pytest.raises(TypeError):
        parts.build(1, ["ant"])
    for number in (0, 3):
        with pytest.raises(tamis.PlanError, match="no part"):
            parts.build(number, [])
    with pytest.raises(tamis.PlanError):
        tamis.Parts.static(100, 0.01, of=0)
    with pytest.raises(tamis.PlanError):
        tamis.Parts.static(100, 2.0, of=1)
    with pytest.raises(tamis.Error):
        tamis.Parts.linear(100, 0, of=1, seed=1)
    with pytest.raises(tamis.HashedKeysError):
        parts.deal([frozenset({1})])
    with pytest.raises(TypeError, match="one key"):
        parts.deal("ant")
    # A digest that was dealt to another part is not lost silently.
    large = tamis.Parts.static(2_000_000, 0.01, of=2)
    (to, hand), *_ = large.deal([1])
    with pytest.raises(tamis.MismatchError, match="another part"):
        large.build(3 - to, [hand])
    with pytest.raises(tamis.PlanError, match="10 were planned"):
        few = tamis.Parts.static(10, 0.01, of=1)
        few.join(built(few, range(100)))


def test_a_ledger_may_have_a_delta(tmp_path) -> None:
    plain = tamis.Ledger.create(tmp_path / "plain", 4)
    assert plain.delta is None and plain.charges_left(Decimal("0.1")) == 40
    daily = tamis.Ledger.create(tmp_path / "daily", 4, delta=1e-6, about="daily")
    assert daily.delta == 1e-6 and daily.charges_left(0.1) > 40
    assert daily.charges_left(0.1, most=3) == 3
    daily.charge(0.1)
    assert tamis.Ledger.open(tmp_path / "daily").delta == 1e-6
    for wrong in (0, 1, -1e-6, "often", True):
        with pytest.raises((tamis.Error, TypeError)):
            tamis.Ledger.create(tmp_path / "wrong", 4, delta=wrong)
    assert not (tmp_path / "wrong").exists()
