"""Commits wait for the log: the ceiling of a queue with one commit a message, or a slow disk."""

from __future__ import annotations

from typing import Final

from qmon.model.figure import Severity
from qmon.model.text import milliseconds
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import RuleInput
from qmon.model.waits.known import LOG_WAITS

SHARE: Final = 0.5
"""At least that share of the sessions at work waits for the log."""
EACH_S: Final = 0.02
"""A commit that waits so long for the log waits for a slow disk, however many messages it has; a healthy disk takes a
few milliseconds, also for many at a time."""
_SESSIONS: Final = 0.8
_A_COMMIT: Final = (0.3, 2.0)
"""Messages moved (pushed, popped, completed) a commit, from and to: there are about as many as the commits allow."""
_MOST: Final = 0.8
"""Where the disk is not slow: so large a share of the sessions at work waits for the log, and for nothing else."""
_BATCH: Final = 10


def _log(s: RuleInput) -> str | None:
    waiting, commits = s.target.waiting, s.target.commits
    moved = (s.push_rate.value or 0.0) + (s.pops or 0.0) + (s.completes or 0.0)
    if waiting is None or moved <= 0:
        return None
    log = waiting.of(LOG_WAITS)
    sessions = sum(rate.sessions for rate in log)
    if sessions < _SESSIONS or sessions < SHARE * waiting.busy:
        return None
    counted = [rate.each_s for rate in log if rate.each_s is not None]
    each = max(counted) if counted else sessions / commits if commits else None
    slow = each is not None and each >= EACH_S
    a_commit = moved / commits if commits else None
    at_ceiling = a_commit is not None and _A_COMMIT[0] <= a_commit <= _A_COMMIT[1] and sessions >= _MOST * waiting.busy
    if not slow and not at_ceiling:
        return None
    names = ", ".join(rate.name for rate in log[:3])
    proof = f"{sessions:.1f} of {waiting.busy:.1f} sessions at work wait for the log ({names})"
    if each is not None:
        proof += f": {milliseconds(each * 1000)} a commit"
    if commits is not None:
        proof += f" at {commits:,.0f} commits/s"
    if commits is not None and a_commit is not None and at_ceiling:
        proof += (
            f", {a_commit:.1f} messages a commit: batches of {_BATCH} would allow {_BATCH * commits:,.0f} messages/s"
        )
    return proof


LOG = Rule("log-bound", Severity.WARNING, 8.0, _log, "3")
