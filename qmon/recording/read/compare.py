"""Compares two moments of a recording."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from qmon.model.figure import Figure
from qmon.model.view import QueueView, View


@dataclass(frozen=True, slots=True)
class FigurePair:
    """One figure of a queue at two moments. ``None``: unknown then, or no such queue."""

    queue: str
    figure: str
    before: float | None
    after: float | None

    @property
    def change(self) -> float | None:
        """The difference, or ``None`` if one value is unknown."""
        return self.after - self.before if self.after is not None and self.before is not None else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """All figures of all queues, and the verdicts of each queue before and after."""

    pairs: tuple[FigurePair, ...]
    verdicts: tuple[tuple[str, str, str], ...]


FIGURES: Final[tuple[tuple[str, Callable[[QueueView], Figure]], ...]] = (
    ("ready", lambda q: q.ready),
    ("in progress", lambda q: q.in_progress),
    ("stuck", lambda q: q.stuck),
    ("oldest, s", lambda q: q.oldest),
    ("push/s", lambda q: q.push_rate),
    ("pop/s", lambda q: q.pop_rate),
)


def compare_views(before: View, after: View) -> Comparison:
    """Compare the figures of two views."""
    names = dict.fromkeys(q.name for view in (after, before) for q in view.queues)
    pairs, verdicts = [], []
    for name in names:
        then, now = before.queue(name), after.queue(name)
        for figure, of in FIGURES:
            pairs.append(FigurePair(name, figure, of(then).value if then else None, of(now).value if now else None))
        verdicts.append((name, then.verdict.code if then else "–", now.verdict.code if now else "–"))
    return Comparison(tuple(pairs), tuple(verdicts))
