"""Filters and pandas: an accessor for series.

>>> import pandas, tamis, tamis.pandas
>>> seen = tamis.Bloom(1000, 0.001)
>>> seen.insert_many(pandas.Series(["ant", "bee"]))
2
>>> words = pandas.Series(["ant", "cat", None])
>>> words[words.tamis.isin(seen)].tolist()
['ant']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas

if TYPE_CHECKING:
    from . import ConcurrentBloom, Filter, MutableFilter

__all__ = ["Accessor", "isin"]


def isin(series: Any, filter: Filter | ConcurrentBloom) -> Any:
    """Whether each row passes the filter, as a series of bool. A missing value is False, as in
    `Series.isin`."""
    return filter.contains_many(series, nulls=False)


@pandas.api.extensions.register_series_accessor("tamis")
class Accessor:
    """`series.tamis`, once `tamis.pandas` was imported."""

    def __init__(self, series: Any) -> None:
        self._series = series

    def isin(self, filter: Filter | ConcurrentBloom) -> Any:
        """Whether each row passes the filter."""
        return isin(self._series, filter)

    def insert_into(self, filter: MutableFilter | ConcurrentBloom) -> int:
        """Puts all values that are not missing into the filter; says how many were new."""
        return filter.insert_many(self._series)
