"""A minute of real work: compare each figure of ``qmon status`` with the application's log."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.calling import call
from tests.contract.watching import watching
from tests.facts import query
from tests.libraries.acting import OLD
from tests.libraries.every import LIBRARIES, MIXED
from tests.libraries.figures import of_queue
from tests.libraries.library import ATTEMPTS, QUEUES, Event, Kind, Library, State, fates, within
from tests.meanwhile import meanwhile

pytestmark = pytest.mark.soak  # a minute per library; test_figures.py is faster

OVER_S: Final = 60.0
# Figures are up to one poll old.
LAG_S: Final = 2.5
RATES: Final[Mapping[str, Kind]] = {"push_rate": "pushed", "pop_rate": "claimed", "complete_rate": "completed"}
# Nothing can be stuck in these libraries, because messages return by themselves.
LEASES_END: Final = ("pgmq",)


@contextmanager
def pushing(library: Library, url: str, log: list[Event]) -> Iterator[None]:
    """Push jobs into both queues until the end of the block; one in ten fails once."""

    def push(over: threading.Event) -> None:
        while not over.wait(0.3):
            for number, queue in enumerate(QUEUES):
                log.extend(library.push(url, queue, [f"job {n}" for n in range(9 - 4 * number)]))
                log.extend(library.push(url, queue, ["fails once"], fails=1))

    with meanwhile(push):
        yield


def held_between(
    events: list[Event], queue: str, states: tuple[State, ...], start: float, end: float
) -> tuple[int, int]:
    """Return the lowest and the highest number of jobs in these states during this time."""
    moments = [start, *(each.at for each in events if start < each.at <= end)]
    counts = [fates([each for each in events if each.at <= moment]).get(queue, {}) for moment in moments]
    held = [sum(each.get(state, 0) for state in states) for each in counts]
    return min(held), max(held)


def check_states(name: str, told: dict[str, Any], events: list[Event], sampled_at: float) -> list[str]:
    """Check each figure against the log around the time it was read; return a cell of the table for each."""
    asked: tuple[tuple[str, tuple[str, ...], tuple[State, ...]], ...] = (
        ("depth", ("ready", "scheduled"), ("ready", "scheduled", "retry")),
        ("in progress", ("in_progress",), ("in_progress",)),
        ("dead", ("dead",), ("dead",)),
    )
    cells = []
    for what, figures, states in asked:
        values = [told[figure] for figure in figures]
        if None in values:
            assert all(told["unknown"][figure] for figure in figures), (name, what)
            cells.append("–")
            continue
        age_s = max(told["age_seconds"].get(figure, 0.0) for figure in figures)
        low, high = held_between(events, name, states, sampled_at - age_s - LAG_S, sampled_at)
        assert low <= sum(values) <= high, (name, what, values, low, high, age_s)
        cells.append(f"{sum(values)} of {low}–{high}" if low < high else f"{sum(values)} of {low}")
    return cells


def check_rates(library: Library, name: str, told: dict[str, Any], events: list[Event], sampled_at: float) -> list[str]:
    """Check each rate against the log, within 3 % or 1.5 s of the flow; rates marked "≥" lack retries."""
    cells = []
    for figure, kind in RATES.items():
        rate, window_s = told[figure], told["window_seconds"]
        if rate is None:
            assert library.name in MIXED or figure == "complete_rate", (name, figure, told["unknown"].get(figure))
            assert told["unknown"][figure], (name, figure)
            cells.append("–")
            continue
        assert window_s >= OVER_S - 4.5, window_s
        ends = [sampled_at - n * LAG_S / 5 for n in range(6)]
        counted = [within(events, kind, name, end - window_s, end) for end in ends]
        near = max(0.03 * max(counted), 1.5 * max(counted) / window_s)
        most = max(counted) + near
        if figure in told["approximate"]:
            assert (figure, told["approximate"][figure]) == ("pop_rate", "≥"), told["approximate"]
            retried = [within(events, "retried", name, end - window_s, end) for end in ends]
            counted = [count - unseen for count, unseen in zip(counted, retried, strict=True)]
        assert min(counted) - near <= rate * window_s <= most, (name, figure, rate * window_s, counted, most)
        truth = within(events, kind, name, sampled_at - 1 - window_s, sampled_at - 1) / window_s
        cells.append(f"{told['approximate'].get(figure, '')}{rate:.1f} of {truth:.1f}")
    return cells


def named_as_killed(library: Library, make: Callable[[], Library], url: str, folder: Path) -> str:
    """Kill a worker in the middle of a job: the verdict names the job, and so the worker; return a cell."""
    _, invoices = QUEUES
    library.push(url, invoices, ["stuck"])
    with library.start(url, folder, "doomed", [invoices], seconds_per_job=3600) as doomed:
        killed = doomed.kill()[-1]
    query(url, next(old for each, old in OLD.items() if each is make))
    with watching(url) as watched:
        if library.name in LEASES_END:
            view = watched.view(lambda view: of_queue(view, invoices).in_progress.value, polls=3)
            assert of_queue(view, invoices).verdict.code != "stuck in progress"
            return "its lease ends"
        view = watched.view(lambda view: of_queue(view, invoices).verdict.code == "stuck in progress")
    proof = of_queue(view, invoices).verdict.proof
    if not library.names_workers:
        return "named"
    named = re.search(r"\((\S+) has had message (\S+)", proof)
    assert named is not None, proof
    worker, id = named.groups()
    if library.name == "firm-queue":
        ((worker,),) = query(url, "SELECT name FROM firm_queue_processes WHERE id = ?", int(worker))
    assert (library.held(url)[id], killed.worker) == (worker, worker)
    return f"named, with {worker}"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("make", LIBRARIES)
def test_each_figure_is_what_the_application_wrote_down(
    make: Callable[[], Library], database: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    library = make()
    library.install(database)
    mails, invoices = QUEUES
    log = library.push(database, mails, ["tomorrow"] * 7, due_in_s=86_400)
    log += library.push(database, invoices, ["dead"] * 3, fails=ATTEMPTS)
    log += library.push(database, mails, ["first"])
    with library.start(database, tmp_path, "worker", QUEUES, seconds_per_job=0.01) as worker:
        worker.wait(3, "failed")
        with pushing(library, database, log):
            done = call("status", database, "--output", "json", "--over", f"{OVER_S:g}s")
        events = log + worker.events()
        worker.stop()
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["failures"] == []
    sampled_at = datetime.fromisoformat(told["sampled_at"].replace("Z", "+00:00")).timestamp()
    queues = {each["name"].rpartition("/")[2]: each for each in told["queues"]}
    assert set(queues) >= set(QUEUES)
    rows = []
    for name in QUEUES:
        cells = check_states(name, queues[name], events, sampled_at)
        rows.append([library.name, name, *cells, *check_rates(library, name, queues[name], events, sampled_at)])
    scheduled = [queues[mails]["scheduled"], library.truth(database)[mails].get("scheduled")]
    assert scheduled[1] == 7 <= scheduled[0]
    killed = named_as_killed(library, make, database, tmp_path)
    for row in rows:
        record_property("minute", json.dumps([*row, killed]))
