"""The range that the history screen shows: its length, its end and its steps."""

from __future__ import annotations

import math
from typing import Final

from qmon.model import formatting
from qmon.recording.history.range_query import MINUTE_S, RangeReader
from qmon.tui.past_reader import PastRequest

SPANS_S: Final = (300.0, 900.0, 3_600.0, 21_600.0, 86_400.0, 604_800.0, 2_592_000.0)
SPAN_NAMES: Final = ("5 m", "15 m", "1 h", "6 h", "24 h", "7 d", "30 d")
_FIRST_S: Final = 3_600.0
_LEAST_S: Final = 60.0
# Steps of at least this many seconds are rounded up to whole minutes, because sums per minute can be reused for other
# ranges.
_BY_MINUTE_FROM_S: Final = 400.0
_LEAST_STEPS: Final = 20


class ShownRange:
    """A range of time that ends at a fixed moment, or that follows the end of the data.

    All times are seconds since the epoch. ``count`` is the number of steps that fit.
    """

    def __init__(self, pasts: RangeReader) -> None:
        self._pasts = pasts
        self._span_s: float | None = None
        self._until_at: float | None = None

    @property
    def span_s(self) -> float:
        """The length in seconds. The default is an hour, or less if there is less data."""
        if self._span_s is not None:
            return self._span_s
        if self._pasts.archive is not None:
            return _FIRST_S
        held_s = self._pasts.ends_at - self._pasts.begins_at
        return next((span for span in SPANS_S if held_s <= span <= _FIRST_S), _FIRST_S)

    @property
    def span_name(self) -> str:
        """The length of the range as text."""
        span = self.span_s
        return SPAN_NAMES[SPANS_S.index(span)] if span in SPANS_S else formatting.whole_seconds(span)

    @property
    def is_live(self) -> bool:
        """True while the end of the range is the current time."""
        return self._until_at is None and self._pasts.is_live

    @property
    def is_at_end(self) -> bool:
        """True while the range follows the newest data."""
        return self._until_at is None

    @property
    def until_at(self) -> float:
        """The end of the range."""
        return self._pasts.ends_at if self._until_at is None else self._until_at

    def request_for(self, queue: str, count: int) -> PastRequest | None:
        """Return the range to read: the span, or slightly more because long steps are whole minutes.

        ``None`` if the screen has no room for a plot.
        """
        if count < _LEAST_STEPS:
            return None
        step_s, until = self.span_s / count, self.until_at
        if step_s >= _BY_MINUTE_FROM_S:
            step_s = math.ceil(step_s / MINUTE_S) * MINUTE_S
            until = math.ceil(until / MINUTE_S) * MINUTE_S
        return PastRequest(queue, until - count * step_s, step_s, count)

    def length_s(self, count: int) -> float:
        """Return the length of the shown range in seconds."""
        wanted = self.request_for("", count)
        return wanted.count * wanted.step_s if wanted is not None else self.span_s

    def set_end(self, until_at: float, begins_at: float, count: int) -> None:
        """Move the end of the range, clamped so that at least a tenth of it has data."""
        until_at = max(until_at, begins_at + self.length_s(count) / 10)
        self._until_at = None if until_at >= self._pasts.ends_at else until_at

    def show_between(self, since_at: float, until_at: float) -> None:
        """Show the range between two moments. The range is at least a minute long."""
        middle, span = (since_at + until_at) / 2, max(_LEAST_S, until_at - since_at)
        self._span_s, self._until_at = span, middle + span / 2
        if self._until_at >= self._pasts.ends_at:
            self._until_at = None

    def show_around(self, at: float, count: int) -> None:
        """Move the range so that a moment is in the middle. Do nothing if the moment is already visible."""
        self._span_s = self.span_s
        if not self.until_at - self.length_s(count) <= at < self.until_at:
            self.set_end(at + self.length_s(count) / 2, -math.inf, count)

    def zoom(self, by: int, around_at: float | None, begins_at: float, count: int) -> bool:
        """Switch to the next longer (``1``) or shorter (``-1``) span. Return False if there is no such span.

        The moment ``around_at`` keeps its position on the screen. Without ``around_at``, the middle keeps its position,
        but a range at the end of the data stays at the end.
        """
        now = self.span_s
        longer, shorter = (each for each in SPANS_S if each > now), (each for each in reversed(SPANS_S) if each < now)
        span = next(longer if by > 0 else shorter, now)
        if span == now:
            return False
        before = self.length_s(count)
        fixed = self.until_at - before / 2 if around_at is None else around_at
        after = self.until_at - fixed
        self._span_s = span
        if around_at is not None or not self.is_at_end:
            self.set_end(fixed + after * self.length_s(count) / before, begins_at, count)
        return True
