"""A program for `mypy --strict`, which runs too."""

from __future__ import annotations

import tamis
from tamis import Bloom


def length(obj: object) -> int:
    return len(str(obj))


def main() -> None:
    seen: Bloom = Bloom(1000, 0.01)
    seen.add("ant")
    found: bool = "ant" in seen
    assert found
    new: int = seen.insert_many(["bee", 7, None])
    assert new == 3
    either: Bloom = seen | Bloom(1000, 0.01)
    either |= seen
    either.update(["cat"], seen)
    assert either >= seen and seen.issubset(either)
    own = Bloom(1000, 0.01, length)
    own.add("abc")
    again: Bloom = Bloom.load_bytes(own.save_bytes(), length)
    assert again.hash_func is length
    bits: int = seen.size_in_bits
    items: float = seen.approx_items
    assert bits > 0 and items > 0
    static = tamis.StaticFilter(["ant"], 0.01)
    assert "ant" in static and static.promise == "rate"
    zone = tamis.ZoneFilter(range(1, 49), 6)
    zone.update([3, 11])
    names: list[int] = zone.list()
    assert names == [3, 11] and len(zone) == 2
    plan = tamis.plan_privacy(100, 4)
    release = tamis.publish(["ant"], plan)
    assert release.epsilon == plan.epsilon
    try:
        Bloom(0, 0.01)
    except tamis.PlanError as error:
        message: str = str(error)
        assert "at least 1 item" in message
    count = tamis.plan_rate(1000, 0.01).build()
    with count as opened:
        opened.add(1)
    shared = tamis.ConcurrentBloom(1000, 0.01)
    shared.insert_many(range(10))
    assert 3 in shared.snapshot()


if __name__ == "__main__":
    main()
