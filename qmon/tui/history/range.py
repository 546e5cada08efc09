"""Which range of the past is shown: how long, up to when, and in how many steps."""

from __future__ import annotations

import math
from typing import Final

from qmon.model import text
from qmon.recording.history.range_query import MINUTE_S, Pasts
from qmon.tui.past_reader import PastRequest

SPANS_S: Final = (300.0, 900.0, 3_600.0, 21_600.0, 86_400.0, 604_800.0, 2_592_000.0)
SPAN_NAMES: Final = ("5 m", "15 m", "1 h", "6 h", "24 h", "7 d", "30 d")
_FIRST_S: Final = 3_600.0
_LEAST_S: Final = 60.0
# Steps that are at least so long are whole minutes, of which more is kept when another range is read.
_BY_MINUTE_FROM_S: Final = 400.0
_LEAST_STEPS: Final = 20


class Range:
    """A stretch of time; its end is a moment, or the end of what there is, whatever that is by then.

    All times are seconds since the epoch; ``count`` is how many steps there is room for.
    """

    def __init__(self, pasts: Pasts) -> None:
        self._pasts = pasts
        self._span_s: float | None = None
        self._until_at: float | None = None

    @property
    def span_s(self) -> float:
        """Its length in seconds; until one is chosen, an hour, or less where that is all there is."""
        if self._span_s is not None:
            return self._span_s
        if self._pasts.archive is not None:
            return _FIRST_S
        held_s = self._pasts.ends_at - self._pasts.begins_at
        return next((span for span in SPANS_S if held_s <= span <= _FIRST_S), _FIRST_S)

    @property
    def name(self) -> str:
        """Its length in words."""
        span = self.span_s
        return SPAN_NAMES[SPANS_S.index(span)] if span in SPANS_S else text.whole_seconds(span)

    @property
    def follows(self) -> bool:
        """Whether it ends now."""
        return self._until_at is None and self._pasts.live

    @property
    def at_end(self) -> bool:
        """Whether it ends where what there is ends."""
        return self._until_at is None

    @property
    def until_at(self) -> float:
        """Its end."""
        return self._pasts.ends_at if self._until_at is None else self._until_at

    def wanted(self, queue: str, count: int) -> PastRequest | None:
        """What is to be read; at least the span, a little more where steps are whole minutes. ``None``: no room."""
        if count < _LEAST_STEPS:
            return None
        step_s, until = self.span_s / count, self.until_at
        if step_s >= _BY_MINUTE_FROM_S:
            step_s = math.ceil(step_s / MINUTE_S) * MINUTE_S
            until = math.ceil(until / MINUTE_S) * MINUTE_S
        return PastRequest(queue, until - count * step_s, step_s, count)

    def length_s(self, count: int) -> float:
        """What is shown, in seconds."""
        wanted = self.wanted("", count)
        return wanted.count * wanted.step_s if wanted is not None else self.span_s

    def end_at(self, until_at: float, begins_at: float, count: int) -> None:
        """Let it end there; not after the end of what there is, nor before a tenth of it holds something."""
        until_at = max(until_at, begins_at + self.length_s(count) / 10)
        self._until_at = None if until_at >= self._pasts.ends_at else until_at

    def show(self, since_at: float, until_at: float) -> None:
        """Show what lies between two moments, a minute at least."""
        middle, span = (since_at + until_at) / 2, max(_LEAST_S, until_at - since_at)
        self._span_s, self._until_at = span, middle + span / 2
        if self._until_at >= self._pasts.ends_at:
            self._until_at = None

    def around(self, at: float, count: int) -> None:
        """Show a moment, in the middle where it is not shown already."""
        self._span_s = self.span_s
        if not self.until_at - self.length_s(count) <= at < self.until_at:
            self.end_at(at + self.length_s(count) / 2, -math.inf, count)

    def zoom(self, by: int, around_at: float | None, begins_at: float, count: int) -> bool:
        """The next longer or shorter span; whether there is one.

        A moment, else the middle, stays where it is; without a moment the end of what there is stays the end.
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
        if around_at is not None or not self.at_end:
            self.end_at(fixed + after * self.length_s(count) / before, begins_at, count)
        return True
