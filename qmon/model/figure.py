"""Figures (a value, or the reason why the value is unknown) and verdicts (a problem of a queue with its proof)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import Final

from qmon.model.formatting import UNKNOWN, count, duration
from qmon.model.reasons import Reason

# Maximum age of a figure that is counted outside the polls, as a multiple of ``every_s``. The age may exceed the
# interval because a count takes time and may wait for other counts.
_LATE: Final = 1.5


# An estimate is shown without its age up to this many seconds, because one or two polls may skip the probe.
_AT_A_GLANCE_S: Final = 3.0

# Most unknown figures of a poll have one of a few reasons.
_CACHED_REASONS: Final = 256
# Most numbers of a poll are small.
_CACHED_VALUES: Final = 1024


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of a queue or target.

    Attributes:
        value: the value; ``None`` if it is unknown (see ``reason``).
        estimated: true if the value is an estimate, shown as ``~``.
        at_least: true if the value is a lower bound, shown as ``≥``.
        reason: why the value is unknown, a lower bound or old.
        age_s: seconds from the reading of the figure to the poll; 0 if the poll read the figure itself.
        every_s: seconds between counts, if the figure is counted outside the polls; else 0.
        old: true if the figure is older than ``every_s`` allows, or older than three polls. An old figure is shown, but
            never used as evidence.
        partial: true if our role may see only some of the rows. A value of 0 then does not mean that there are no rows.
        throttled: true if the figure's probe has been skipped for a long time to stay within the budget. ``reason``
            contains the time of the last reading.
    """

    value: float | None = None
    estimated: bool = False
    at_least: bool = False
    reason: str = ""
    age_s: float = 0.0
    every_s: float = 0.0
    old: bool = False
    partial: bool = False
    throttled: bool = False

    @staticmethod
    @lru_cache(_CACHED_REASONS, typed=True)
    def unknown(reason: str) -> Figure:
        """Return an unknown figure with its reason."""
        return Figure(None, reason=reason)

    @staticmethod
    @lru_cache(_CACHED_VALUES, typed=True)
    def exact(value: float) -> Figure:
        """Return a figure that was just read."""
        return Figure(value)

    def as_lower_bound(self, reason: str) -> Figure:
        """Return the figure as a lower bound, because our role sees only some of the rows.

        ``reason``: one line that explains why.
        """
        return self if self.value is None else replace(self, at_least=True, partial=True, reason=reason)

    def mark_old(self, limit_s: float) -> Figure:
        """Mark the figure as ``old`` if its age exceeds ``limit_s`` plus the age that ``every_s`` allows."""
        return replace(self, old=True) if self.age_s > limit_s + _LATE * self.every_s else self

    def text(self, write: Callable[[float], str] = count) -> str:
        """Return the figure with its symbol: ``~`` estimated, ``≥`` at least, ``–`` unknown."""
        if self.value is None:
            return UNKNOWN
        return ("≥" if self.at_least else "~" if self.estimated else "") + write(self.value)

    @property
    def shows_age(self) -> bool:
        """True if the value is shown with its age, because it is old or an estimate older than ``every_s``."""
        if self.value is None or self.age_s < 1:
            return False
        return self.old or (self.estimated and self.age_s > max(_AT_A_GLANCE_S, self.every_s))

    @property
    def evidence(self) -> Figure:
        """The figure for verdicts and limits, which treat an old figure as unknown."""
        if not self.old:
            return self
        if self.throttled:
            return replace(Figure.unknown(self.reason), old=True, throttled=True)
        age = duration(self.age_s)
        reason = (
            Reason.LAST_READ_BECAUSE.render(age=age, reason=self.reason)
            if self.reason
            else Reason.LAST_READ.render(age=age)
        )
        return replace(Figure.unknown(reason), old=True)


class Severity(IntEnum):
    """The severity of a verdict. A greater value is more severe."""

    FINE = 0
    NOTICE = 1
    WARNING = 2
    CRITICAL = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """A problem of a queue.

    Attributes:
        proof: one line made of figures.
        since_at: when the evidence was first seen, seconds since the epoch, server clock.
        key: the screen keys that fix the problem, separated by spaces; empty if no key fixes it.
        cause: the cause of the problem (``session 61``), if it may also cause verdicts on other queues; else empty.
    """

    code: str
    proof: str
    severity: Severity = Severity.FINE
    since_at: float | None = None
    key: str = ""
    cause: str = ""

    def shift_clock(self, seconds: float) -> Verdict:
        """Return the verdict with ``since_at`` on a clock that is ``seconds`` ahead of the server clock."""
        return self if self.since_at is None or not seconds else replace(self, since_at=self.since_at + seconds)


@dataclass(frozen=True, slots=True)
class PastVerdict:
    """A verdict of a queue that no longer holds. Times are seconds since the epoch, server clock.

    ``proof`` is the first proof that was shown. ``since_at``: when the evidence was first seen.
    """

    code: str
    proof: str
    severity: Severity
    since_at: float
    until_at: float
