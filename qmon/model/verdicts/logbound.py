"""Commits wait for the log: the ceiling of a queue with one commit a message, or a slow disk."""

from __future__ import annotations

from typing import Final

from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import Signs
from qmon.model.view import Severity
from qmon.model.waits_known import LOG_WAITS

SHARE: Final = 0.5
"""At least that share of the sessions at work waits for the log."""
EACH_S: Final = 0.02
"""A commit waits so long for the log at least; a healthy disk takes a few milliseconds, also for many at a time."""
_SESSIONS: Final = 0.8


def _log(s: Signs) -> str | None:
    waiting, commits = s.target.waiting, s.target.commits
    if waiting is None or not ((s.push_rate.value or 0.0) > 0 or (s.pops or 0.0) > 0):
        return None
    log = waiting.of(LOG_WAITS)
    sessions = sum(rate.sessions for rate in log)
    if sessions < _SESSIONS or sessions < SHARE * waiting.busy:
        return None
    counted = [rate.each_s for rate in log if rate.each_s is not None]
    each = max(counted) if counted else sessions / commits if commits else None
    if each is None or each < EACH_S:
        return None
    names = ", ".join(rate.name for rate in log[:3])
    at = f" at {commits:,.0f} commits/s" if commits is not None else ""
    return f"{sessions:.1f} of {waiting.busy:.1f} sessions at work wait for the log ({names}): {_ms(each)} a commit{at}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


LOG = Rule("log-bound", Severity.WARNING, 8.0, _log, "3")
