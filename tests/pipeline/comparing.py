"""A whole lake compared with the same recordings in plain Python."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from qmon.pipeline.ingest.segment_intake import SegmentIntake
from qmon.pipeline.ingest.segment_intake import run_intake as take_in
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.rollup.incident_rollup import incidents_from_runs
from qmon.pipeline.rollup.minute_sums import HOUR_S, MINUTE_S
from qmon.pipeline.rollup.rollups import DAY_S
from tests.pipeline import reference

# Across midnight, and across the end of summer time in Berlin.
START = datetime(2026, 10, 24, 23, 40, tzinfo=UTC).timestamp()


def same(found: Any, expected: Any) -> bool:
    """Return whether they are equal, except for the order in which numbers were added."""
    if isinstance(found, float) and isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    return bool(found == expected)


def run(spark: SparkSession, recordings: Path, lake: Path) -> Lake:
    """Ingest all sealed segments into the lake, once."""
    found = Lake(spark, str(lake))
    take_in(SegmentIntake(found, str(recordings)))
    return found


def counted(lake: Lake, expected: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Check that each of these rows is in the lake once, and nothing else. Return them without duplicates."""
    unique = reference.unique(expected)
    found = [(r.target, r.recorder, r.sequence, r.queue) for r in lake.view().read("samples").collect()]
    assert sorted(found) == [(r["target"], r["recorder"], r["sequence"], r["queue"]) for r in unique]
    return unique


def compared(lake: Lake, expected: list[dict[str, Any]]) -> None:
    """Compare the whole lake with the reference on these rows."""
    unique = counted(lake, expected)
    rolled_up(lake, unique)
    stretches = incidents_from_runs(lake.view().read("runs")).orderBy("target", "queue", "start_at").collect()
    wanted_stretches = reference.incidents(unique)
    assert [
        {name: row[name] for name in want} for row, want in zip(stretches, wanted_stretches, strict=True)
    ] == wanted_stretches


def rolled_up(lake: Lake, unique: list[dict[str, Any]], since: str = "") -> None:
    """Compare minutes, hours and days, from the day ``since`` on, with the reference on these rows."""
    measured = reference.measured(unique)
    for table, seconds in (("minutes", MINUTE_S), ("hours", HOUR_S), ("days", DAY_S)):
        wanted = {
            key: row for key, row in reference.rollup(measured, seconds).items() if reference.date(key[-1]) >= since
        }
        rows = [row for row in lake.view().read(table).collect() if str(row.date) >= since]
        found = {(r.target, r.queue, r.start_at): r.asDict() for r in rows}
        assert found.keys() == wanted.keys()
        assert len(rows) == len(found)
        for key, row in wanted.items():
            differing = {
                name: (found[key][name], value) for name, value in row.items() if not same(found[key][name], value)
            }
            assert differing == {}, (table, key, differing)
