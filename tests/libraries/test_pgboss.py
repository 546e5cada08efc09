"""Special features of pg-boss: dead letters, the supervisor's deletions, and a pause, which it does not have."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.facts import query, wait_until
from tests.libraries.figures import agrees
from tests.libraries.library import ATTEMPTS, QUEUES
from tests.libraries.pgboss import ACTIONS, DEAD_LETTERS, RESUME_CANCELLED, PgBoss

pytestmark = pytest.mark.soak  # tests only the libraries; other tests cover qmon

MAILS, INVOICES = QUEUES
_OLD = "UPDATE pgboss.job SET keep_until = now() - interval '1 hour' WHERE id = CAST(? AS uuid)"


@pytest.fixture
def library(database: str) -> PgBoss:
    """The library, with its tables in a fresh database."""
    made = PgBoss()
    made.install(database)
    return made


def test_a_dead_job_stays_and_its_copy_waits_elsewhere(library: PgBoss, database: str, tmp_path: Path) -> None:
    (dead,) = library.push(database, INVOICES, ["dead"], fails=ATTEMPTS)
    with library.start(database, tmp_path, "worker", QUEUES) as worker:
        worker.wait(1, "failed")
        worker.stop()
    truth = library.truth(database)
    assert (truth[INVOICES]["dead"], truth[DEAD_LETTERS]["ready"]) == (1, 1)
    copies = query(database, "SELECT source_id::text, id <> source_id FROM pgboss.job WHERE name = ?", DEAD_LETTERS)
    assert copies == [(dead.id, True)]


def test_what_waits_for_another_job_is_blocked_whenever_it_is_due(library: PgBoss, database: str) -> None:
    library.push_flow(database)
    assert library.truth(database)[MAILS]["blocked"] == 2
    library.check(database)
    agrees(library, database)


def test_a_queue_may_have_a_table_of_its_own(library: PgBoss, database: str) -> None:
    library.push(database, MAILS, ["a"])
    library.push(database, INVOICES, ["b", "c"])
    tables = query(database, "SELECT tableoid::regclass::text, name, count(*) FROM pgboss.job GROUP BY 1, 2 ORDER BY 3")
    assert tables[0] == ("pgboss.job_common", MAILS, 1)
    assert str(tables[1][0]).startswith("pgboss.j") and tables[1][1:] == (INVOICES, 2)
    named = query(database, "SELECT 'pgboss.' || table_name FROM pgboss.queue WHERE name = ?", INVOICES)
    assert named == [(tables[1][0],)]


def test_what_is_retried_late_is_not_deleted_for_its_age(library: PgBoss, database: str, tmp_path: Path) -> None:
    # Its own ``retry`` does not change ``keep_until``: a job that died this late would be deleted before it could run.
    (dead,) = library.push(database, MAILS, ["dead"], fails=ATTEMPTS)
    with library.start(database, tmp_path, "worker", [MAILS]) as worker:
        worker.wait(1, "failed")
        worker.stop()
    query(database, _OLD, dead.id)
    assert len(query(database, ACTIONS.retry, dead.id)) == 1
    library.check(database)
    assert library.truth(database)[MAILS]["ready"] == 1


def test_what_is_stuck_for_longer_than_it_is_kept_is_requeued(library: PgBoss, database: str, tmp_path: Path) -> None:
    library.push(database, MAILS, ["stuck"])
    with library.start(database, tmp_path, "doomed", [MAILS], seconds_per_job=3600) as doomed:
        (stuck,) = doomed.kill()
    query(database, _OLD, stuck.id)
    assert len(query(database, ACTIONS.requeue, stuck.id)) == 1
    library.check(database)
    assert library.truth(database)[MAILS]["ready"] == 1


def test_what_was_discarded_is_cancelled_and_comes_back(library: PgBoss, database: str, tmp_path: Path) -> None:
    unwanted, kept = library.push(database, MAILS, ["unwanted", "kept"])
    assert len(query(database, ACTIONS.discard, unwanted.id)) == 1
    library.check(database)
    truth = library.truth(database)[MAILS]
    assert (truth["ready"], truth["cancelled"]) == (1, 1)
    with library.start(database, tmp_path, "worker", [MAILS]) as worker:
        worker.wait(1, "completed")
        assert len(query(database, RESUME_CANCELLED, unwanted.id)) == 1
        worker.wait(2, "completed")
        worker.stop()
    assert [event.id for event in worker.events() if event.event == "claimed"] == [kept.id, unwanted.id]
    library.check(database)


def test_a_worker_that_lives_all_the_same_ends_no_job_of_another(
    library: PgBoss, database: str, tmp_path: Path
) -> None:
    library.push(database, MAILS, ["slow"])
    with library.start(database, tmp_path, "slow", [MAILS], seconds_per_job=3) as slow:
        slow.wait(1, "claimed")
        slow.process.send_signal(signal.SIGSTOP)
        (job,) = slow.asleep()
        assert len(query(database, ACTIONS.requeue, job.id)) == 1
        with library.start(database, tmp_path, "good", [MAILS], seconds_per_job=3600) as good:
            good.wait(1, "claimed")
            slow.process.send_signal(signal.SIGCONT)
            slow.wait(1, "completed")
            slow.stop()
            assert library.truth(database)[MAILS]["in_progress"] == 1


_PAUSES = (
    "CREATE SCHEMA qmon",
    "CREATE SEQUENCE qmon.refused",
    """
    CREATE FUNCTION qmon.refuse() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
    BEGIN
        PERFORM nextval('qmon.refused'); -- for the test: a worker has asked
        RETURN NULL;
    END $$
    """,
)
_PAUSE = """
    CREATE TRIGGER qmon_gate BEFORE UPDATE ON pgboss.job FOR EACH ROW
    WHEN (NEW.name = '{}' AND NEW.state = 'active' AND OLD.state < 'active') EXECUTE FUNCTION qmon.refuse()"""
_RESUME = "DROP TRIGGER qmon_gate ON pgboss.job"


@pytest.mark.parametrize("queue", QUEUES)
def test_a_trigger_for_one_queue_pauses_its_workers_alone(
    library: PgBoss, database: str, tmp_path: Path, queue: str
) -> None:
    # To a worker, a claim that changes no row is an empty queue. Workers query each queue separately.
    other = next(each for each in QUEUES if each != queue)
    for statement in _PAUSES:
        query(database, statement)
    with library.start(database, tmp_path, "worker", QUEUES) as worker:
        log = library.push(database, queue, ["before"])
        worker.wait(1, "completed")
        query(database, _PAUSE.format(queue))
        log += library.push(database, queue, ["kept back"])
        log += library.push(database, other, ["after it"])
        worker.wait(2, "completed")
        wait_until(lambda: query(database, "SELECT last_value > 1 FROM qmon.refused") == [(True,)], what="two refusals")
        library.check(database)
        assert library.truth(database)[queue]["ready"] == 1
        assert library.held(database) == {}
        query(database, _RESUME)
        worker.wait(3, "completed")
        worker.stop()
    assert sorted(each.id for each in worker.events() if each.event == "claimed") == sorted(each.id for each in log)
    library.check(database)
