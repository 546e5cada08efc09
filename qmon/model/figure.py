"""Figures and verdicts: a value or the reason why it is unknown; what is wrong with a queue, and the proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

from qmon.model.reasons import Reason
from qmon.model.text import UNKNOWN, count, duration

# A figure counted apart from the polls may be this many times its cadence old: a count takes time, and waits for
# others.
_LATE: Final = 1.5


# Estimates that are no older than this show no age: a poll or two may leave their probe out.
_AT_A_GLANCE_S: Final = 3.0


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure. ``value`` ``None``: unknown (``reason``); ``estimated`` shows as ``~``, ``at_least`` as ``≥``.

    ``age_s``: how much older than the poll the figure is, in seconds (an exact count taken earlier), else 0.
    ``every_s``: how often it is counted where that is apart from the polls, in seconds, else 0. ``old``: older than
    that, or than three polls: shown, and no evidence of anything. ``partial``: our role may see only a part of the
    rows, so that its 0 says nothing. ``throttled``: its probe is left out to stay within the budget, for so long that
    the reason gives the time of the last reading.
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

    @classmethod
    def unknown(cls, reason: str) -> Figure:
        """A figure that is not known, with the reason."""
        return cls(None, reason=reason)

    def of_a_part(self, reason: str) -> Figure:
        """The same as a lower bound, where our role sees only a part of the rows. ``reason``: why, one line."""
        return self if self.value is None else replace(self, at_least=True, partial=True, reason=reason)

    def aged(self, limit_s: float) -> Figure:
        """The same, ``old`` where it is older than ``limit_s`` seconds and than its own cadence allows."""
        return replace(self, old=True) if self.age_s > limit_s + _LATE * self.every_s else self

    def text(self, write: Callable[[float], str] = count) -> str:
        """The figure with its symbol: ``~`` estimated, ``≥`` at least, ``–`` unknown."""
        if self.value is None:
            return UNKNOWN
        return ("≥" if self.at_least else "~" if self.estimated else "") + write(self.value)

    @property
    def shows_age(self) -> bool:
        """Whether the value is shown with its age: it is old, or an estimate older than its cadence."""
        if self.value is None or self.age_s < 1:
            return False
        return self.old or (self.estimated and self.age_s > max(_AT_A_GLANCE_S, self.every_s))

    @property
    def evidence(self) -> Figure:
        """The figure as verdicts and limits may use it: not known where it is old."""
        if not self.old:
            return self
        if self.throttled:
            return replace(Figure.unknown(self.reason), old=True, throttled=True)
        why = Reason.LAST_READ_BECAUSE if self.reason else Reason.LAST_READ
        return replace(Figure.unknown(why.format(age=duration(self.age_s), reason=self.reason)), old=True)


class Severity(IntEnum):
    """How urgent a verdict is; greater is worse."""

    FINE = 0
    NOTICE = 1
    WARNING = 2
    CRITICAL = 3


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong with a queue. ``proof`` is one line made of figures; ``key``: the keys that answer it, one or
    several with spaces between them, or empty.

    ``since_at``: when its evidence was first seen, seconds since the epoch on the server's clock. ``cause``: who or
    what is behind it, where that may be behind verdicts on other queues, too: ``session 61``; else empty.
    """

    code: str
    proof: str
    severity: Severity = Severity.FINE
    since_at: float | None = None
    key: str = ""
    cause: str = ""

    def moved(self, seconds: float) -> Verdict:
        """Return the same with ``since_at`` on a clock that is ``seconds`` ahead of the server's."""
        return self if self.since_at is None or not seconds else replace(self, since_at=self.since_at + seconds)


@dataclass(frozen=True, slots=True)
class PastVerdict:
    """A verdict that was raised of a queue and holds no longer. Both moments are seconds since the epoch, server clock.

    ``proof``: the first that was shown; ``since_at``: when its evidence was first seen.
    """

    code: str
    proof: str
    severity: Severity
    since_at: float
    until_at: float
