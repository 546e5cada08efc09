"""The forecast against what happened in recorded runs of real queues, and in two live runs."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

import pytest

from qmon.model.forecast import Trend
from tests.laboratory.foretold import foretold, summary
from tests.laboratory.runs import RUNS

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("recording", ["runs_one", "runs_two"])
def test_nine_of_ten_forecasts_hold_with_a_band_that_is_not_too_wide(recording: str) -> None:
    runs = json.loads((DATA / f"{recording}.json").read_text())
    assert [run["name"] for run in runs] == [run.name for run in RUNS]
    found = [foretold(run) for run in runs]
    print(summary(found))
    assert sum(each.held for each in found) >= 0.9 * len(found), summary(found)
    assert median(each.width for each in found) <= 0.3, summary(found)
    for each in found:
        opposite = Trend.DRAINING if each.name.startswith("growing") else Trend.GROWING
        assert each.trend is not opposite, each
