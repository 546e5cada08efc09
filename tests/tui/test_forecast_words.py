"""The forecast on the screens: the overview shows the trend of the depth, the queue screen also its cause."""

from __future__ import annotations

import pytest

from qmon.tui import figures
from tests.tui.scripted import queue

pytestmark = pytest.mark.unit


def test_what_it_takes_is_for_the_queue_screen() -> None:
    growing = queue("mails", ready=400.0, forecast="growing 12/s: needs ≥ 3 more consumers")
    assert figures.forecast_cell(growing)[0] == "growing 12/s: needs ≥ 3 more consumers"
    assert figures.forecast_cell(growing, brief=True)[0] == "growing 12/s"
    assert figures.short_forecast_cell(growing)[0] == "↑ 12/s"


def test_a_short_time_is_marked_as_estimated() -> None:
    draining = queue("mails", ready=400.0, forecast="drains in 35 m 12 s ± 12 %")
    assert figures.short_forecast_cell(draining)[0] == "↓ ~35 m 12 s"
    soon = queue("mails", ready=10.0, forecast="drains within 3.0 s")
    assert figures.short_forecast_cell(soon)[0] == "↓ ≤ 3.0 s"
