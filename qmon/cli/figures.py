"""The figures of a view as text: for ``qmon status`` in a terminal or a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qmon.model.broker import state

if TYPE_CHECKING:
    from collections.abc import Callable

    from qmon.model.broker import BrokerView
    from qmon.model.figure import Figure, Verdict
    from qmon.model.view import View

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
    if view.server.broker is not None:
        rows += _broker_rows(view.server.broker)
    return _HEADERS, rows


def _broker_rows(found: BrokerView) -> list[tuple[str, ...]]:
    """One row a queue of Service Broker, and one for what is sent and not delivered where there is some."""

    def row(name: str, depth: Figure, verdict: Verdict | None, otherwise: str) -> tuple[str, ...]:
        told = otherwise if verdict is None else f"{verdict.code}: {verdict.proof}"
        return (name, "service_broker", shown(depth, count), *[UNKNOWN] * 7, told)

    rows = [row(q.name, q.depth, q.verdict, state(q, monitored=found.monitored)) for q in found.queues]
    if found.sending.value:
        rows.append(row("sys.transmission_queue", found.sending, found.verdict, "sent and not delivered yet"))
    return rows


def shown(figure: Figure, write: Callable[[float], str]) -> str:
    """A figure with its sign: ``~`` estimated, ``≥`` at least, ``–`` unknown; an old one with its age."""
    if figure.value is None:
        return UNKNOWN
    sign = "≥" if figure.at_least else "~" if figure.estimated else ""
    return sign + write(figure.value) + (f" ({age(figure.age_s)} ago)" if figure.old else "")


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
