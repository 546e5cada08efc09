"""Findings of the last hour of a queue: backlog rises, messages take longer, producers stopped, messages due later."""

from __future__ import annotations

from dataclasses import dataclass

from qmon.model.text import milliseconds, time_of_day


@dataclass(frozen=True, slots=True)
class Rise:
    """A backlog that rises slowly and steadily, over ``over_s`` seconds. ``before`` and ``now``: messages ready.

    ``age_before_s`` and ``wait_s``: age of the oldest of them in seconds, ``None`` if no age was known then.
    """

    before: float
    now: float
    age_before_s: float | None
    wait_s: float | None
    over_s: float


@dataclass(frozen=True, slots=True)
class Slower:
    """Each message takes ``now_s`` seconds, ``before_s`` until ``since_at`` (server clock, seconds since the epoch)."""

    before_s: float
    now_s: float
    since_at: float

    @property
    def words(self) -> str:
        """All that in words."""
        now, before = (milliseconds(1000 * seconds) for seconds in (self.now_s, self.before_s))
        return f"each message takes ~{now}, before ~{before}, since {time_of_day(self.since_at)}"


@dataclass(frozen=True, slots=True)
class Silence:
    """A queue that was busy gets nothing: no push for ``silent_s`` seconds, ``before_per_s`` a second until then."""

    silent_s: float
    before_per_s: float


@dataclass(frozen=True, slots=True)
class DueLater:
    """Most of the newest messages are due later, which few messages of the hour before were.

    ``later`` of the last ``pushed`` messages, since ``since_at`` (server clock, seconds since the epoch).
    ``share_before``: share of the messages before that were due later, 0 to 1.
    """

    pushed: float
    later: float
    since_at: float
    share_before: float
