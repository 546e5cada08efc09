"""Tell jobs of dead workers from those of live ones; observe a live worker after its job is requeued."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts import query, wait_until
from tests.libraries.firm_queue import firm_queue
from tests.libraries.library import QUEUES
from tests.libraries.oban import oban
from tests.libraries.pgmq import pgmq
from tests.libraries.pgqueuer import pgqueuer
from tests.libraries.procrastinate import procrastinate
from tests.libraries.python import PythonLibrary

pytestmark = pytest.mark.soak  # tests only the libraries; other tests cover qmon

MAILS = QUEUES[0]


@pytest.fixture
def library(request: pytest.FixtureRequest, database: str) -> PythonLibrary:
    """A library, with its tables in a fresh database."""
    made: PythonLibrary = request.param()
    made.install(database)
    return made


@pytest.mark.parametrize(
    ("library", "an_hour_passes"),
    [
        (
            procrastinate,
            "UPDATE procrastinate_workers SET last_heartbeat = last_heartbeat - interval '1 h' WHERE id = ?",
        ),
        (pgqueuer, "UPDATE pgqueuer SET heartbeat = heartbeat - interval '1 h' WHERE queue_manager_id::text = ?"),
        (oban, "UPDATE oban_producers SET updated_at = updated_at - interval '1 h' WHERE uuid::text = ?"),
        (
            firm_queue,
            "UPDATE firm_queue_processes SET last_heartbeat_at = last_heartbeat_at - interval '1 h' WHERE name = ?",
        ),
    ],
    indirect=["library"],
    ids=["procrastinate", "pgqueuer", "oban", "firm_queue"],
)
def test_the_job_of_a_killed_worker_is_told_from_that_of_a_living_one(
    library: PythonLibrary, database: str, tmp_path: Path, an_hour_passes: str
) -> None:
    library.push(database, MAILS, ["stuck"])
    with library.start(database, tmp_path, "doomed", [MAILS], seconds_per_job=3600) as doomed:
        (killed,) = doomed.kill()
    library.push(database, MAILS, ["long"])
    with library.start(database, tmp_path, "living", [MAILS], seconds_per_job=3600) as living:
        living.wait(1, "claimed")
        assert query(database, library.orphans) == []
        query(database, an_hour_passes, killed.worker)
        assert [str(id) for (id,) in query(database, library.orphans)] == [killed.id]


@pytest.mark.parametrize("library", [procrastinate, oban, firm_queue, pgmq], indirect=True)
def test_a_worker_that_lives_after_all_ends_its_job(library: PythonLibrary, database: str, tmp_path: Path) -> None:
    """This is why jobs of live workers must not be requeued: they run twice, and some tables lose track of one run."""
    (job,) = library.push(database, MAILS, ["slow"])
    with library.start(database, tmp_path, "slow", [MAILS], seconds_per_job=3600) as slow:
        slow.wait(1, "claimed")
        assert len(query(database, library.actions.requeue, job.id)) == 1
        with library.start(database, tmp_path, "other", [MAILS], seconds_per_job=3600) as other:
            (claimed, *_) = other.wait(1, "claimed")
            assert library.held(database) == {job.id: claimed.worker}
            slow.log.with_suffix(".wake").touch()
            slow.wait(1, "completed")
            slow.stop()
            assert library.held(database) == ({job.id: claimed.worker} if library.fenced else {})
            other.log.with_suffix(".wake").touch()
            other.wait(1, "completed")
            other.stop()
    assert [each.count("completed") for each in (slow, other)] == [1, 1]
    assert library.truth(database)[MAILS].get("done", 1) == 1
    assert library.held(database) == {}
    library.check(database)


@pytest.mark.parametrize("library", [pgqueuer], indirect=True)
def test_a_worker_that_lives_after_all_takes_its_job_back(
    library: PythonLibrary, database: str, tmp_path: Path
) -> None:
    """The worker has a free place, as its own dequeue counts them, and recognizes the job when it claims it again."""
    (job,) = library.push(database, MAILS, ["slow"])
    with library.start(database, tmp_path, "slow", [MAILS], seconds_per_job=3600) as slow:
        (claimed, *_) = slow.wait(1, "claimed")
        assert len(query(database, library.actions.requeue, job.id)) == 1
        wait_until(lambda: library.held(database) == {job.id: claimed.worker}, what="it has taken its job back")
        slow.log.with_suffix(".wake").touch()
        slow.wait(1, "completed")
        slow.stop()
    assert [slow.count("claimed"), slow.count("completed")] == [1, 1]
    assert library.truth(database)[MAILS]["done"] == 1
    library.check(database)
