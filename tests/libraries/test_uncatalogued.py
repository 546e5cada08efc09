"""qmon's figures of real workers' queues whose library it does not know: unaided, and after a few edited lines."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from qmon.config.config_file import parse_config
from qmon.model.figure import Figure
from qmon.model.groups.configured_queue import ConfiguredQueue
from qmon.model.verdicts.judge import HEALTHY
from qmon.model.view import QueueView
from tests.cli.calling import call
from tests.contract.watching import watching
from tests.libraries.figures import STATES, watched
from tests.libraries.library import QUEUES, Event, Kind, State, Worker, pushed, within
from tests.libraries.rates import INTERVAL_S, agrees
from tests.libraries.uncatalogued import CATALOGUED, UNCATALOGUED, Push, Row, Uncatalogued
from tests.meanwhile import meanwhile

pytestmark = pytest.mark.server

MAILS, INVOICES = QUEUES
WINDOW_S: Final = 4.0
# The tables are read up to this many seconds before or after qmon reads them.
LATER_S: Final = 5.0


@pytest.mark.parametrize("library", UNCATALOGUED, ids=lambda library: library.program)
def test_no_figure_is_wrong_without_a_mark_and_after_init_and_a_few_edits_all_are_right(
    library: Uncatalogued, database: str, tmp_path: Path
) -> None:
    with library.client(database, tmp_path) as push:
        push(MAILS, ["f1"], 0.0, int(library.fails))
        push(MAILS, [f"m{number}" for number in range(6)])
        if library.due:
            push(MAILS, ["t1", "t2"], 86_400.0)
        push(INVOICES, ["i1", "i2", "i3"])
        is_honest(library, database)
        with library.start(database, tmp_path, MAILS, seconds_per_job=3600.0) as worker:
            worker.hurry()
            worker.wait(6, "completed")
            worker.slow_down()
            push(MAILS, [f"n{number}" for number in range(4)])
            with worker.frozen():
                is_honest(library, database)
                configured = edited(library, database)
                is_right(library, database, configured)
            worker.hurry()
            rates_are_right(database, configured, push, worker)


@pytest.mark.parametrize("library", CATALOGUED, ids=lambda library: library.program)
def test_figures_of_queues_of_the_catalogue_are_those_of_the_tables(
    library: Uncatalogued, database: str, tmp_path: Path
) -> None:
    with library.client(database, tmp_path) as push:
        push(MAILS, [f"m{number}" for number in range(6)], 0.0, 0)
        push(INVOICES, ["i1", "i2", "i3"], 0.0, 0)
        is_right(library, database, ())
        with library.start(database, tmp_path, MAILS, seconds_per_job=3600.0) as worker:
            worker.hurry()
            worker.wait(6, "completed")
            worker.slow_down()
            push(MAILS, [f"n{number}" for number in range(4)], 0.0, 0)
            with worker.frozen():
                is_right(library, database, ())


def is_honest(library: Uncatalogued, url: str) -> None:
    """Check the figures without a configuration: each is right or has a mark. The tables stand still."""
    view = watched(url)
    assert bool(view.queues) >= library.found
    truth = library.read_truth(url)
    for queue in view.queues:
        expected = counted(truth)
        for name in STATES:
            figure = getattr(queue, name)
            if figure.value is not None and not (figure.estimated or figure.at_least or figure.old):
                assert figure.value == expected[name], (queue.name, name)
        is_age_of(queue.oldest, truth)
        if any(getattr(queue, name).value is None and queue.layout.has_figure(name) for name in STATES):
            assert queue.verdict.code != HEALTHY


def edited(library: Uncatalogued, url: str) -> tuple[ConfiguredQueue, ...]:
    """Return the queues that ``qmon init`` writes, with the user's edits."""
    assert library.edited_lines <= 5
    said = call("init", url, "--print")
    assert said.exit_code == 0, said.output
    (target,) = parse_config(library.edit(said.output), Path("qmon.toml")).targets.values()
    return target.queues


def is_right(library: Uncatalogued, url: str, configured: tuple[ConfiguredQueue, ...]) -> None:
    """Check that all figures become those of the tables, which stand still.

    The server may still run the last statement of a worker that was stopped.
    """

    def rows_of(queue: QueueView) -> list[Row]:
        return [row for row in library.read_truth(url) if queue.name.partition("/")[2] in ("", row[0])]

    def fits(queue: QueueView) -> bool:
        figures = {name: getattr(queue, name) for name in STATES}
        assert queue.failures == ()
        return all(
            figures[name].value == number and not figures[name].at_least
            for name, number in counted(rows_of(queue)).items()
            if number or queue.layout.has_figure(name)
        )

    with watching(url, configured, interval_s=INTERVAL_S) as watch:
        view = watch.view(lambda view: view.queues and all(map(fits, view.queues)))
    assert {queue.name.partition("/")[2] for queue in view.queues} in ({""}, set(QUEUES))
    for queue in view.queues:
        rows = rows_of(queue)
        is_age_of(queue.oldest, rows)
        ages = [oldest for _, state, _, oldest in rows if state == "ready" and oldest is not None]
        assert (queue.oldest.value is None) <= (ages == [])


def counted(rows: Sequence[Row]) -> Counter[State]:
    """Return the number of messages in each state."""
    found: Counter[State] = Counter(dict.fromkeys(STATES, 0))
    for _, state, count, _ in rows:
        found[state] += count
    return found


def is_age_of(age: Figure, rows: Sequence[Row]) -> None:
    """Check that this is the age of the oldest ready message, or that it has a mark."""
    ages = [oldest for _, state, _, oldest in rows if state == "ready" and oldest is not None]
    if age.value is None or age.at_least:
        return
    assert ages
    assert max(ages) - LATER_S <= age.value <= max(ages) + LATER_S


def rates_are_right(database: str, configured: tuple[ConfiguredQueue, ...], push: Push, worker: Worker) -> None:
    """Check rates while a producer pushes to both queues and the worker takes messages of one."""
    log: list[Event] = []

    def produce(over: threading.Event) -> None:
        number = 0
        while not over.wait(0.3):
            for queue in QUEUES:
                number += 1
                payloads = [f"{number}/{n}" for n in range(5)]
                push(queue, payloads, 0.0, 0)
                log.extend(pushed(queue, payloads, 0.0))

    with watching(database, configured, interval_s=INTERVAL_S) as watch, meanwhile(produce):
        view = watch.view(lambda view: view.queues and all(map(is_told, view.queues)))
    events = worker.events()
    for queue in view.queues:
        of = queue.name.partition("/")[2]
        names = QUEUES if not of else (of,)
        window_s = queue.window_s or 0.0
        checked: list[tuple[Kind, Figure, list[Event]]] = [
            ("pushed", queue.push_rate, log),
            ("claimed", queue.pop_rate, events),
            ("completed", queue.complete_rate, events),
        ]
        for kind, figure, said in checked:
            if figure.value is None:
                assert kind == "completed"
                assert not queue.layout.has_figure("complete_rate")
                continue

            def count(
                start: float, end: float, kind: Kind = kind, said: list[Event] = said, of: tuple[str, ...] = names
            ) -> int:
                return sum(within(said, kind, each, start, end) for each in of)

            assert agrees(figure.value, window_s, count, view.sampled_at), (queue.name, kind, figure.value * window_s)


def is_told(queue: QueueView) -> bool:
    """Return whether the rates of a queue cover a long enough window."""
    return (queue.window_s or 0.0) >= WINDOW_S and queue.push_rate.value is not None
