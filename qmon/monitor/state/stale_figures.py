"""Figures that stay on the screen while their probe is left out to stay within the budget, each with its age."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from qmon.model.snapshot import QueueSamples
from qmon.model.view import Figure
from qmon.monitor.poll.queue_probes import ring_probe

_PROGRESS: Final = "progress"
_OF_LOCKS: Final = frozenset({"in_progress", "stuck"})


def of_locks(probe: str) -> bool:
    """Whether a probe tells nothing but which rows are held, and is left out of most polls for what it costs."""
    return probe.startswith("unseen")


def flow_left_out(q: QueueSamples) -> bool:
    """Whether what moved since the last poll cannot be told, since a probe that tells it was left out."""
    return any(probe == ring_probe(q.layout) or probe.startswith(_PROGRESS) for probe in q.left_out)


class StaleFigures:
    """The last known figures of one queue."""

    def __init__(self) -> None:
        self._figures: dict[str, tuple[float, Figure]] = {}

    def see(self, name: str, figure: Figure, q: QueueSamples, at: float) -> Figure:
        """The figure as it is to be shown at ``at`` (server clock, seconds): the last one, older, where none was read.

        ``name``: a field of ``QueueView``.
        """
        if figure.value is not None or not any(name in _OF_LOCKS or not of_locks(probe) for probe in q.left_out):
            self._figures[name] = (at, figure)
            return figure
        read_at, last = self._figures.get(name, (at, figure))
        if last.value is None:
            return figure
        reason = "read less often, to stay within the budget"
        return replace(last, estimated=not last.at_least, reason=reason, age_s=last.age_s + at - read_at)

    def forget(self) -> None:
        """There was a gap or a restart: what was read before it says nothing any more."""
        self._figures.clear()
