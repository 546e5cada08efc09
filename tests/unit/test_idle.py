"""A queue without activity: figures that are not recomputed equal their recomputed values."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from qmon.model.forecast import Forecast
from qmon.model.rates.queue_use import QueueUse
from qmon.monitor.state.rates.rate_window import RateWindow
from qmon.monitor.state.target_history import TargetHistory
from qmon.monitor.state.usage_track import UseTrack
from tests.unit.polls import COUNTERS, fifo, moved, poll
from tests.unit.upkeep import HOLDER, INDEX, TABLE

POLLS = 1000


def folded(seed: int) -> list[tuple[QueueUse | None, Forecast]]:
    """Return use and forecast of each poll of a queue in which something happens now and then, mostly nothing."""
    random, history, out = Random(seed), TargetHistory(), []
    table, index = replace(TABLE, own_rows=0, own_pages=0), replace(INDEX, own_rows=0, own_pages=0)
    pushed = popped = 0
    held_s, sized_at, at = None, 1000.0, 1000.0
    for n in range(POLLS):
        at += random.choice((0.5, 1.0, 2.0))
        what = random.random()
        if what < 0.003:
            pushed, popped = pushed + 3, popped + 2
        elif what < 0.006:
            index = replace(index, rows_read=(index.rows_read or 0) + 7)
        elif what < 0.009:
            table, sized_at = replace(table, bytes=8192 * n), at
        elif what < 0.012:
            table = replace(table, ghosts=n)
        elif what < 0.018:
            held_s = None if held_s else 5.0
        counters = replace(moved(COUNTERS, pushed, popped), analyzes=n // 400)
        snapshot = poll(n, at, fifo(counters, counted=pushed - popped, sized_at=sized_at))
        horizon = () if held_s is None else (replace(HOLDER, held_s=held_s),)
        view = history.record_snapshot(replace(snapshot, uses=(table, index), horizon=horizon)).queues[0]
        out.append((view.use, view.forecast))
    return out


@pytest.mark.parametrize("seed", range(2))
def test_use_and_forecast_are_what_they_would_be_if_worked_out_in_each_poll(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = folded(seed)
    again = sum(later[0] is earlier[0] is not None for earlier, later in pairwise(found))
    assert again > POLLS / 10
    monkeypatch.setattr(UseTrack, "is_unchanged", lambda *_: False)
    monkeypatch.setattr(RateWindow, "ticks", property(lambda self: [(t.seconds, t.flow) for t in self._ticks]))
    assert found == folded(seed)
