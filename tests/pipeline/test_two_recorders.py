"""Two recorders of one target: no time counts twice, and no minute has more than its seconds."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from qmon.pipeline.lake.lake import Lake
from tests.cli.calling import call
from tests.pipeline import reference
from tests.pipeline.comparing import START, compared, run
from tests.pipeline.readers import duck
from tests.pipeline.recordings import Watched, rows

pytestmark = pytest.mark.timeout(1200)


def test_a_recorder_that_restarts_within_a_minute_adds_to_its_row(spark: SparkSession, tmp_path: Path) -> None:
    """The segments come in separate batches; the second one begins in the minute in which the first one ended."""
    root = tmp_path / "recordings"
    watched = [Watched(root, "shop", "aaaaaaaaaaaa"), Watched(root, "shop", "bbbbbbbbbbbb")]
    watched[0].record(START, 10, seed=1)
    run(spark, root, tmp_path / "lake")
    watched[1].record(START + 30, 10, seed=2)
    lake = run(spark, root, tmp_path / "lake")
    compared(lake, [row for each in watched for row in rows(each.written)])


def test_slow_polls_are_split_at_minutes_hours_and_midnight(spark: SparkSession, tmp_path: Path) -> None:
    """Polls of 50 seconds cross each border. The second hour comes in a later batch than the first."""
    root = tmp_path / "recordings"
    slow = Watched(root, "shop", "aaaaaaaaaaaa", step_s=50.0)
    second = Watched(root, "shop", "bbbbbbbbbbbb", step_s=7.0)
    *_, last = slow.record(START, 60, seed=1)  # from 23:40 to 00:30
    held = last.rename(tmp_path / last.name)
    run(spark, root, tmp_path / "lake")
    held.rename(last)
    second.record(START + 600, 40, seed=2)
    lake = run(spark, root, tmp_path / "lake")
    compared(lake, [row for each in (slow, second) for row in rows(each.written)])
    the_views(lake, tmp_path / "lake", slow, second)


def the_views(lake: Lake, place: Path, slow: Watched, second: Watched) -> None:
    """Each minute has at most its 60 seconds, and waits and samples of the recorder that counts."""
    unique = reference.unique(row for each in (slow, second) for row in rows(each.written))
    chosen = {(row["queue"], row["minute"]): row["recorder"] for row in reference.measured(unique)}
    kept = [row for row in unique if chosen.get((row["queue"], row["sampled_at"] // 60 * 60)) == row["recorder"]]
    with duck() as connection:
        for statement in call("pipeline", "views", "--lake", str(place)).stdout.split(";\n"):
            if statement.strip():
                connection.execute(statement)
        shares = connection.execute(
            "SELECT max(ready_watched_percent), max(counters_watched_percent) FROM minutes_rates UNION ALL "
            "SELECT max(ready_watched_percent), max(counters_watched_percent) FROM hours_rates"
        ).fetchall()
        counted = connection.execute("SELECT recorder, sequence, queue FROM counted_samples").fetchall()
        waits = dict(connection.execute("SELECT event, sum(sessions * poll_s) FROM waits GROUP BY event").fetchall())
    assert all(0 < share <= 100 + 1e-9 for row in shares for share in row)
    assert sorted(counted) == sorted((row["recorder"], row["sequence"], row["queue"]) for row in kept)
    assert waits == pytest.approx(session_seconds(slow, second))


def session_seconds(*watched: Watched) -> dict[str, float]:
    """Return the seconds of sessions in each wait, in each minute from the recorder whose polls in it took longest."""
    polls = [line for each in watched for line in each.written]
    seconds: dict[float, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for line in polls:
        seconds[line["sampled_at"] // 60][line["r"]] += line.get("poll_s") or 0.0
    best = {minute: min(each, key=lambda r: (-round(each[r], 3), r)) for minute, each in seconds.items()}
    found: dict[str, float] = defaultdict(float)
    for line in polls:
        if best[line["sampled_at"] // 60] == line["r"]:
            for event, sessions in zip(line.get("wait", ()), line.get("sessions", ()), strict=True):
                found[event] += sessions * (line.get("poll_s") or 0.0)
    return found


def test_a_relative_lake_becomes_absolute_in_views(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Watched(tmp_path / "recordings", "shop", "aaaaaaaaaaaa").record(START, 5)
    run(spark, tmp_path / "recordings", tmp_path / "lake")
    monkeypatch.chdir(tmp_path)
    shown = call("pipeline", "views", "--lake", "lake")
    assert f"'{tmp_path}/lake/hours'" in shown.stdout
