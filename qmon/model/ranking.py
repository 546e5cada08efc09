"""Which queue needs attention first: by severity, then how many messages wait, then the age of the oldest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from qmon.model.figure import Severity
from qmon.model.view import QueueView, View

# Seconds that new figures must last before a queue changes its place.
SETTLED_S: Final = 10.0
_TIMES: Final = 2.0
# Figures differ where the greater is more than `_TIMES` the lesser, and by more than this.
_SLACK: Final = 10.0


@dataclass(frozen=True, slots=True)
class _Place:
    """What a queue is ranked by. ``oldest``: seconds. ``other_since``: since when its figures have been other ones."""

    severity: Severity
    ready: float
    oldest: float
    other_since: float | None = None


class Ranking:
    """The queues of one target, the worst first. Rows must not jump about: figures that rise and fall change no place.

    A severity counts at once, other figures after ``SETTLED_S``. What is unknown counts as nothing, so that a queue is
    ranked by what is known of it.
    """

    def __init__(self) -> None:
        self._places: dict[str, _Place] = {}

    def ranked(self, view: View) -> tuple[QueueView, ...]:
        """The queues of the next view, the worst first, equal ones by name."""
        at = view.sampled_at
        self._places = {queue.name: _placed(queue, self._places.get(queue.name), at) for queue in view.queues}
        return tuple(sorted(view.queues, key=self.order))

    def order(self, queue: QueueView) -> tuple[int, float, float, str]:
        """What a queue of the newest view is sorted by, the worst first; comparable with other targets' queues."""
        place = self._places[queue.name]
        return -place.severity, -place.ready, -place.oldest, queue.name.casefold()


def _placed(queue: QueueView, before: _Place | None, at: float) -> _Place:
    severity, ready, oldest = queue.verdict.severity, queue.ready.value or 0.0, queue.oldest.value or 0.0
    if before is None or before.severity != severity:
        return _Place(severity, ready, oldest)
    if not (_is_other(before.ready, ready) or _is_other(before.oldest, oldest)):
        return before if before.other_since is None else replace(before, other_since=None)
    if before.other_since is None:
        return replace(before, other_since=at)
    return before if 0.0 <= at - before.other_since < SETTLED_S else _Place(severity, ready, oldest)


def _is_other(one: float, other: float) -> bool:
    """Whether the difference is worth another place."""
    return one > _TIMES * other + _SLACK or other > _TIMES * one + _SLACK
