"""The baselines file: the weeks of each target, wrong clocks, and a good file that is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from qmon.errors import BadInput
from qmon.pipeline.pipeline_texts import ReportText
from qmon.pipeline.report.baselines_file import write_baselines
from qmon.recording.history.baselines_reader import FILE_NAME
from tests.pipeline.comparing import START, run
from tests.pipeline.recordings import Watched
from tests.wordings import pattern

pytestmark = pytest.mark.timeout(1200)
WEEK_S = 7 * 86400.0
YEAR_S = 364 * 86400.0
NOW = START + 3 * WEEK_S + 3 * 3600


def watch(root: Path, target: str, start_at: float, polls: int = 70) -> None:
    """Record for some minutes with one recorder."""
    Watched(root, target, f"{int(start_at):012x}", queues=("orders",), step_s=60.0).record(start_at, polls)


def watch_weeks(root: Path, target: str, start_at: float, weeks: int) -> None:
    """Return the same hour of some weeks."""
    for week in range(weeks):
        watch(root, target, start_at + week * WEEK_S)


def file_of(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / FILE_NAME).read_text())
    return found


def test_one_wrong_clock_changes_no_other_target_and_a_good_file_stays(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "recordings"
    watch_weeks(root, "shop", START, 4)
    watch_weeks(root, "old", START - YEAR_S, 4)
    watch_weeks(root, "ahead", START, 4)
    watch(root, "ahead", START + 10 * YEAR_S, 30)
    lake = run(spark, root, tmp_path / "lake")

    found = write_baselines(lake, str(root), 4, {}, NOW)
    assert file_of(root)["queues"].keys() == {"ahead", "old", "shop"}
    counts = [hours for q in file_of(root)["queues"].values() for hours in q["orders"]["ready"].values()]
    assert {readings for _, _, readings in counts} == {4}
    assert found.ahead.keys() == {"ahead"} and found.ahead["ahead"] > START + 10 * YEAR_S - 3600
    assert (found.lost, found.kept) == ((), False)

    good = (root / FILE_NAME).read_bytes()
    with pytest.raises(BadInput, match=pattern(ReportText.ALL_IN_FUTURE)):
        write_baselines(lake, str(root), 4, {}, START - 2 * YEAR_S)
    assert write_baselines(lake, str(root), 4, {}, START - YEAR_S + WEEK_S).kept
    assert (root / FILE_NAME).read_bytes() == good

    found = write_baselines(lake, str(root), 4, {}, NOW - YEAR_S)
    assert (found.lost, found.kept) == (("ahead", "shop"), False)
    assert file_of(root)["queues"].keys() == {"old"}
