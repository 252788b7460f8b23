"""Filters as functions of DuckDB.

>>> import duckdb, tamis, tamis.duckdb
>>> seen = tamis.Bloom(1000, 0.001)
>>> seen.insert_many(duckdb.sql("select unnest(['ant', 'bee'])"))
2
>>> connection = duckdb.connect()
>>> tamis.duckdb.register(connection, "seen", seen)
>>> connection.sql("select word from (values ('ant'), ('cat')) t(word) where seen(word)").fetchall()
[('ant',)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb

if TYPE_CHECKING:
    from . import ConcurrentBloom, Filter

__all__ = ["register"]


def register(
    connection: Any,
    name: str,
    filter: Filter | ConcurrentBloom,
    type: str = "VARCHAR",
) -> None:
    """Makes `name(column)` a function of SQL that says whether a row passes the filter.

    `type` is the SQL type of the column: VARCHAR, BLOB, BIGINT, UBIGINT, DOUBLE, ... DuckDB hands
    columns over as Arrow, so their memory is read as it is. A null is answered by null. Call
    `connection.remove_function(name)` to take the function away.
    """

    def ask(column: Any) -> Any:
        return filter.contains_many(column)

    connection.create_function(name, ask, [type], duckdb.sqltype("BOOLEAN"), type="arrow")
