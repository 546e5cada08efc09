"""Which priority waits while others are popped: how long its oldest message has been the same."""

from __future__ import annotations

from dataclasses import dataclass

from qmon.model.anomalies import Starved
from qmon.model.samples.messages import MessageDiagnostics


@dataclass(slots=True)
class _Level:
    head_id: str
    since_at: float
    moves: int
    """How often any head had moved when this one came."""


class PriorityTrack:
    """The priorities of one queue. Not thread-safe: one thread folds."""

    def __init__(self) -> None:
        self._levels: dict[int, _Level] = {}
        self._moves = 0

    def add(self, clues: MessageDiagnostics, at: float) -> Starved | None:
        """Take in one poll at ``at`` (server clock, seconds); the priority that waits longest while others go."""
        if clues.priorities is None:
            return None
        now = {sample.priority: sample for sample in clues.priorities}
        self._moves += sum(1 for p, level in self._levels.items() if p not in now or now[p].head_id != level.head_id)
        for priority, sample in now.items():
            level = self._levels.get(priority)
            if level is None or level.head_id != sample.head_id:
                self._levels[priority] = _Level(sample.head_id, at, self._moves)
        self._levels = {p: level for p, level in self._levels.items() if p in now}
        waiting = [(level.since_at, p) for p, level in self._levels.items() if self._moves > level.moves]
        if not waiting:
            return None
        since_at, priority = min(waiting)
        level = self._levels[priority]
        return Starved(priority, level.head_id, at - since_at, now[priority].oldest_s, self._moves - level.moves)
