"""Traps of the queues other than rings: each is put back, and a test shows the fault."""

from __future__ import annotations

import contextlib

import pytest

from qmon.engines.base import Connection
from qmon.errors import QmonError
from qmon.model.layout.layout import Layout
from tests.contract.designs import ANY_ORDER, ARCHIVING, COMPLETING, SKIPPING, WAITING, meanwhile, pop, push, says_empty
from tests.contract.spoiling import BROKEN, altered, rewritten, trapped
from tests.facts import connected, query
from tests.queues import call, made, opened, routine, run

BATCHED = ("batch_fast", "batch_single", "batch_split")
BY_ID = ("fifo", "flag", "lifo", "naive", "status", "strict_fifo")


def popping(design: str) -> str:
    """Return the routine that finds the message to pop."""
    return "pop_batch" if design in BATCHED else "pop"


def patience(connection: Connection, milliseconds: int) -> None:
    """Let waits for a lock fail after this time."""
    run(connection, f"SELECT set_config('lock_timeout', '{milliseconds}', false)")


def false_empty(url: str, layout: Layout) -> bool:
    """A consumer waits for a row that is popped, and then returns "no row" although another message has been pushed."""
    with opened(url) as other, opened(url) as producer:
        push(producer, layout, "a")
        with connected(url, autocommit=False) as raw:
            raw.execute(f"SELECT id FROM {routine(layout, 'pop')}()").fetchall()

            def then() -> None:
                push(producer, layout, "b")
                raw.commit()

            return meanwhile(url, other, layout, then) == []


@pytest.mark.parametrize("design", WAITING)
def test_a_consumer_that_woke_up_to_nothing_and_does_not_look_again_says_empty(database: str, design: str) -> None:
    shown = trapped(database, design, rewritten(popping(design), r"EXIT WHEN [^;]*;", "EXIT;"), false_empty)
    assert shown == BROKEN


def waits(url: str, layout: Layout) -> bool:
    """A consumer waits for a message that another holds, although another message is free."""
    with opened(url) as one, opened(url) as other:
        push(one, layout, "a", "b")
        patience(other, 50)
        with one.transaction():
            pop(one, layout)
            try:
                return pop(other, layout) == []
            except QmonError:
                return True


@pytest.mark.parametrize("design", (*SKIPPING, *ANY_ORDER))
def test_consumers_that_do_not_skip_what_is_locked_wait(database: str, design: str) -> None:
    shown = trapped(database, design, rewritten(popping(design), " SKIP LOCKED"), waits)
    assert shown == BROKEN


def mixed(url: str, layout: Layout) -> bool:
    """Two sessions push alternately, and the messages are popped in another order."""
    with opened(url) as one, opened(url) as other:
        for number in range(1, 7):
            push((one, other)[number % 2], layout, str(number))
        popped = [pop(one, layout)[0][1] for _ in range(6)]
    return popped != sorted(popped, reverse=layout.design == "lifo")


@pytest.mark.parametrize("design", BY_ID)
def test_ids_that_each_session_caches_mix_the_order_of_sessions(database: str, design: str) -> None:
    sequence = "{0}_seq" if design == "naive" else "{0}_id_seq"
    shown = trapped(database, design, altered(f"ALTER SEQUENCE {sequence} CACHE 100"), mixed)
    assert shown == BROKEN


def out_of_commit_order(url: str, layout: Layout) -> bool:
    """A push commits while the transaction of an earlier push is still open."""
    committed: list[str] = []
    with opened(url) as slow, opened(url) as quick:
        patience(quick, 50)
        with slow.transaction():
            push(slow, layout, "slow")
            with contextlib.suppress(QmonError):  # the push waits, and is asked to try again
                push(quick, layout, "quick")
                committed.append("quick")
        committed.append("slow")
        return [pop(quick, layout)[0][1] for _ in committed] != committed


def test_strict_pushes_that_do_not_wait_for_each_other_are_popped_out_of_commit_order(database: str) -> None:
    shown = trapped(
        database, "strict_fifo", rewritten("push", r"PERFORM pg_advisory_xact_lock\([^;]*;"), out_of_commit_order
    )
    assert shown == BROKEN


@pytest.mark.parametrize("design", (*SKIPPING, "heap"))
def test_a_pop_that_looks_once_only_says_empty_where_others_were_quicker(database: str, design: str) -> None:
    # test_no_row_is_never_said_while_a_message_is_free shows that sound queues never return "no row". In a stack, old
    # messages stay while new ones come and go, so the fault shows only after a long time.
    layout = made(database, design)
    rewritten(popping(design), r"FOR v_try IN 1\.\.\d+ LOOP", "FOR v_try IN 1..1 LOOP")(database, layout)
    assert says_empty(database, layout, cycles=20_000)


def early(url: str, layout: Layout) -> bool:
    """A message due in a minute is popped now."""
    with opened(url) as one:
        call(one, layout, "push", "'later', clock_timestamp() + interval '1 minute'")
        return pop(one, layout) != []


def test_a_pending_pop_that_does_not_ask_for_the_time_pops_too_early(database: str) -> None:
    shown = trapped(database, "pending", rewritten("pop", r"WHERE r\.due_time <= v_now", "WHERE true"), early)
    assert shown == BROKEN


def early_elsewhere(url: str, layout: Layout) -> bool:
    """A message due in a minute is popped now by a session in a time zone further east."""
    with opened(url) as berlin, opened(url) as kolkata:
        run(berlin, "SELECT set_config('TimeZone', 'Europe/Berlin', false)")
        run(kolkata, "SELECT set_config('TimeZone', 'Asia/Kolkata', false)")
        call(berlin, layout, "push", "'later', clock_timestamp() + interval '1 minute'")
        return pop(kolkata, layout) != []


def test_due_times_in_local_time_are_due_too_early_elsewhere(database: str) -> None:
    local = altered("ALTER TABLE {0} ALTER COLUMN due_time TYPE timestamp")
    shown = trapped(database, "pending", local, early_elsewhere)
    assert shown == BROKEN


def never_dead(url: str, layout: Layout) -> bool:
    """A message whose consumer dies each time is redelivered for ever."""
    with opened(url) as connection:
        push(connection, layout, "poison")
        for _ in range(3):
            pop(connection, layout)
            call(connection, layout, "requeue", "0, 10, 3")
        return pop(connection, layout) != []


@pytest.mark.parametrize("design", COMPLETING)
def test_attempts_that_are_not_counted_at_the_pop_never_end(database: str, design: str) -> None:
    spoil = rewritten(popping(design), r"attempts = q\.attempts \+ 1", "attempts = q.attempts")
    shown = trapped(database, design, spoil, never_dead)
    assert shown == BROKEN


def completed_by_the_late(url: str, layout: Layout) -> bool:
    """A consumer that was given up completes a message that another one is processing."""
    with opened(url) as late, opened(url) as other:
        push(late, layout, "a")
        pop(late, layout)
        call(other, layout, "requeue", "0")
        pop(other, layout)
        return call(late, layout, "complete", "1, 1") == ((True,),)


@pytest.mark.parametrize("design", COMPLETING)
def test_a_late_consumer_that_is_not_told_from_the_next_completes_under_its_hands(database: str, design: str) -> None:
    spoil = rewritten("complete", r"AND q\.attempts = p_attempt")
    shown = trapped(database, design, spoil, completed_by_the_late)
    assert shown == BROKEN


def completed_in_a_batch_by_the_late(url: str, layout: Layout) -> bool:
    """A consumer that was given up completes a batch with the message that another one is processing."""
    with opened(url) as late, opened(url) as other:
        push(late, layout, "a", "b")
        call(late, layout, "pop_batch", "2")
        run(
            other,
            f"UPDATE {layout.table.name} SET started_at = now() - interval '1 h' WHERE {layout.id} = 1 RETURNING 1",
        )
        call(other, layout, "requeue", "60")
        pop(other, layout)
        return call(late, layout, "complete_batch", "'{1,2}', '{1,1}'") != ((1,),)


@pytest.mark.parametrize("design", COMPLETING)
def test_a_late_consumer_completes_of_its_batch_what_nobody_else_has(database: str, design: str) -> None:
    spoil = rewritten("complete_batch", r"AND r\.attempts = p_attempts[^\n]*")
    shown = trapped(database, design, spoil, completed_in_a_batch_by_the_late)
    assert shown == BROKEN


def behind_the_others(url: str, layout: Layout) -> bool:
    """A timed-out message is popped after messages that have never been popped."""
    with opened(url) as connection:
        push(connection, layout, "a", "b")
        pop(connection, layout)
        call(connection, layout, "requeue", "0")
        return pop(connection, layout)[0][1] != "a"


@pytest.mark.parametrize("design", ARCHIVING)
def test_what_timed_out_and_is_not_sent_to_the_front_waits_behind_the_others(database: str, design: str) -> None:
    spoil = rewritten("requeue", r"queue_date_time = least\([^=]*?\),\n", "queue_date_time = clock_timestamp(),\n")
    shown = trapped(database, design, spoil, behind_the_others)
    assert shown == BROKEN


def archiving_is_felt(url: str, layout: Layout) -> bool:
    """While a batch is being archived, another push, pop, complete or archive waits or finds nothing."""
    with opened(url) as archiver, opened(url) as other:
        push(other, layout, "a", "b", "c", "d", "e")
        done = [row[0] for row in call(other, layout, "pop_batch", "4")]
        if layout.traits.completes:
            call(other, layout, "complete_batch", f"ARRAY{done[:2]}, '{{1,1}}'")
        patience(other, 50)
        with archiver.transaction():
            assert call(archiver, layout, "archive", "1") == ((1,),)
            try:
                push(other, layout, "f")
                popped = [pop(other, layout)[0][1], pop(other, layout)[0][1]]
                if layout.traits.completes:
                    assert call(other, layout, "complete", f"{done[2]}, 1") == ((True,),)
                return popped != ["e", "f"] or call(other, layout, "archive", "1") != ((1,),)
            except QmonError:
                return True


@pytest.mark.parametrize("design", (*ARCHIVING, "flag"))
def test_an_archiver_is_not_felt_and_one_that_skips_nothing_is(database: str, design: str) -> None:
    shown = trapped(database, design, rewritten("archive", " SKIP LOCKED"), archiving_is_felt)
    assert shown == BROKEN


def unsettled(url: str, layout: Layout) -> bool:
    """A table of the queue is vacuumed only as often as any other table."""
    tables = "SELECT coalesce(reloptions, '{}') FROM pg_class WHERE oid = CAST(? AS regclass)"
    ((options,),) = query(url, tables, layout.queue)
    return "autovacuum_vacuum_threshold=1000" not in str(options)


def test_a_table_without_its_own_vacuum_settings_is_noticed(database: str) -> None:
    shown = trapped(database, "fifo", altered("ALTER TABLE {0} RESET (autovacuum_vacuum_threshold)"), unsettled)
    assert shown == BROKEN
