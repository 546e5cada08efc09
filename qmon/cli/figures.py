"""The figures of a view as text: for ``qmon status`` in a terminal or a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from qmon.model.view import Figure, View

UNKNOWN: Final = "–"
_HEADERS: Final = (
    "QUEUE", "DESIGN", "READY", "IN PROG", "STUCK", "DEAD", "OLDEST", "PUSH/s", "POP/s", "GAP", "VERDICT",
)  # fmt: skip


def status_rows(view: View) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headers, and one row a queue."""
    rows: list[tuple[str, ...]] = [
        (
            queue.name,
            queue.layout.design,
            shown(queue.ready, count),
            shown(queue.in_progress, count),
            shown(queue.stuck, count),
            shown(queue.dead, count),
            shown(queue.oldest, age),
            shown(queue.push_rate, rate),
            shown(queue.pop_rate, rate),
            shown(queue.gap, count),
            f"{queue.verdict.code}: {queue.verdict.proof}" if queue.verdict.proof else queue.verdict.code,
        )
        for queue in view.queues
    ]
    return _HEADERS, rows


def shown(figure: Figure, write: Callable[[float], str]) -> str:
    """A figure with its sign: ``~`` estimated, ``≥`` at least, ``–`` unknown."""
    if figure.value is None:
        return UNKNOWN
    sign = "≥" if figure.at_least else "~" if figure.estimated else ""
    return sign + write(figure.value)


def count(value: float) -> str:
    """``12,431``."""
    return f"{round(value):,}"


def rate(value: float) -> str:
    """Messages per second: ``18.3``, ``91,204``."""
    return f"{value:,.1f}" if abs(value) < 100 else count(value)


def age(seconds: float) -> str:
    """``0.4 s``, ``5 m 20 s``, ``2 h 04 m``, ``3 d 11 h``."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    whole = int(seconds)
    for size, unit, finer, smaller in ((86400, "d", 3600, "h"), (3600, "h", 60, "m"), (60, "m", 1, "s")):
        if whole >= size:
            return f"{whole // size} {unit} {whole % size // finer:02d} {smaller}"
    raise AssertionError("a minute or more has a unit")
