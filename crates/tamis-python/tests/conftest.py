"""What the tests share."""

from __future__ import annotations

import pytest

import tamis

ITEMS = 2000


def rate_filters() -> list[type]:
    """The filters that take keys as they come."""
    return [
        tamis.Bloom,
        tamis.BlockedBloom,
        tamis.SplitBloom,
        tamis.CountingBloom,
        tamis.QuotientFilter,
        tamis.ScalableBloom,
    ]


@pytest.fixture(params=rate_filters(), ids=lambda made: made.__name__)
def empty(request: pytest.FixtureRequest) -> tamis.MutableFilter:
    """An empty filter of each kind that takes keys."""
    made: tamis.MutableFilter = request.param(ITEMS, 1e-6)
    return made
