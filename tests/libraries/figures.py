"""The figures of libraries' queues, compared with the libraries' own tables."""

from __future__ import annotations

from collections.abc import Mapping

from qmon.model.view import QueueView, View
from qmon.monitor.one_shot import view_after
from tests.libraries.library import QUEUES, Counts, Library, State
from tests.queues import target_of

STATES: tuple[State, ...] = ("ready", "scheduled", "in_progress", "blocked", "dead", "done")
ENDS: tuple[State, ...] = ("dead", "done")


def watched(url: str) -> View:
    """Return the view after two polls."""
    return view_after(target_of(url), polls=2, interval_s=0.5)


def of_queue(view: View, name: str) -> QueueView:
    """Return the queue with this name in the library."""
    (found,) = [queue for queue in view.queues if queue.name.endswith(f"/{name}")]
    return found


def counted(queue: QueueView) -> dict[str, float | None]:
    """Return its messages by state."""
    figures = {name: getattr(queue, name) for name in STATES if queue.layout.has_figure(name)}
    assert not any(figure.at_least or figure.estimated for figure in figures.values()), queue
    return {name: figure.value for name, figure in figures.items()}


def expected(truth: Counts, queue: QueueView) -> Mapping[str, float]:
    """Return the same by the library's rules: retries are scheduled, cancelled jobs done. Done jobs may be gone."""
    told = {name: truth.get(name, 0) for name in STATES} | {
        "scheduled": truth.get("scheduled", 0) + truth.get("retry", 0),
        "done": truth.get("done", 0) + truth.get("cancelled", 0),
    }
    return {
        name: value for name, value in told.items() if name not in (*ENDS, "blocked") or queue.layout.has_figure(name)
    }


def agrees(library: Library, url: str) -> View:
    """Check that each queue has the figures of its tables, and that no probe failed."""
    view = watched(url)
    assert not view.failures
    truth = library.truth(url)
    for name in QUEUES:
        queue = of_queue(view, name)
        assert not queue.failures
        assert counted(queue) == expected(truth[name], queue), name
    return view
