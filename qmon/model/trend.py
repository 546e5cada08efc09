"""Findings from the last hour of a queue: rising depth, slower messages, silent producers, messages due later."""

from __future__ import annotations

from dataclasses import dataclass

from qmon.model.formatting import milliseconds, time_of_day
from qmon.texts import Text


class TrendText(Text):
    """Comparisons with the time before."""

    EACH_TAKES = "each message takes ~{now} since {since}, ~{before} before"


@dataclass(frozen=True, slots=True)
class Rise:
    """A depth that has risen slowly and steadily for ``over_s`` seconds.

    ``before`` and ``now``: number of ready messages. ``age_before_s`` and ``wait_s``: age of the oldest ready message
    in seconds, before and now; ``None`` if no age was known.
    """

    before: float
    now: float
    age_before_s: float | None
    wait_s: float | None
    over_s: float


@dataclass(frozen=True, slots=True)
class Slower:
    """Each message takes ``now_s`` seconds. Until ``since_at``, each message took ``before_s`` seconds.

    ``since_at``: server clock, seconds since the epoch. ``is_sure``: enough messages were seen in progress, and
    more than a single message took long.
    """

    before_s: float
    now_s: float
    since_at: float
    is_sure: bool = False

    @property
    def text(self) -> str:
        """The finding as one clause."""
        now, before = (milliseconds(1000 * seconds) for seconds in (self.now_s, self.before_s))
        return TrendText.EACH_TAKES.render(now=now, since=time_of_day(self.since_at), before=before)


@dataclass(frozen=True, slots=True)
class Silence:
    """A queue that was busy, at ``before_per_s`` pushes per second, has had no push for ``silent_s`` seconds."""

    silent_s: float
    before_per_s: float


@dataclass(frozen=True, slots=True)
class FailedPushes:
    """Within ``seconds``, ``failed`` pushes were rolled back, and ``pushed`` messages were committed."""

    failed: float
    pushed: float
    seconds: float


@dataclass(frozen=True, slots=True)
class DueLater:
    """Most of the newest messages are due later, unlike the messages of the hour before.

    Since ``since_at`` (server clock, seconds since the epoch), ``pushed`` messages were pushed, and ``later`` of these
    messages are due later. ``share_before``: share of the earlier messages that were due later, 0 to 1.
    """

    pushed: float
    later: float
    since_at: float
    share_before: float
