"""Every filter beside a Python set."""

from __future__ import annotations

import ipaddress
import math

import pytest
from conftest import ITEMS, rate_filters
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

import tamis

keys = st.one_of(
    st.text(max_size=8),
    st.binary(max_size=8),
    st.integers(-(2**130), 2**130),
    st.integers(-5, 5),
    st.floats(allow_nan=False),
    st.booleans(),
    st.none(),
    st.dates(),
    st.datetimes(),
    st.uuids(),
    st.ip_addresses(),
    st.tuples(st.integers(0, 3), st.text(max_size=2)),
)


def canonical(key: object) -> object:
    """Text and its bytes are one key, and so are dates and their text: as in the library."""
    if isinstance(key, str):
        return key.encode("utf-8", "surrogatepass")
    if hasattr(key, "isoformat"):
        return key.isoformat().encode()
    if hasattr(key, "packed"):
        return key.packed
    if hasattr(key, "bytes"):
        return key.bytes
    if isinstance(key, tuple):
        return tuple(map(canonical, key))
    return key


@pytest.mark.parametrize("made", rate_filters(), ids=lambda made: made.__name__)
def test_every_filter_is_a_set(made) -> None:
    rate = 1e-7

    class Beside(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.filter = made(ITEMS, rate)
            self.members: dict[object, int] = {}

        @rule(key=keys)
        def add(self, key) -> None:
            self.filter.add(key)
            self.members[canonical(key)] = self.members.get(canonical(key), 0) + 1

        @rule(many=st.lists(keys, max_size=20))
        def insert_many(self, many) -> None:
            new = len({canonical(key) for key in many} - set(self.members))
            assert self.filter.insert_many(many) == new
            for key in many:
                self.members[canonical(key)] = self.members.get(canonical(key), 0) + 1

        @rule(key=keys)
        def ask(self, key) -> None:
            assert (key in self.filter) == (canonical(key) in self.members)

        @rule(many=st.lists(keys, max_size=20))
        def ask_many(self, many) -> None:
            expected = [canonical(key) in self.members for key in many]
            assert self.filter.contains_many(many) == expected
            assert self.filter.contains_many(iter(many)) == expected

        @rule(key=keys)
        def remove(self, key) -> None:
            if not hasattr(self.filter, "remove"):
                return
            if canonical(key) not in self.members:
                with pytest.raises(KeyError):
                    self.filter.remove(key)
                return
            self.filter.remove(key)
            self.members[canonical(key)] -= 1
            if self.members[canonical(key)] == 0:
                del self.members[canonical(key)]

        @rule()
        def through_a_file(self) -> None:
            self.filter = made.load_bytes(self.filter.save_bytes())

        @rule()
        def clear(self) -> None:
            self.filter.clear()
            self.members.clear()

        @invariant()
        def empty_or_not(self) -> None:
            assert bool(self.filter) == bool(self.members)

    run_state_machine_as_test(
        Beside, settings=settings(max_examples=10, stateful_step_count=20, deadline=None)
    )


@settings(max_examples=40, deadline=None)
@given(st.lists(keys, max_size=50), st.lists(keys, max_size=50))
def test_static_filters_beside_a_set(members, strangers) -> None:
    static = tamis.StaticFilter(members, 1e-9)
    inside = {canonical(key) for key in members}
    for key in members + strangers:
        assert (key in static) == (canonical(key) in inside)
    assert not hasattr(static, "add") and not hasattr(static, "insert_many")
    assert static == tamis.StaticFilter.load_bytes(static.save_bytes())


@settings(max_examples=40, deadline=None)
@given(st.lists(keys, max_size=50), st.lists(keys, max_size=50), st.sampled_from(["bloom", "blocked", "split"]))
def test_shared_filters_beside_a_set(members, strangers, layout) -> None:
    shared = tamis.ConcurrentBloom(ITEMS, 1e-9, filter=layout)
    inside = {canonical(key) for key in members}
    assert shared.insert_many(members) == len(inside)
    for key in members + strangers:
        assert (key in shared) == (canonical(key) in inside)
    plain = shared.snapshot()
    assert plain.contains_many(members + strangers) == shared.contains_many(members + strangers)


@settings(max_examples=60, deadline=None)
@given(
    st.sets(st.integers(1, 1000), max_size=5),
    st.lists(st.integers(1, 1000)),
    st.sampled_from(["auto", "egh", "coprime", "rs"]),
    st.booleans(),
)
def test_zone_filters_are_sets(members, asked, code, counting) -> None:
    made = tamis.CountingZoneFilter if counting else tamis.ZoneFilter
    zone = made(range(1, 1001), 5, code=code)
    zone.update(members)
    assert zone.list() == sorted(members) and len(zone) == len(members)
    assert [key in zone for key in asked] == [key in members for key in asked]
    assert zone.contains_many(asked) == [key in members for key in asked]
    assert made.load_bytes(zone.save_bytes()).list() == sorted(members)
    if counting and members:
        gone = members.pop()
        zone.remove(gone)
        assert zone.list() == sorted(members)
        with pytest.raises(KeyError):
            zone.remove(gone)


def test_rates_are_as_planned(empty) -> None:
    made = type(empty)
    for rate in (0.1, 0.01):
        filled = made(10_000, rate)
        filled.insert_many(range(10_000))
        assert all(filled.contains_many(range(10_000)))
        passed = sum(filled.contains_many(range(10**6, 10**6 + 50_000)))
        expected = filled.expected_fpr * 50_000
        assert abs(passed - expected) < 5 * math.sqrt(expected) + 1
        assert filled.expected_fpr < 1.1 * rate
        assert filled.health == "within"
        assert abs(filled.approx_items - 10_000) < 500


def test_what_every_filter_says(empty) -> None:
    assert empty.promise == "rate" and empty.size_in_bits > 0 and empty.file_bytes > 0
    assert empty.hash_family == "fast" and empty.seed == 0
    assert len(empty.save_bytes()) == empty.file_bytes
    assert empty.fill == 0 and empty.expected_fnr == 0 and empty.key_kinds == "none yet"
    empty.add("x")
    empty.add(1)
    assert empty.key_kinds == "text, integers" and empty.fill > 0
    assert type(empty).__name__ in repr(empty) and "health=within" in repr(empty)
    assert empty.picture() is None or "<svg" in empty.picture()


def test_counting_filters() -> None:
    counting = tamis.CountingBloom(100, 0.001, counter_bits=2)
    for _ in range(5):
        counting.add("often")
    assert counting.saturated > 0
    with pytest.raises(tamis.AbsentError, match="certainly absent") as error:
        counting.remove("never")
    assert isinstance(error.value, KeyError) and isinstance(error.value, tamis.Error)
    assert not str(error.value).startswith('"')
    with pytest.raises(ValueError):
        tamis.CountingBloom(100, 0.001, counter_bits=99)


def test_quotient_filters() -> None:
    quotient = tamis.QuotientFilter(100, 0.001)
    quotient.update("aab")
    assert quotient.count("a") == 2 and quotient.count("z") == 0 and len(quotient) == 3
    with pytest.raises(tamis.FullError):
        quotient.insert_many(range(10_000))
    before = quotient.capacity
    quotient.grow()
    assert quotient.capacity > before
    quotient.grow_for(10_000)
    quotient.insert_many(range(5_000))
    assert quotient.capacity >= 10_000 and "a" in quotient
    with pytest.raises(tamis.UnsupportedError):
        quotient & tamis.QuotientFilter(100, 0.001)


def test_scalable_filters() -> None:
    chain = tamis.ScalableBloom(100, 0.001, growth=4)
    chain.insert_many(range(10_000))
    assert chain.links > 2 and chain.health == "within" and all(chain.contains_many(range(10_000)))
    assert chain.capacity >= len(chain) > 9_900
    assert tamis.ScalableBloom.load_bytes(chain.save_bytes()) == chain


def test_zone_filters() -> None:
    hosts = tamis.CountingZoneFilter("ipv4", 4)
    hosts.update(["10.0.0.1", "10.0.0.2"])
    assert ipaddress.ip_address("10.0.0.1") in hosts and 167772162 in hosts
    assert hosts.list() == ["10.0.0.1", "10.0.0.2"]
    hosts.update(["10.0.0.3", "10.0.0.4"])
    with pytest.raises(tamis.FullError, match="4"):
        hosts.add("10.0.0.5")
    assert len(hosts) == 4 and "10.0.0.5" not in hosts
    with pytest.raises(tamis.UniverseError):
        hosts.add("no address")
    with pytest.raises(tamis.UniverseError):
        "no address" in hosts
    with pytest.raises(tamis.PlanError, match="cannot grow"):
        hosts.grow_for(10**6)
    growing = tamis.CountingZoneFilter(1000, 2, code="egh")
    growing.update([3, 5])
    growing.grow_for(3)
    growing.add(7)
    assert growing.list() == [3, 5, 7]
    growing.remove(3)
    growing.shrink_for(2)
    assert growing.list() == [5, 7]
    colours = tamis.ZoneFilter(["red", "green", "blue"], 2)
    colours.add("blue")
    assert colours.list() == ["blue"] and colours.universe.number("blue") == 2
    data = colours.save_bytes()
    with pytest.raises(tamis.UniverseError):
        tamis.ZoneFilter.load_bytes(data)
    assert tamis.ZoneFilter.load_bytes(data, dictionary=["red", "green", "blue"]).list() == ["blue"]
    with pytest.raises(tamis.UniverseError):
        tamis.ZoneFilter.load_bytes(data, dictionary=["red", "blue", "green"])
    beyond = tamis.ZoneFilter(100, 1)
    beyond.add(1)
    beyond.insert_beyond(2)
    assert beyond.health == "beyond" and 1 in beyond and 2 in beyond
    for wrong in (0, "ipv5", range(0), range(5, 1), range(0, 10, 2), ["a", "a"]):
        with pytest.raises(ValueError):
            tamis.ZoneFilter(wrong, 1)
    with pytest.raises(ValueError):
        tamis.ZoneFilter(10, 11)
    with pytest.raises(ValueError):
        tamis.ZoneFilter(10, 1, code="none")
    with pytest.raises(TypeError):
        tamis.Universe.dictionary([object()])


def test_published_filters(tmp_path) -> None:
    words = [f"word {i}" for i in range(1000)]
    for method in ("linear", "bloom"):
        plan = tamis.plan_privacy(1000, 4, method=method)
        release = tamis.publish(words, plan)
        assert release.promise == "privacy" and release.epsilon <= 4
        passed = sum(release.contains_many(words))
        missed = 1000 * release.expected_fnr
        assert abs(1000 - passed - missed) < 5 * math.sqrt(missed) + 5
        strangers = sum(release.contains_many([f"other {i}" for i in range(10_000)]))
        expected = 10_000 * release.expected_fpr
        assert abs(strangers - expected) < 5 * math.sqrt(expected) + 5
        assert not hasattr(release, "add") and not hasattr(release, "list")
        assert math.isnan(release.approx_items)
        release.save(tmp_path / method)
        with tamis.open(tmp_path / method) as opened:
            assert opened.contains_many(words) == release.contains_many(words)
    with pytest.raises(TypeError):
        tamis.publish(words, tamis.plan_rate(1000, 0.01))


def test_the_ledger(tmp_path) -> None:
    path = tmp_path / "ledger"
    ledger = tamis.Ledger.create(path, "10", about="words")
    plan = tamis.plan_privacy(100, 4)
    tamis.publish(["a"], plan, ledger=ledger, note="first")
    tamis.publish(["a"], plan, ledger=ledger, note="second")
    with pytest.raises(tamis.BudgetError, match="budget"):
        tamis.publish(["a"], plan, ledger=ledger)
    again = tamis.Ledger.open(path)
    assert [entry.note for entry in again.entries] == ["first", "second"]
    assert again.spent == pytest.approx(2 * plan.epsilon) and again.about == "words"
    assert again.left == pytest.approx(again.budget - again.spent)
    assert "spent=" in repr(again) and "note=" in repr(again.entries[0])
    with pytest.raises(tamis.LedgerError):
        tamis.Ledger.create(path, 1)
    with pytest.raises(FileNotFoundError):
        tamis.Ledger.open(tmp_path / "none")
    (tmp_path / "other").write_text("something else\n")
    with pytest.raises(tamis.LedgerError):
        tamis.Ledger.open(tmp_path / "other")
    for wrong in (-1, float("nan"), "x", 0):
        with pytest.raises(ValueError):
            ledger.charge(wrong)
    with pytest.raises(TypeError):
        ledger.charge(None)


def test_plans() -> None:
    plan = tamis.plan_rate(10**6, 0.01)
    assert plan == tamis.plan_rate(items=10**6, fpr=0.01) and plan != tamis.plan_rate(10**6, 0.02)
    assert plan.promise == "rate" and plan.filter == "bloom" and plan.hashes == 7
    assert plan.bytes == 1_198_133 and plan.as_dict()["bytes"] == plan.bytes
    assert plan.build().plan == plan
    assert plan.expected_fpr(0) == 0 and plan.expected_fpr(10**6) == pytest.approx(0.01, rel=0.01)
    assert tamis.plan_rate(10**6, bits=2**23).fpr < 0.03
    assert tamis.plan_rate(fpr=0.01, bits=2**23).items > 800_000
    for name in ("blocked", "split", "counting", "quotient"):
        built = tamis.plan_rate(1000, 0.01, filter=name).build()
        assert built.kind == name and built.plan.filter == name
    assert tamis.plan_rate(1000, 0.01, filter="static").filter == "static"
    with pytest.raises(TypeError):
        tamis.plan_rate(1000, 0.01, filter="static").build()
    with pytest.raises(TypeError):
        tamis.plan_rate(1000)
    with pytest.raises(ValueError):
        tamis.plan_rate(1000, 0.01, filter="none")
    zone = tamis.plan_zone("ipv4", 4, counting=True)
    assert zone.promise == "zone" and zone.zone >= 4 and zone.counting and zone.fpr == 0
    assert zone.build().kind == "counting zone" and zone.universe == tamis.Universe.ipv4()
    assert zone.certificate and zone.code in ("rs", "egh", "coprime") and zone.probes > 0
    privacy = tamis.plan_privacy(1000, "0.5", fpr=0.2)
    assert privacy.promise == "privacy" and privacy.method == "linear" and 0 < privacy.fnr < 1
    for each in (plan, zone, privacy):
        assert "promise" in str(each) and "items" in repr(each)
        assert "<svg" in each._repr_html_() and "<svg" in each.chart()
    for wrong in (0, -1, "none", float("nan")):
        with pytest.raises(ValueError):
            tamis.plan_privacy(10, wrong)


def test_seeds_and_secret_keys(empty) -> None:
    made = type(empty)
    seeded = made(100, 1e-6, seed=7)
    seeded.add("x")
    assert seeded.seed == 7 and "x" in seeded
    secret = made(100, 1e-6, key=b"a secret of 16 bytes or more")
    secret.add("x")
    assert "x" in secret and "y" not in secret and secret.hash_family == "keyed"
    data = secret.save_bytes()
    with pytest.raises(tamis.SecretError):
        made.load_bytes(data)
    with pytest.raises(tamis.SecretError):
        made.load_bytes(data, key=b"another secret of many bytes")
    assert "x" in made.load_bytes(data, key=b"a secret of 16 bytes or more")
    with pytest.raises(tamis.SecretError):
        secret.__reduce__()
    with pytest.raises(tamis.SecretError):
        made(100, 0.1, key=b"short")
    with pytest.raises(TypeError):
        made(100, 0.1, key=b"a secret of 16 bytes or more", seed=1)
