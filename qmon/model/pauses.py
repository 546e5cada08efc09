"""Pauses as they are seen on a server, and as lines that people read."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from qmon.model.layout.layout import Layout
from qmon.model.operations import Pause, Side
from qmon.model.samples.polled import PauseSample


def pause_of(sample: PauseSample) -> Pause:
    """The pause that a probe has seen."""
    return Pause(
        sample.queue, Side(sample.side), sample.until_at, sample.by, sample.reason, sample.since_at, sample.way,
        sample.about,
    )  # fmt: skip


def pauses_of(layout: Layout, samples: Iterable[PauseSample]) -> tuple[Pause, ...]:
    """The pauses of one queue, pushers first: those of its table, whatever name it went by when it was paused."""
    own = (pause_of(each) for each in samples if each.about == str(layout.table))
    return tuple(sorted(own, key=lambda pause: pause.side is not Side.PUSHERS))


def clock(at: float) -> str:
    """``2026-11-21 07:15:00 UTC``: seconds since the epoch."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"


def said(pause: Pause) -> str:
    """``pushers paused by anna@app-7 until 07:15:00 UTC: deploy``; the reason is whatever somebody typed."""
    return f"{pause.side} paused by {pause.by} until {datetime.fromtimestamp(pause.until, UTC):%H:%M:%S} UTC: " + (
        pause.reason
    )
