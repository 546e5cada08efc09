"""Recordings through Spark against the same in plain Python: every sum, percentile and incident."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from qmon.pipeline.incidents import incidents
from qmon.pipeline.lake import Lake
from qmon.pipeline.rollups import GRAINS
from qmon.pipeline.run import begin, wait
from tests.pipeline import reference
from tests.pipeline.recordings import Watched, rows

START = datetime(2026, 10, 24, 23, 40, tzinfo=UTC).timestamp()
"""Over midnight, and over the end of summer time in Berlin."""


def same(found: Any, expected: Any) -> bool:
    """Equal, but for the order in which numbers were added."""
    if isinstance(found, float) and isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    return bool(found == expected)


def run(spark: SparkSession, recordings: Path, lake: Path) -> Lake:
    """All sealed segments into the lake, once."""
    found = Lake(spark, str(lake))
    wait(begin(found, str(recordings)))
    return found


def compared(lake: Lake, expected: list[dict[str, Any]]) -> None:
    """The whole lake against the reference on these rows."""
    unique = reference.unique(expected)
    keys = {(r.target, r.recorder, r.sequence, r.queue) for r in lake.read("samples").collect()}
    assert keys == {(r["target"], r["recorder"], r["sequence"], r["queue"]) for r in unique}
    assert lake.read("samples").count() == len(unique)
    measured = reference.measured(unique)
    for table, seconds in GRAINS.items():
        wanted = reference.rollup(measured, seconds)
        found = {(r.target, r.queue, r.at): r.asDict() for r in lake.read(table).collect()}
        assert found.keys() == wanted.keys()
        for key, row in wanted.items():
            differing = {
                name: (found[key][name], value) for name, value in row.items() if not same(found[key][name], value)
            }
            assert differing == {}, (table, key)
    stretches = incidents(lake.read("runs")).orderBy("target", "queue", "start_at").collect()
    wanted_stretches = reference.incidents(unique)
    assert [
        {name: row[name] for name in want} for row, want in zip(stretches, wanted_stretches, strict=True)
    ] == wanted_stretches


def test_everything_equals_plain_python(spark: SparkSession, tmp_path: Path) -> None:
    """Two recorders of one target, one restarted; an hour without anything; a second target with a hostile name."""
    root = tmp_path / "recordings"
    first = Watched(root, "shop", "aaaaaaaaaaaa", "Europe/Berlin")
    first.record(START, 900, seed=1, trouble=range(500, 700))
    again = Watched(root, "shop", "aaaaaaaaaaab", "Europe/Berlin")  # after an hour without anything
    again.record(START + 900 * 2 + 3600, 300, seed=2)
    second = Watched(root, "shop", "bbbbbbbbbbbb", "Europe/Berlin")
    second.record(START + 600, 300, seed=3, trouble=range(10, 20))
    odd = Watched(root, "a b/é=1", "cccccccccccc", queues=("[a]]b].[c d]", "; drop table x; --", "😀"))
    odd.record(START, 100, seed=4, trouble=range(0, 3))
    lake = run(spark, root, tmp_path / "lake")
    compared(lake, [row for each in (first, again, second, odd) for row in rows(each.written)])
