"""Rates of libraries' queues, compared with the applications' logs over the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from qmon.model.reasons import Reason
from qmon.model.view import QueueView, View
from tests.contract.watching import watching
from tests.libraries.every import LIBRARIES, MIXED
from tests.libraries.figures import of_queue
from tests.libraries.library import QUEUES, Event, Kind, Library, within
from tests.libraries.rates import INTERVAL_S, agrees
from tests.wordings import has

pytestmark = pytest.mark.server

BATCH: Final = 10
WINDOW_S: Final = 8.0


@contextmanager
def pushing(library: Library, url: str, queues: Iterable[str]) -> Iterator[list[Event]]:
    """Push batches of jobs one after the other until the end of the block; yield the log of them."""
    log: list[Event] = []
    done = threading.Event()

    def push() -> None:
        number = 0
        while not done.is_set():
            for queue in queues:
                number += 1
                log.extend(library.push(url, queue, [f"{number}/{n}" for n in range(BATCH)]))
            done.wait(0.3)

    thread = threading.Thread(target=push)
    thread.start()
    try:
        yield log
    finally:
        done.set()
        thread.join()


def told(view: View, name: str) -> QueueView | None:
    """Return the queue once its rates cover a long enough window."""
    queue = of_queue(view, name)
    return queue if (queue.window_s or 0.0) >= WINDOW_S and queue.push_rate.value is not None else None


@pytest.mark.parametrize("make", LIBRARIES)
def test_rates_are_what_the_application_wrote_down(make: Callable[[], Library], database: str, tmp_path: Path) -> None:
    library = make()
    library.install(database)
    for name in QUEUES:
        library.push(database, name, ["first"])
    with (
        library.start(database, tmp_path, "worker", QUEUES, seconds_per_job=0.01) as worker,
        watching(database, interval_s=INTERVAL_S) as watched,
        pushing(library, database, QUEUES) as log,
    ):
        worker.wait(10, "completed")
        if library.name in MIXED:
            view = watched.view(lambda view: len(view.queues) >= len(QUEUES), polls=6)
            for name in QUEUES:
                queue = of_queue(view, name)
                assert queue.push_rate.value is None
                assert queue.pop_rate.value is None
                assert has(queue.push_rate.reason, Reason.MIXED_QUEUES)
            return
        view = watched.view(lambda view: all(told(view, name) for name in QUEUES))
    events = worker.events()
    moved = 0
    for name in QUEUES:
        queue = of_queue(view, name)
        window_s = queue.window_s or 0.0
        checked: list[tuple[Kind, float | None, list[Event]]] = [
            ("pushed", queue.push_rate.value, log),
            ("completed", queue.complete_rate.value, events),
            ("claimed", queue.pop_rate.value, events),
        ]
        for kind, rate, said in checked:
            if rate is None:
                assert kind == "completed", (name, kind)
                continue

            def counted(start: float, end: float, kind: Kind = kind, said: list[Event] = said, of: str = name) -> int:
                return within(said, kind, of, start, end)

            moved += counted(view.sampled_at - window_s, view.sampled_at)
            assert agrees(rate, window_s, counted, view.sampled_at), (name, kind, rate * window_s, window_s)
    assert moved > 0
