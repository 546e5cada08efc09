"""The page about the lake: every table and column exists, every statement runs, and three readers agree."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.lake.maintenance import LakeRetention, tidy_lake
from qmon.pipeline.lake.schema import BATCH, TABLES
from qmon.pipeline.lake.views import VIEWS, view_query, view_statements
from qmon.pipeline.rollup.incident_rollup import incidents_from_runs
from tests.cli.calling import ROOT, call
from tests.pipeline import reference
from tests.pipeline.comparing import START, run
from tests.pipeline.readers import counted, duck
from tests.pipeline.recordings import Watched, rows

pytestmark = pytest.mark.timeout(1200)
PAGE = (ROOT / "docs" / "lake.md").read_text(encoding="utf-8")


def test_the_page_names_every_column() -> None:
    parts = {
        name: text
        for title, text in re.findall(r"^### (.+?)\n(.*?)(?=^##)", PAGE, re.S | re.M)
        for name in title.split(", ")
    }
    assert parts.keys() == TABLES.keys()
    of_minutes = set(re.findall(r"\w+", parts["minutes"]))
    for name, schema in TABLES.items():
        said = set(re.findall(r"\w+", parts[name])) | (of_minutes if name in ("hours", "days") else set())
        assert set(schema.fieldNames()) <= said, name


def test_other_readers_read_the_lake_by_its_path_alone(spark: SparkSession, tmp_path: Path) -> None:
    """Run every statement of the page, after a late segment, and again after the lake was compacted and vacuumed."""
    root, place = tmp_path / "recordings", tmp_path / "lake"
    watched = [Watched(root, "shop", "aaaaaaaaaaaa"), Watched(root, "shop", "bbbbbbbbbbbb")]
    watched[0].record(START, 60, seed=1, trouble=range(5, 40))
    run(spark, root, place)
    watched[1].record(START - 1800, 30, seed=2)  # late, of the same hour
    lake = run(spark, root, place)
    expected = reference.unique(row for each in watched for row in rows(each.written))
    hours = reference.rollup(reference.measured(expected), 3600)
    for tidied in (False, True):
        if tidied:
            tidy_lake(lake.storage.root, LakeRetention(unused_s=0.0))
        for name, count in (("samples", len(expected)), ("hours", len(hours))):
            found = counted(place, name) | {"spark": lake.view().read(name).count()}
            assert set(found.values()) == {count}, (name, found)
    with duck() as connection:
        for statement in call("pipeline", "views", "--lake", str(place)).stdout.split(";\n"):
            if statement.strip():
                connection.execute(statement)
        pushed = connection.execute("SELECT sum(pushed) FROM hours").fetchall()
        assert pushed == [(pytest.approx(sum(row["pushed"] or 0.0 for row in hours.values())),)]
        the_views(lake, connection)
        whole = [connection.execute(each).fetchall() for each in queries()]
    in_spark(lake)
    assert [len(spark.sql(each).collect()) for each in queries()] == [len(each) for each in whole]
    assert len(whole) >= 7
    assert all(statement.startswith("CREATE OR REPLACE VIEW") for statement in view_statements("spark", str(place)))


def queries() -> list[str]:
    """Return the statements of the page."""
    return re.findall(r"```sql\n(.*?)```", PAGE, re.S)


def the_views(lake: Lake, connection: duckdb.DuckDBPyConnection) -> None:
    """Incidents equal those of the report, and a week's percentiles equal those of its only day."""
    found = connection.execute("SELECT target, queue, start_at, end_at, cause, proof FROM incidents").fetchall()
    known = incidents_from_runs(lake.view().read("runs")).select(
        "target", "queue", "start_at", "end_at", "cause", "proof"
    )
    assert sorted(found) == sorted(tuple(row) for row in known.collect())
    columns = "target, queue, pushed, ready_p50, ready_p95, oldest_p99"
    week, day = (
        connection.execute(f"SELECT {columns} FROM {name} ORDER BY ALL").fetchall() for name in ("weeks", "days")
    )
    assert week == day


def in_spark(lake: Lake) -> None:
    """Create views with the same names in a Spark without Delta Lake, over the current files."""
    view = lake.view()
    for name in (*BATCH, "segments"):
        view.read(name).createOrReplaceTempView(name)
    for name in VIEWS:
        lake.session.sql(view_query(name)).createOrReplaceTempView(name)
