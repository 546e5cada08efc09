"""Keep a bounded number of past verdicts of one queue."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from typing import Final

from qmon.model.figure import PastVerdict, Severity, Verdict
from qmon.model.verdicts.judge import is_brief

# Number of past verdicts remembered per queue.
MAX_PAST: Final = 50


class VerdictLog:
    """Record the verdicts of each poll and remember past verdicts. Not thread-safe."""

    def __init__(self, most: int = MAX_PAST) -> None:
        self._current: dict[str, tuple[float, Verdict]] = {}
        self._past: deque[PastVerdict] = deque(maxlen=most)

    def record_verdicts(
        self, verdicts: Sequence[Verdict], at: float, undecided: Collection[str] = ()
    ) -> tuple[PastVerdict, ...]:
        """Record the verdicts of the poll at ``at`` (server clock, seconds); return past verdicts, newest first.

        Verdicts that report no problem are not remembered. ``undecided``: codes of verdicts that may still hold.
        """
        now = {v.code: v for v in verdicts if v.severity > Severity.FINE and not is_brief(v, at)}
        for code in self._current.keys() - now.keys() - set(undecided):
            first_at, verdict = self._current.pop(code)
            self._past.appendleft(PastVerdict(code, verdict.proof, verdict.severity, first_at, at))
        for code, verdict in now.items():
            self._current.setdefault(code, (at if verdict.since_at is None else verdict.since_at, verdict))
        return tuple(self._past)
