"""Real workers: the libraries' tables match the application's log."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.libraries.every import LIBRARIES
from tests.libraries.library import ATTEMPTS, QUEUES, Event, Library, fates

pytestmark = pytest.mark.server


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, database: str) -> Library:
    """Each library, with its tables in a fresh database."""
    made: Library = request.param()
    made.install(database)
    return made


def agree(library: Library, url: str, events: list[Event]) -> None:
    """Check that the tables match the log while nothing moves, and that the library's own checks pass."""
    truth, said = library.truth(url), fates(events, library.untold)
    for queue, counts in said.items():
        assert truth[queue] == {**dict.fromkeys(truth[queue], 0), **counts}, queue
    library.check(url)


def test_tables_hold_what_the_log_says(library: Library, database: str, tmp_path: Path) -> None:
    mails, invoices = QUEUES
    events = [
        *library.push(database, mails, ["one", "two", "three"]),
        *library.push(database, mails, ["tried again"], fails=1),
        *library.push(database, mails, ["tomorrow", "as well"], due_in_s=86_400),
        *library.push(database, invoices, ["one", "two"]),
        *library.push(database, invoices, ["dead"], fails=ATTEMPTS),
        *library.push(database, invoices, ["tomorrow"], due_in_s=86_400),
    ]
    agree(library, database, events)

    with library.start(database, tmp_path, "worker", QUEUES) as worker:
        worker.wait(7, "completed", "failed")
        worker.stop()
        events += worker.events()
    assert worker.count("retried") == 1 + (ATTEMPTS - 1)
    agree(library, database, events)

    events += library.push(database, invoices, ["stuck"])
    with library.start(database, tmp_path, "doomed", [invoices], seconds_per_job=3600) as doomed:
        (stuck,) = doomed.kill()
        events += doomed.events()
    events += library.push(database, invoices, ["behind it"])
    agree(library, database, events)
    assert library.held(database) == {stuck.id: stuck.worker if library.names_workers else ""}
