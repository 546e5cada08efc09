"""Which range of the recording is shown: how long, up to when, and in how many steps."""

from __future__ import annotations

import math
from typing import Final

from qmon.recording.history.archive import RecordingArchive
from qmon.recording.history.range_query import MINUTE_S
from qmon.tui.past_reader import PastRequest

SPANS_S: Final = (900.0, 3_600.0, 21_600.0, 86_400.0, 604_800.0, 2_592_000.0)
SPAN_NAMES: Final = ("15 m", "1 h", "6 h", "24 h", "7 d", "30 d")
_FIRST: Final = 1
_BY_MINUTE_FROM_S: Final = 180.0
"""Steps that are at least so long are whole minutes, of which more is kept when another range is read."""
_LEAST_STEPS: Final = 20


class Range:
    """One of the spans; its end is a moment, or the end of what is recorded, whatever that is by then.

    All times are seconds since the epoch; ``count`` is how many steps there is room for.
    """

    def __init__(self, archive: RecordingArchive) -> None:
        self.archive = archive
        self.span = _FIRST
        self._until_at: float | None = None

    @property
    def follows(self) -> bool:
        """Whether it ends where what is being recorded ends."""
        return self._until_at is None and self.archive.live

    @property
    def at_end(self) -> bool:
        """Whether it ends where what is recorded ends."""
        return self._until_at is None

    @property
    def until_at(self) -> float:
        """Its end."""
        return self.archive.ends_at if self._until_at is None else self._until_at

    def wanted(self, queue: str, count: int) -> PastRequest | None:
        """What is to be read; at least the span, a little more where steps are whole minutes. ``None``: no room."""
        if count < _LEAST_STEPS:
            return None
        step_s, until = SPANS_S[self.span] / count, self.until_at
        if step_s >= _BY_MINUTE_FROM_S:
            step_s = math.ceil(step_s / MINUTE_S) * MINUTE_S
            until = math.ceil(until / MINUTE_S) * MINUTE_S
        return PastRequest(queue, until - count * step_s, step_s, count)

    def length_s(self, count: int) -> float:
        """Its length in seconds."""
        wanted = self.wanted("", count)
        return wanted.count * wanted.step_s if wanted is not None else SPANS_S[self.span]

    def end_at(self, until_at: float, begins_at: float, count: int) -> None:
        """Let it end there; not after the end of what is recorded, nor before a tenth of it holds something."""
        until_at = max(until_at, begins_at + self.length_s(count) / 10)
        self._until_at = None if until_at >= self.archive.ends_at else until_at

    def zoom(self, by: int, around_at: float | None, begins_at: float, count: int) -> bool:
        """The next longer or shorter span; whether there is one.

        Around a moment, else its middle stays where it is; without a moment the end of what is recorded stays the end.
        """
        span = min(max(self.span + by, 0), len(SPANS_S) - 1)
        if span == self.span:
            return False
        middle = self.until_at - self.length_s(count) / 2 if around_at is None else around_at
        self.span = span
        if around_at is not None or not self.at_end:
            self.end_at(middle + self.length_s(count) / 2, begins_at, count)
        return True
