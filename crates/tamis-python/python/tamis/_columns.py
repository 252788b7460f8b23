"""Gives the answers about a column in the library of the column."""

from __future__ import annotations
from typing import Any


def like(column: Any, answers: Any) -> Any:
    """The answers as pyarrow, Polars or pandas would hold them, else as tamis.Booleans."""
    library = type(column).__module__.partition(".")[0]
    if library == "pyarrow":
        import pyarrow

        return pyarrow.array(answers)
    if library == "polars":
        import polars

        return polars.Series(answers)
    if library == "pandas":
        import pandas

        values = answers.to_pylist() if answers.null_count else answers.to_numpy()
        dtype = "boolean" if answers.null_count else "bool"
        index = getattr(column, "index", None)
        return pandas.Series(values, index=index, dtype=dtype)
    return answers
