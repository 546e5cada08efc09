"""qmon's figures of libraries' queues, without any configuration, match their tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from qmon.model.view import QueueView, View
from qmon.monitor.one_shot import view_after
from tests.cli.calling import call
from tests.libraries.every import LIBRARIES
from tests.libraries.library import ATTEMPTS, QUEUES, Counts, Library, State
from tests.libraries.procrastinate import procrastinate
from tests.queues import target_of
from tests.schemas import valid

pytestmark = pytest.mark.server

STATES: tuple[State, ...] = ("ready", "scheduled", "in_progress", "blocked", "dead", "done")
ENDS: tuple[State, ...] = ("dead", "done")


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, database: str) -> Library:
    """Each library, with its tables in a fresh database."""
    made: Library = request.param()
    made.install(database)
    return made


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


def test_each_queue_has_the_figures_of_its_tables(library: Library, database: str, tmp_path: Path) -> None:
    mails, invoices = QUEUES
    library.push(database, mails, ["one", "two", "three"])
    library.push(database, mails, ["tomorrow", "as well"], due_in_s=86_400)
    library.push(database, invoices, ["one"])
    library.push(database, invoices, ["dead"], fails=ATTEMPTS)
    view = agrees(library, database)
    assert sorted(queue.name.rpartition("/")[2] for queue in view.queues) == sorted(QUEUES)
    assert (of_queue(view, mails).oldest.value or 0) < 60

    with library.start(database, tmp_path, "worker", QUEUES) as worker:
        worker.wait(5, "completed", "failed")
        worker.stop()
    agrees(library, database)

    library.push(database, invoices, ["stuck"])
    with library.start(database, tmp_path, "doomed", [invoices], seconds_per_job=3600) as doomed:
        doomed.kill()
    agrees(library, database)


def test_queues_names_them_and_explains_why(database: str) -> None:
    library = procrastinate()
    library.install(database)
    for name in QUEUES:
        library.push(database, name, ["one"])
    said = call("queues", database, "--explain")
    assert said.exit_code == 0, said.output
    lines = [line.split() for line in said.output.splitlines()]
    assert [line[:2] for line in lines[1:4]] == [
        ["procrastinate", "table"],
        ["procrastinate/invoices", "procrastinate"],
        ["procrastinate/mails", "procrastinate"],
    ]
    assert lines[1][-2:] == ["2", "queues"]
    assert "procrastinate in schema public: recognized by procrastinate_events, procrastinate_jobs" in said.output
    told = valid(call("queues", database, "--output", "json").output, "queues")
    assert [each["queues"] for each in told["libraries"]] == [["procrastinate/invoices", "procrastinate/mails"]]
    assert told["queues"] == []
