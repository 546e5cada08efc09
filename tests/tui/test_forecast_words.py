"""The forecast on the screens: the overview shows the trend of the depth, the queue screen also its cause."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.model.forecast import Forecast, Trend
from qmon.tui import figures
from qmon.tui.overview.queue_rows import COLUMNS
from tests.tui.scripted import draining, growing, queue

pytestmark = pytest.mark.unit

WIDTH = next(column.width for column in COLUMNS if column.key == "forecast")


def test_what_it_takes_is_for_the_queue_screen() -> None:
    mails = queue("mails", ready=400.0, forecast=growing(12, ": needs ≥ 3 more consumers"))
    assert figures.forecast_cell(mails)[0] == "growing 12.0/s: needs ≥ 3 more consumers"
    assert figures.short_forecast_cell(mails)[0] == "↑ 12.0/s"


def test_a_short_time_is_marked_as_estimated() -> None:
    assert figures.short_forecast_cell(queue("mails", ready=400.0, forecast=draining(2_112, 0.12)))[0] == "↓ ~35m12s"
    assert figures.short_forecast_cell(queue("mails", ready=10.0, forecast=draining(1.5, 1.0)))[0] == "↓ ≤3.0s"


@given(st.floats(0, 2_592_000), st.floats(0, 1), st.floats(0.05, 1e9))
def test_the_short_form_fits_its_column(seconds: float, share: float, per_second: float) -> None:
    each = draining(seconds, share), growing(per_second), Forecast(Trend.UNKNOWN)
    for forecast in each:
        assert len(figures.short_forecast_cell(queue("mails", forecast=forecast))[0]) <= WIDTH
