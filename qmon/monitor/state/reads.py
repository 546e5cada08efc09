"""Pages read per call of the procedures that pop from one queue, over the last minute (SQL Server)."""

from __future__ import annotations

from collections import deque
from typing import Final

from qmon.model.layout.layout import Layout
from qmon.model.rates.procedures import reads_between
from qmon.model.samples.procedures import ProcedureReads
from qmon.model.snapshot import Snapshot
from qmon.model.view import Figure

WINDOW_S: Final = 60.0
"""Readings come every ten seconds, or less often."""
_FIRST: Final = "follows with the next reading"
_NONE: Final = 'no procedure that pops is known and has run: poppers = { procedure = "…" } names one'
_NONE_OF_OURS: Final = "none of its procedures has run, or our role may not see them: VIEW DEFINITION shows them"


class ReadsTrack:
    """The memory of one queue. Not thread-safe: one thread folds.

    Pages per call know nothing of time, and totals of other plans are never compared: a restart needs no care.
    """

    def __init__(self) -> None:
        self._kept: deque[tuple[float, tuple[ProcedureReads, ...]]] = deque(maxlen=256)
        self._shown: Figure | None = None
        self._shown_at = 0.0

    def add(self, snapshot: Snapshot, layout: Layout) -> Figure | None:
        """Pages per call of a pop; ``None`` on an engine that has no such reading.

        A poll that did not read it has the figure of an earlier one, with its age.
        """
        at = snapshot.sampled_at
        if snapshot.procedures is None:
            if self._shown is None or self._shown.value is None:
                return self._shown
            return Figure(self._shown.value, age_s=max(0.0, at - self._shown_at))
        own = tuple(each for each in snapshot.procedures if each.queue == layout.queue)
        while self._kept and at - self._kept[0][0] > WINDOW_S * 1.5:
            self._kept.popleft()
        self._shown, self._shown_at = self._figure(own, layout), at
        self._kept.append((at, own))
        return self._shown

    def _figure(self, now: tuple[ProcedureReads, ...], layout: Layout) -> Figure:
        if not any(each.verb == "pop" for each in now):
            return Figure.unknown(_NONE_OF_OURS if layout.routines else _NONE)
        for _, before in self._kept:
            moved = reads_between(before, now, "pop")
            if moved is not None:
                reads, calls = moved
                return Figure(reads / calls) if calls > 0 else Figure.unknown("no pop has ended in the last minute")
        return Figure.unknown(_FIRST)
