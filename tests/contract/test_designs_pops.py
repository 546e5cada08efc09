"""Designs other than the ring: order, rollback, attempts, dead letters, the front, the archive, true answers."""

from __future__ import annotations

import contextlib

import pyodbc
import pytest

from tests.contract.designs import ANY_ORDER, ARCHIVING, COMPLETING, SKIPPING, many, plain, pop, push, says_empty
from tests.contract.hammer import Hammer
from tests.facts import odbc, query, wait_until
from tests.queues import call, made, opened, routine, run

WAITING = ("batch_single", "batch_split", "strict_fifo")
LINES = (*SKIPPING, *WAITING)
DELETING = ("fifo", "heap", "lifo", "naive", "pending", "strict_fifo")


@pytest.mark.parametrize("design", LINES)
def test_pops_follow_the_order_of_pushes_and_then_say_that_there_is_none(database: str, design: str) -> None:
    layout = made(database, design)
    with opened(database) as connection:
        assert pop(connection, layout) == []
        assert push(connection, layout, "a", "b", "c") == [1, 2, 3]
        assert call(connection, layout, "push_batch", "'{d,e,f}'") == ((4,), (5,), (6,))
        assert pop(connection, layout) == [(1, "a")]
        assert [plain(row) for row in call(connection, layout, "pop_batch", "3")] == [(2, "b"), (3, "c"), (4, "d")]
        assert [plain(row) for row in call(connection, layout, "pop_batch", "9")] == [(5, "e"), (6, "f")]
        assert (pop(connection, layout), call(connection, layout, "pop_batch", "9")) == ([], ())


@pytest.mark.parametrize("design", SKIPPING)
def test_consumers_pass_over_what_another_one_holds_and_do_not_wait(database: str, design: str) -> None:
    layout = made(database, design)
    with opened(database) as one, opened(database) as other:
        push(one, layout, "a", "b", "c")
        run(other, "SELECT set_config('lock_timeout', '1', false)")  # a wait for a lock would fail
        with contextlib.suppress(ZeroDivisionError), one.transaction():
            assert pop(one, layout) == [(1, "a")]
            assert pop(other, layout) == [(2, "b")]
            assert [plain(row) for row in call(other, layout, "pop_batch", "5")] == [(3, "c")]
            assert pop(other, layout) == []  # the other consumer holds the rest
            raise ZeroDivisionError
        assert pop(other, layout) == [(1, "a")]  # rolled back: in its old place, and counted once
        assert pop(other, layout) == []


@pytest.mark.parametrize("design", LINES)
def test_order_is_lax_within_the_number_of_consumers(database: str, design: str) -> None:
    layout = made(database, design)
    with opened(database) as connection:
        call(connection, layout, "push_batch", many(design, 300))
    hammer = Hammer(database, layout)
    try:
        hammer.start("consumer", 4)
        wait_until(lambda: hammer.popped() == 300, 60, what="everything is popped")
        hammer.stop()
    finally:
        hammer.close()
    # A consumer pops the smallest id that no other holds, so at most three smaller ids follow it in the ledger.
    late = """
        SELECT max((SELECT count(*) FROM ledger_popped AS later WHERE later.serial > p.serial AND later.id < p.id))
        FROM ledger_popped AS p"""
    assert int(str(query(database, late)[0][0])) <= 3
    assert len({row[0] for row in query(database, "SELECT consumer FROM ledger_popped")}) > 1


@pytest.mark.parametrize("design", (*LINES, *ANY_ORDER))
def test_no_row_is_never_said_while_a_message_is_free(database: str, design: str) -> None:
    layout = made(database, design)
    assert not says_empty(database, layout, cycles=250)
    with opened(database) as connection:
        assert pop(connection, layout) == []


@pytest.mark.parametrize("design", (*LINES, "lifo"))
def test_a_plan_made_while_the_queue_was_empty_serves_a_full_one(database: str, design: str) -> None:
    layout = made(database, design)
    with opened(database) as connection:
        push(connection, layout, "a")
        pop(connection, layout)
        query(database, "DELETE FROM orders")
        query(database, "VACUUM ANALYZE orders")
        for _ in range(8):
            assert pop(connection, layout) == []
        call(connection, layout, "push_batch", many(design, 3000))
        scans = "SELECT seq_scan, idx_scan > 0 FROM pg_stat_xact_user_tables WHERE relname = 'orders'"
        with connection.transaction():
            for _ in range(20):
                assert len(pop(connection, layout)) == 1
            assert len(call(connection, layout, "pop_batch", "20")) == 20
            assert run(connection, scans) == ((0, True),)


@pytest.mark.parametrize("design", DELETING)
def test_a_consumer_that_dies_gives_its_message_back(database: str, design: str) -> None:
    layout = made(database, design)
    with opened(database) as connection:
        push(connection, layout, "a")
        dying = pyodbc.connect(odbc(database), autocommit=False)
        assert dying.execute(f"SELECT payload FROM {routine(layout, 'pop')}()").fetchone() is not None
        if design != "strict_fifo":  # it would wait for it
            assert pop(connection, layout) == []
        dying.close()
        assert wait_until(lambda: pop(connection, layout)) == [(None if design == "heap" else 1, "a")]


@pytest.mark.parametrize("design", COMPLETING)
def test_a_message_is_completed_once_and_only_by_who_has_it(database: str, design: str) -> None:
    layout = made(database, design)
    with opened(database) as connection:
        push(connection, layout, "a", "b")
        assert call(connection, layout, "complete", "1, 0") == ((False,),)  # it has not been popped
        assert [row[2] for row in call(connection, layout, "pop")] == [1]
        assert call(connection, layout, "requeue", "0, 10") == ((1,),)
        assert [(row[0], row[2]) for row in call(connection, layout, "pop")] == [(1, 2)]
        assert call(connection, layout, "complete", "1, 1") == (
            (False,),
        )  # the first consumer is late and no longer owns it
        assert call(connection, layout, "fail", "1, 1") == ((None,),)
        assert call(connection, layout, "complete", "1, 2") == ((True,),)
        assert call(connection, layout, "complete", "1, 2") == ((False,),)
        pop(connection, layout)
        for wrong in ("'{2}', '{2}'", "'{2}', '{}'", "'{2}', NULL", "'{3,2}', '{1,2}'"):
            assert call(connection, layout, "complete_batch", wrong) == ((0,),)
        assert call(connection, layout, "complete", "2, NULL") == ((False,),)
        assert call(connection, layout, "fail", "2, NULL") == ((None,),)
        assert call(connection, layout, "complete_batch", "'{1,2,3}', '{2,1,1}'") == ((1,),)
        assert pop(connection, layout) == []


@pytest.mark.parametrize("design", COMPLETING)
def test_a_message_that_keeps_failing_becomes_a_dead_letter(database: str, design: str) -> None:
    layout = made(database, design)
    assert layout.state is not None
    with opened(database) as connection:
        push(connection, layout, "poison", "good")
        for attempt in range(1, 4):
            assert [(row[0], row[2]) for row in call(connection, layout, "pop")] == [(1, attempt)]
            state = layout.state.ready if attempt < 3 else layout.state.dead
            assert call(connection, layout, "fail", f"1, {attempt}, 3") == ((state,),)
        assert pop(connection, layout) == [(2, "good")]
        assert call(connection, layout, "requeue", "0, 10, 1") == ((1,),)  # its first attempt was the last allowed
        assert pop(connection, layout) == []
        dead = f"SELECT count(*) FROM orders WHERE status = {layout.state.dead} AND owner IS NULL"
        assert run(connection, dead) == ((2,),)


@pytest.mark.parametrize("design", COMPLETING)
def test_what_is_stuck_is_requeued_the_longest_first_and_to_the_front(database: str, design: str) -> None:
    layout = made(database, design)
    with opened(database) as connection, opened(database) as busy:
        push(connection, layout, "a", "b", "c", "d")
        for _ in range(3):
            pop(connection, layout)
        assert call(connection, layout, "requeue", "60") == ((0,),)  # nothing is that old
        query(
            database,
            "UPDATE orders SET started_at = started_at - interval '2 minutes' WHERE status = "
            + str(layout.state.in_progress if layout.state else ""),
        )
        with busy.transaction():
            call(busy, layout, "complete", "2, 1")  # another session is completing it, so it is skipped
            assert call(connection, layout, "requeue", "60, 1") == ((1,),)
            assert call(connection, layout, "requeue", "60") == ((1,),)
        assert pop(connection, layout) == [(1, "a")]
        assert pop(connection, layout) == [(3, "c")]
        assert pop(connection, layout) == [(4, "d")]


@pytest.mark.parametrize("design", COMPLETING)
def test_the_owner_names_the_session_for_ever(database: str, design: str) -> None:
    layout = made(database, design)
    with opened(database) as connection:
        push(connection, layout, "a", "b")
        pop(connection, layout)
        pop(connection, layout)
        mine = "SELECT pid || '/' || floor(extract(epoch FROM backend_start))::bigint FROM pg_stat_activity"
        ((owner,),) = run(connection, mine + " WHERE pid = pg_backend_pid()")
        assert run(connection, "SELECT DISTINCT owner, attempts FROM orders") == ((owner, 1),)


@pytest.mark.parametrize("design", ARCHIVING)
def test_an_earlier_time_goes_first_and_what_timed_out_goes_before_everything(database: str, design: str) -> None:
    layout = made(database, design)
    with opened(database) as connection:
        push(connection, layout, "a", "b")
        call(connection, layout, "push", "'urgent', 'title', clock_timestamp() - interval '1 hour'")
        assert pop(connection, layout) == [(3, "urgent")]
        assert pop(connection, layout) == [(1, "a")]
        call(connection, layout, "push", "'more urgent', 'title', clock_timestamp() - interval '2 hours'")
        assert call(connection, layout, "requeue", "0") == ((2,),)
        order = [plain(row)[1] for row in call(connection, layout, "pop_batch", "9")]
        assert order == ["a", "urgent", "more urgent", "b"]
        assert run(connection, "SELECT title FROM orders WHERE queue_id = 1") == (("a",),)  # from the payload


@pytest.mark.parametrize("design", ARCHIVING)
def test_the_archiver_takes_what_is_processed_and_nothing_else(database: str, design: str) -> None:
    layout = made(database, design)
    with opened(database) as connection, opened(database) as other:
        call(connection, layout, "push_batch", "ARRAY(SELECT 'm' || n FROM generate_series(1, 10) AS n)")
        call(connection, layout, "pop_batch", "6")
        call(connection, layout, "complete_batch", "'{1,2,3,4,5}', '{1,1,1,1,1}'")
        with other.transaction():
            assert call(other, layout, "archive", "2") == ((2,),)
            assert call(connection, layout, "archive", "2") == ((2,),)  # two archivers skip each other's rows
        assert [call(connection, layout, "archive", "2")[0][0] for _ in range(2)] == [1, 0]
        archived = run(connection, "SELECT queue_id, text_data, status, attempts FROM orders_archive_log ORDER BY 1")
        assert archived == tuple((n, f"m{n}", 2, 1) for n in range(1, 6))
        left = "SELECT m.queue_id, d.text_data FROM orders AS m JOIN orders_data AS d USING (queue_id) ORDER BY 1"
        if design == "batch_single":
            left = "SELECT queue_id, text_data FROM orders ORDER BY 1"
        assert run(connection, left) == tuple((n, f"m{n}") for n in range(6, 11))


@pytest.mark.parametrize("design", LINES)
def test_identities_cache_nothing_since_the_cache_is_per_session(database: str, design: str) -> None:
    sequences = 3 if made(database, design).routine_for("archive") is None else 4  # two belong to the pause switch
    assert query(database, "SELECT seqcache FROM pg_sequence") == [(1,)] * sequences
