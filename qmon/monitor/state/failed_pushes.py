"""Find pushes that fail: inserts that were rolled back, and numbers that were drawn without a message."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

from qmon.model.rates.flow import Flow
from qmon.model.snapshot import QueueSamples
from qmon.model.trend import FailedPushes

# Pushes are compared over this many seconds.
PUSHES_S: Final = 15.0

# Minimum number of failed pushes, and their minimum share of all pushes. Some producers roll back on purpose.
_MIN_FAILED: Final = 10
_MIN_SHARE: Final = 0.5

# A number without a message also comes from ON CONFLICT or a sequence cache. It counts as a failed push only if the
# database rolled back at least this many transactions per such number.
_MIN_ROLLBACKS: Final = 0.5


@dataclass(frozen=True, slots=True)
class _Step:
    """Pushes between two polls. ``undone``: inserted rows that were rolled back. ``unused``: numbers without a row."""

    at: float
    seconds: float
    pushed: float
    undone: float
    unused: float
    rollbacks: float


class FailedPushTrack:
    """The failed pushes of one queue. Not thread-safe."""

    def __init__(self) -> None:
        self._steps: deque[_Step] = deque()

    def record_poll(
        self, at: float, before: QueueSamples | None, now: QueueSamples, flow: Flow | None, rollbacks: float | None
    ) -> FailedPushes | None:
        """Record one poll at ``at`` (server clock, seconds); return the failed pushes if most pushes fail.

        Args:
            before: samples of the previous poll that read the moved messages.
            now: samples of this poll.
            flow: messages moved between both polls; ``None`` if this poll did not read them.
            rollbacks: rollbacks per second in the database; ``None`` if the server does not count them.
        """
        if flow is not None and before is not None and now.layout.part is None:
            self._record_step(at, before, now, flow, rollbacks)
        while self._steps and at - self._steps[0].at >= PUSHES_S:
            self._steps.popleft()
        undone, unused = sum(step.undone for step in self._steps), sum(step.unused for step in self._steps)
        if max(undone, unused) < _MIN_FAILED:
            return None
        pushed, rolled_back, seconds = (
            sum(getattr(step, name) for step in self._steps) for name in ("pushed", "rollbacks", "seconds")
        )
        failed = max(undone, unused if rolled_back >= _MIN_ROLLBACKS * unused else 0.0)
        if failed < _MIN_FAILED or failed < _MIN_SHARE * (failed + pushed):
            return None
        return FailedPushes(failed, pushed, seconds)

    def _record_step(
        self, at: float, before: QueueSamples, now: QueueSamples, flow: Flow, rollbacks: float | None
    ) -> None:
        tried = None
        if now.counters is not None and before.counters is not None:
            tried = now.counters.inserted - before.counters.inserted
        drawn = _increase(before.last_id, now.last_id)
        if now.ring is not None and before.ring is not None:
            # A ring inserts no rows. Numbers that producers have drawn and not committed yet are not pushed yet.
            tried, drawn = None, float(now.ring.push_last - before.ring.push_last)
        seconds = 0.0 if not self._steps else at - self._steps[-1].at
        self._steps.append(
            _Step(
                at,
                min(seconds, PUSHES_S),
                flow.pushed,
                0.0 if tried is None else max(0.0, tried - flow.pushed),
                0.0 if drawn is None else drawn - flow.pushed,
                (rollbacks or 0.0) * min(seconds, PUSHES_S),
            )
        )


def _increase(before: int | None, now: int | None) -> float | None:
    return None if before is None or now is None or now < before else float(now - before)
