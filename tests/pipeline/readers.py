"""Readers that are independent of qmon: they get the path of a table, and nothing else."""

from __future__ import annotations

from pathlib import Path

import duckdb
import duckdb_extension_delta
import polars
from deltalake import DeltaTable


def duck() -> duckdb.DuckDBPyConnection:
    """Open DuckDB with its reader of Delta from a package, without a network."""
    connection = duckdb.connect()
    (extension,) = Path(str(duckdb_extension_delta.__file__)).parent.rglob("*.duckdb_extension")
    connection.load_extension(str(extension))
    return connection


def counted(lake: Path, table: str) -> dict[str, int]:
    """Return the number of rows that each reader finds, none if the table does not exist yet."""
    path = str(lake / table)
    if not DeltaTable.is_deltatable(path):
        return dict.fromkeys(("duckdb", "polars", "deltalake"), 0)
    with duck() as connection:
        (row,) = connection.execute("SELECT count(*) FROM delta_scan(?)", [path]).fetchall()
    return {
        "duckdb": int(row[0]),
        "polars": int(polars.scan_delta(path).select(polars.len()).collect().item()),
        "deltalake": int(DeltaTable(path).to_pyarrow_dataset().count_rows()),
    }
