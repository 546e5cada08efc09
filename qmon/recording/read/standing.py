"""Standing verdicts: what was said before the past begins that is read again, so that since when it holds is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from qmon.model.figure import Verdict
from qmon.model.view import QueueView, View
from qmon.recording.format.records import VerdictsLine

_SOON_S: Final = 60.0
"""A sign that is there so soon after the reading has begun, and was said before it, has been there all the time."""


@dataclass
class VerdictCarryOver:
    """Since when verdicts hold, by queue and code. ``begins_at``: where the reading begins, on the server's clock."""

    begins_at: float = 0.0
    since: dict[tuple[str, str], float] = field(default_factory=dict)

    @classmethod
    def of(cls, said: Iterable[VerdictsLine]) -> VerdictCarryOver:
        """What stands by what was said of each queue last."""
        since = {
            (each.queue, verdict.code): verdict.since_at
            for each in said
            for verdict in each.holds
            if verdict.since_at is not None
        }
        return cls(since=since)

    def corrected(self, view: View) -> View:
        """The view, with the beginnings that what was read again does not reach back to."""
        if not self.since:
            return view
        return replace(view, queues=tuple(map(self._queue, view.queues)))

    def _queue(self, queue: QueueView) -> QueueView:
        verdicts = tuple(self._verdict(queue.name, each) for each in queue.verdicts)
        if verdicts == queue.verdicts:
            return queue
        return replace(queue, verdict=self._verdict(queue.name, queue.verdict), verdicts=verdicts)

    def _verdict(self, queue: str, verdict: Verdict) -> Verdict:
        before = self.since.get((queue, verdict.code))
        seen = verdict.since_at
        if before is None or seen is None or before >= seen or seen > self.begins_at + _SOON_S:
            return verdict
        return replace(verdict, since_at=before)
