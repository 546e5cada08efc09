"""Rank queues by the attention they need: by severity, then ready messages, then age of the oldest message."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from qmon.model.figure import Severity
from qmon.model.view import QueueView, View

# A queue changes its place after its new figures have lasted this many seconds.
SETTLED_S: Final = 10.0

# Two figures differ if the greater one is more than `_TIMES` times the lesser one plus `_SLACK`.
_TIMES: Final = 2.0
_SLACK: Final = 10.0


@dataclass(frozen=True, slots=True)
class _Place:
    """The figures by which a queue is ranked.

    ``oldest``: seconds. ``other_since``: when the queue's current figures began to differ from the figures here.
    """

    severity: Severity
    ready: float
    oldest: float
    other_since: float | None = None


class Ranking:
    """Ranks the queues of one target, worst first. Queues do not change places when figures only fluctuate.

    A changed severity takes effect immediately. Other changed figures take effect after ``SETTLED_S`` seconds. Unknown
    values rank as 0.
    """

    def __init__(self) -> None:
        self._places: dict[str, _Place] = {}

    def rank_queues(self, view: View) -> tuple[QueueView, ...]:
        """Return the queues of the next view, worst first. Equal queues are sorted by name."""
        at = view.sampled_at
        self._places = {queue.name: _next_place(queue, self._places.get(queue.name), at) for queue in view.queues}
        return tuple(sorted(view.queues, key=self.sort_key))

    def sort_key(self, queue: QueueView) -> tuple[int, float, float, str]:
        """Return the sort key of a queue of the newest view, worst first. Keys of different targets are comparable."""
        place = self._places[queue.name]
        return -place.severity, -place.ready, -place.oldest, queue.name.casefold()


def _next_place(queue: QueueView, before: _Place | None, at: float) -> _Place:
    severity, ready, oldest = queue.verdict.severity, queue.ready.value or 0.0, queue.oldest.value or 0.0
    if before is None or before.severity != severity:
        return _Place(severity, ready, oldest)
    if not (_is_far_apart(before.ready, ready) or _is_far_apart(before.oldest, oldest)):
        return before if before.other_since is None else replace(before, other_since=None)
    if before.other_since is None:
        return replace(before, other_since=at)
    return before if 0.0 <= at - before.other_since < SETTLED_S else _Place(severity, ready, oldest)


def _is_far_apart(one: float, other: float) -> bool:
    """Return whether two figures differ enough for a queue to change its place."""
    return one > _TIMES * other + _SLACK or other > _TIMES * one + _SLACK
