"""Special features of graphile-worker: serial queues, the time a job died, the clean-up."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.facts import query
from tests.libraries.figures import agrees
from tests.libraries.graphile import ACTIONS, PAUSE_SERIAL, RESUME_SERIAL, Graphile
from tests.libraries.library import ATTEMPTS, QUEUES

pytestmark = pytest.mark.soak  # tests only the libraries; other tests cover qmon

MAILS, INVOICES = QUEUES
SERIAL = "one by one"


@pytest.fixture
def library(database: str) -> Graphile:
    """The library, with its tables in a fresh database."""
    made = Graphile()
    made.install(database)
    return made


def test_a_killed_job_blocks_its_queue_until_it_is_requeued(library: Graphile, database: str, tmp_path: Path) -> None:
    log = library.push(database, INVOICES, ["stuck"], serial=SERIAL)
    with library.start(database, tmp_path, "doomed", QUEUES, seconds_per_job=3600) as doomed:
        (stuck,) = doomed.kill()
    log += library.push(database, MAILS, ["behind it"], serial=SERIAL)
    truth = library.truth(database)[MAILS]
    assert (truth["blocked"], truth["ready"]) == (1, 0)
    library.check(database)
    agrees(library, database)
    with library.start(database, tmp_path, "good", QUEUES) as good:
        library.push(database, MAILS, ["beside it"])
        good.wait(1, "completed")
        assert library.truth(database)[MAILS]["blocked"] == 1
        assert len(query(database, ACTIONS.requeue, stuck.id)) == 1
        good.wait(3, "completed")
        good.stop()
    assert good.count("claimed") == 3
    assert {each.id for each in log} <= {each.id for each in good.events()}
    library.check(database)


def test_when_a_job_died_follows_from_its_next_attempt(library: Graphile, database: str, tmp_path: Path) -> None:
    # Neither a claim nor a failure changes updated_at.
    (dead,) = library.push(database, MAILS, ["dead"], fails=ATTEMPTS)
    with library.start(database, tmp_path, "worker", QUEUES) as worker:
        worker.wait(1, "failed")
        worker.stop()
    ((untouched, late_s),) = query(
        database,
        "SELECT updated_at = created_at,"
        " date_part('epoch', run_at - exp(least(attempts, 10)) * interval '1 second') - CAST(? AS double precision)"
        " FROM graphile_worker._private_jobs WHERE id = ?",
        next(each.at for each in worker.events() if each.event == "failed"),
        dead.id,
    )
    assert untouched is True
    assert 0 <= float(str(late_s)) < 10


def test_its_clean_up_deletes_what_is_dead(library: Graphile, database: str, tmp_path: Path) -> None:
    library.push(database, MAILS, ["dead"], fails=ATTEMPTS)
    with library.start(database, tmp_path, "worker", QUEUES) as worker:
        worker.wait(1, "failed")
        worker.stop()
    library.push(database, MAILS, ["waits"])
    library.prune(database)
    truth = library.truth(database)[MAILS]
    assert truth == dict.fromkeys(truth, 0) | {"ready": 1}
    library.check(database)


def test_a_queue_is_paused_by_its_own_lock(library: Graphile, database: str, tmp_path: Path) -> None:
    with library.start(database, tmp_path, "worker", QUEUES) as worker:
        log = library.push(database, MAILS, ["before"], serial=SERIAL)
        worker.wait(1, "completed")
        assert len(query(database, PAUSE_SERIAL, SERIAL)) == 1
        log += library.push(database, MAILS, ["kept back"], serial=SERIAL)
        log += library.push(database, MAILS, ["beside it"])  # after it in the order of jobs
        worker.wait(2, "completed")
        assert library.truth(database)[MAILS]["blocked"] == 1
        assert len(query(database, RESUME_SERIAL, SERIAL)) == 1
        worker.wait(3, "completed")
        worker.stop()
    assert [each.id for each in worker.events() if each.event == "claimed"] == [log[0].id, log[2].id, log[1].id]
    library.check(database)


def test_a_pause_leaves_the_job_in_progress_alone(library: Graphile, database: str, tmp_path: Path) -> None:
    log = library.push(database, MAILS, ["in progress", "next"], serial=SERIAL)
    with library.start(database, tmp_path, "worker", QUEUES, seconds_per_job=1) as worker:
        worker.wait(1, "claimed")
        query(database, PAUSE_SERIAL, SERIAL)
        query(database, RESUME_SERIAL, SERIAL)
        holder = "SELECT locked_by FROM graphile_worker._private_job_queues WHERE queue_name = ?"
        assert query(database, holder, SERIAL) == [(library.held(database)[log[0].id],)]
        query(database, PAUSE_SERIAL, SERIAL)
        worker.wait(1, "completed")
        worker.stop()
    assert [each.id for each in worker.events() if each.event == "claimed"] == [log[0].id]
    assert len(query(database, RESUME_SERIAL, SERIAL)) == 1
    library.check(database)
    assert library.truth(database)[MAILS]["ready"] == 1
