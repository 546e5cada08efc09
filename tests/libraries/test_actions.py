"""Repair jobs with the SQL of a library's own functions while real workers run. The workers accept the changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts import query, wait_until
from tests.libraries.acting import agree, times
from tests.libraries.every import LIBRARIES
from tests.libraries.firm_queue import firm_queue
from tests.libraries.library import ATTEMPTS, QUEUES, Library
from tests.libraries.oban import oban

pytestmark = pytest.mark.soak  # tests only the libraries; other tests cover qmon

MAILS, INVOICES = QUEUES


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, database: str) -> Library:
    """Each library, with its tables in a fresh database."""
    made: Library = request.param()
    made.install(database)
    return made


def test_what_is_requeued_is_worked_on_once(library: Library, database: str, tmp_path: Path) -> None:
    log = library.push(database, MAILS, ["stuck"])
    id = log[0].id
    for attempt in range(ATTEMPTS):  # the last one leaves no attempt
        with library.start(database, tmp_path, f"doomed {attempt}", [MAILS], seconds_per_job=3600) as doomed:
            doomed.kill()
        log += doomed.events()
        agree(library, database, log)
        assert len(query(database, library.actions.requeue, id)) == 1
        assert library.truth(database)[MAILS]["ready"] == 1
        library.check(database)
    log += library.push(database, MAILS, ["another"])
    with library.start(database, tmp_path, "good", QUEUES) as good:
        good.wait(2, "completed")
        good.stop()
    assert [times(good, id, kind) for kind in ("claimed", "completed", "retried", "failed")] == [1, 1, 0, 0]
    agree(library, database, log + good.events())
    if library.prunes:
        library.prune(database)
        assert library.truth(database)[MAILS]["done"] == 0
        library.check(database)


def test_a_dead_job_is_retried_and_a_waiting_one_discarded(library: Library, database: str, tmp_path: Path) -> None:
    log = library.push(database, INVOICES, ["dead"], fails=ATTEMPTS)
    dead = log[0].id
    kept, unwanted = library.push(database, MAILS, ["tomorrow", "not at all"], due_in_s=86_400)
    with library.start(database, tmp_path, "worker", QUEUES) as worker:
        worker.wait(1, "failed")
        wait_until(lambda: library.truth(database)[INVOICES]["dead"] == 1, what="it is dead")
        library.check(database)
        (tmp_path / "mended").touch()
        if library.actions.retry:
            assert len(query(database, library.actions.retry, dead)) == 1
            worker.wait(1, "completed")
        assert len(query(database, library.actions.discard, unwanted.id)) == 1
        assert query(database, library.actions.discard, unwanted.id) == []
        worker.stop()
    assert times(worker, dead, "claimed") == ATTEMPTS + bool(library.actions.retry)
    agree(library, database, [*log, kept, *worker.events()])


@pytest.mark.parametrize("library", [oban, firm_queue], indirect=True)
def test_a_queue_is_paused_and_resumed(library: Library, database: str, tmp_path: Path) -> None:
    with library.start(database, tmp_path, "worker", QUEUES) as worker:
        log = library.push(database, MAILS, ["before"])
        worker.wait(1, "completed")

        def paused() -> bool:
            """Pause until it takes effect: a worker may run before it listens."""
            query(database, library.actions.pause, MAILS)
            return query(database, library.actions.paused) == [(MAILS,)]

        wait_until(paused, what="it is paused")
        log += library.push(database, MAILS, ["kept back"])
        log += library.push(database, INVOICES, ["after it"])
        worker.wait(2, "completed")
        assert times(worker, log[1].id, "claimed") == 0
        query(database, library.actions.resume, MAILS)
        worker.wait(3, "completed")
        assert query(database, library.actions.paused) == []
        worker.stop()
    agree(library, database, log + worker.events())
