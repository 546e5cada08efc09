"""Kill qmon in the middle of a batch on a library's queue: nothing is half done, and the next run finishes it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Literal

import pytest

from qmon.model.operation_records import Choice, Operation, OperationState
from qmon.operate.operator import Operator
from tests.cli.calling import program, surroundings
from tests.contract.operating import applied
from tests.facts import connected, query, wait_until
from tests.libraries.acting import layout_of, operator
from tests.libraries.tables import DELAYED_JOB

pytestmark = pytest.mark.server

Act = Literal["purge", "requeue"]
ROWS, HELD_UP_AT = 1_500, 1_000
# A batch that reaches this row waits as long as the test holds the lock.
HELD_UP = f"""
TRUNCATE delayed_jobs RESTART IDENTITY;
INSERT INTO delayed_jobs (queue, failed_at, attempts, handler)
SELECT CASE WHEN i % 10 = 0 THEN 'other' ELSE 'mails' END, timezone('UTC', now()), 25, 'job ' || i
FROM generate_series(1, {ROWS}) AS i;
CREATE TABLE truth AS TABLE delayed_jobs;
CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1);
    RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER held_up BEFORE UPDATE OR DELETE ON delayed_jobs FOR EACH ROW
WHEN (OLD.id = {HELD_UP_AT + 1}) EXECUTE FUNCTION wait();
"""
LEFT = "SELECT count(*) FROM delayed_jobs WHERE queue = 'mails' AND failed_at IS NOT NULL"
WAITS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'qmon%' AND datname = current_database()"


def left(url: str) -> int:
    """Return the jobs that the action has still to process."""
    return int(str(query(url, LEFT)[0][0]))


def check(url: str, act: Act) -> None:
    """Check that every job is in one place, unchanged or as the action leaves it. The other queue is unchanged."""
    other = "SELECT (SELECT count(*) FROM (TABLE truth EXCEPT TABLE delayed_jobs) AS t WHERE queue = 'other')"
    assert query(url, other) == [(0,)]
    if act == "requeue":
        whole = (
            "(failed_at IS NULL AND attempts = 0 AND run_at IS NOT NULL) OR (failed_at IS NOT NULL AND attempts = 25)"
        )
        assert query(url, f"SELECT count(*), count(*) FILTER (WHERE {whole}) FROM delayed_jobs") == [(ROWS, ROWS)]
        return
    stores = query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'qmon' AND tablename LIKE 'trash_%'")
    columns = "id, priority, attempts, handler, failed_at, queue"
    there = [f"SELECT {columns} FROM {table}" for table in ("delayed_jobs", *(f"qmon.{name}" for (name,) in stores))]
    everywhere = " UNION ALL ".join(there)
    counted = f"SELECT count(*), count(DISTINCT id) FROM ({everywhere}) AS e"
    assert query(url, counted) == [(ROWS, ROWS)]
    assert query(url, f"SELECT {columns} FROM truth EXCEPT ({everywhere})") == []


def killed(url: str, act: Act, folder: Path) -> None:
    """Run the real program until it is in the middle of a batch, and kill it."""
    name = "delayed_job/mails"
    given = ["--state", "dead", "--yes", "--confirm", name, "--reason", "a test that kills"]
    given += ["--rate", "none"] if act == "requeue" else []
    with connected(url) as holder:
        holder.execute("SELECT pg_advisory_lock(1)")
        process = subprocess.Popen(
            program(act, url, name, *given),
            env=surroundings(XDG_STATE_HOME=str(folder / "state"), HOME=str(folder)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            wait_until(lambda: query(url, WAITS) == [(1,)], 60, what="it is in the middle of a batch")
        finally:
            process.kill()
            process.wait()
    wait_until(lambda: query(url, SESSIONS) == [(0,)], 60, what="its session has ended")


def last(acting: Operator) -> Operation:
    """Return the latest operation."""
    return acting.read_operations(limit=1)[0]


@pytest.mark.parametrize("act", ["purge", "requeue"])
def test_a_killed_qmon_leaves_nothing_half_done_and_the_next_finishes(database: str, tmp_path: Path, act: Act) -> None:
    query(database, DELAYED_JOB.tables)
    query(database, HELD_UP)
    meant = left(database)
    killed(database, act, tmp_path)
    check(database, act)
    rest = left(database)
    assert 0 < rest < meant
    acting = operator(database, tmp_path)
    operation = last(acting)
    kind = "redrive" if act == "requeue" else act  # a requeue of dead messages is a redrive
    assert (operation.kind, operation.state) == (kind, OperationState.INTERRUPTED)
    assert (operation.planned, operation.done) == (meant, meant - rest)

    query(database, "DROP TRIGGER held_up ON delayed_jobs")
    layout = layout_of(database, "mails")
    chosen = Choice(state="dead")
    prepared = acting.purge(layout, chosen) if act == "purge" else acting.requeue(layout, chosen)
    result = applied(prepared)
    assert (result.state, result.done, result.changed) == (OperationState.DONE, rest, 0)
    assert left(database) == 0
    check(database, act)
    if act == "purge":
        for id, count in ((result.operation, rest), (operation.id, meant - rest)):
            assert applied(acting.undo(id)).done == count
        assert query(database, "TABLE truth EXCEPT TABLE delayed_jobs") == []
        check(database, act)
