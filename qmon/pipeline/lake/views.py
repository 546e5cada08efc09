"""SQL views of the lake: one view with the name of each table, and derived views.

The queries of the derived views are in ``qmon/pipeline/views`` and are the same for all readers. If a function has
another name in DuckDB than in Spark, a macro defines Spark's name in DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from qmon.errors import BadInput
from qmon.pipeline.lake.lake import table_logs
from qmon.pipeline.lake.schema import BATCH
from qmon.pipeline.pipeline_texts import LakeText

READERS: Final = ("duckdb", "spark")
VIEWS: Final = ("minutes_rates", "hours_rates", "days_rates", "counted_samples", "waits", "weeks", "incidents")
_MACROS: Final = (
    "CREATE OR REPLACE MACRO timestamp_seconds(seconds) AS to_timestamp(seconds)",
    "CREATE OR REPLACE MACRO explode(list) AS unnest(list)",
)


def view_statements(reader: str, lake: str) -> Iterator[str]:
    """Yield the statements that create a view for each table below ``lake`` and for each of ``VIEWS``.

    The statements contain absolute paths.
    ``reader``: one of ``READERS``. Raises ``BadInput`` if the lake has no segments yet.
    """
    there = {name: table.uri for name, table in table_logs(lake).items() if table.exists()}
    if not set(BATCH) <= there.keys():
        raise BadInput(LakeText.NO_LAKE.render(lake=lake))
    if reader == "duckdb":
        yield from _MACROS
    for name, path in there.items():
        where = _quote_text(path) if reader == "duckdb" else _quote_name(path)
        source = f"delta_scan({where})" if reader == "duckdb" else f"delta.{where}"
        yield f"CREATE OR REPLACE VIEW {name} AS FROM {source} SELECT *"
    for name in VIEWS:
        yield f"CREATE OR REPLACE VIEW {name} AS\n{view_query(name)}"


def view_query(view: str) -> str:
    """Return the query of one of ``VIEWS``."""
    return files("qmon.pipeline").joinpath("views", f"{view}.sql").read_text(encoding="utf-8").rstrip()


def _quote_text(path: str) -> str:
    return "'" + path.replace("'", "''") + "'"


def _quote_name(path: str) -> str:
    return "`" + path.replace("`", "``") + "`"
