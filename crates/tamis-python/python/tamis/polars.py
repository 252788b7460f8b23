"""Filters in Polars expressions.

>>> import polars, tamis
>>> from tamis.polars import contains
>>> seen = tamis.Bloom(1000, 0.001)
>>> seen.insert_many(["ant", "bee"])
2
>>> frame = polars.DataFrame({"word": ["ant", "cat", None]})
>>> frame.filter(contains(polars.col("word"), seen))["word"].to_list()
['ant']
>>> frame.lazy().select(contains("word", seen)).collect()["word"].to_list()
[True, False, None]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import polars

if TYPE_CHECKING:
    from . import ConcurrentBloom, Filter

__all__ = ["contains"]


def contains(
    expr: polars.Expr | str,
    filter: Filter | ConcurrentBloom,
    *,
    nulls: Literal[False] | None = None,
) -> polars.Expr:
    """Whether each row passes the filter, as an expression of bool.

    The column's memory is read as it is, a batch at a time, and Polars' threads ask at once. A null
    stays null, which `DataFrame.filter` drops, or becomes False with `nulls=False`.
    """
    column = polars.col(expr) if isinstance(expr, str) else expr

    def ask(rows: polars.Series) -> polars.Series:
        answers: polars.Series = filter.contains_many(rows, nulls=nulls)
        return answers.rename(rows.name)

    return column.map_batches(ask, return_dtype=polars.Boolean, is_elementwise=True)
