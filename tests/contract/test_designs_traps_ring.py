"""Traps of the rings: each is put back, and a test shows the fault."""

from __future__ import annotations

import contextlib

import pytest

from qmon.engines.base import Connection
from qmon.errors import QmonError
from qmon.model.layout.layout import Layout
from tests.contract.hammer import Hammer
from tests.contract.ledger import order
from tests.contract.soaking import MENDED
from tests.contract.spoiling import BROKEN, altered, both, rewritten, trapped
from tests.facts import query, wait_until
from tests.queues import call, made, opened, run

LAPS = 4
ONE_READER = ("ring", "ring_pointer")
# Consumers that do not look for orphans. Otherwise they would hide many faults.
BLIND = rewritten("settle", "RETURN v_orphan;", "RETURN NULL;")


def draw(connection: Connection, layout: Layout, sequence: str) -> None:
    """Take a number and do nothing with it."""
    run(connection, f"SELECT nextval('{layout.queue}_{sequence}')")


def push(connection: Connection, layout: Layout, message: str, wait_ms: int = 20) -> object:
    null = "" if layout.design == "ring_classic" else ", p_null_when_full => true"
    return call(connection, layout, "push", f"'{message}', {wait_ms}{null}")[0][0]


def pop(connection: Connection, layout: Layout) -> list[object]:
    """Pop; return the message, if any."""
    return [row[1] for row in call(connection, layout, "pop")]


def pop_sequence(layout: Layout) -> str:
    return "pop_seq_1" if layout.design == "ring_subscribers" else "pop_seq"


def stalls(url: str, layout: Layout) -> bool:
    """Two sessions push and pop alternately, and one of them makes no progress."""
    with opened(url) as one, opened(url) as other:
        pushed = [push((one, other)[number % 2], layout, f"m{number}") for number in range(1, 5)]
        popped = [message for number in range(1, 5) for message in pop((one, other)[number % 2], layout)]
    return pushed != [1, 2, 3, 4] or popped != ["m1", "m2", "m3", "m4"]


@pytest.mark.parametrize("design", (*MENDED, "ring_classic"))
@pytest.mark.parametrize("side", ["push", "pop"])
def test_numbers_that_each_session_caches_break_the_order_of_the_ring(database: str, design: str, side: str) -> None:
    sequence = "pop_seq_1" if (design, side) == ("ring_subscribers", "pop") else f"{side}_seq"
    cached = altered(f"ALTER SEQUENCE {{0}}_{sequence} CACHE 100")
    shown = trapped(database, design, cached if design == "ring_classic" else both(cached, BLIND), stalls)
    assert shown == BROKEN


def cold(url: str, layout: Layout) -> bool:
    """Pushes and pops of ``LAPS`` laps write new versions of slots to other pages, or to an index."""
    assert layout.ring is not None
    name, slots = layout.queue, layout.ring.size
    keys = f"SELECT sum(pg_relation_size(indexrelid)) FROM pg_index WHERE indrelid = CAST('{name}' AS regclass)"
    before = query(url, keys)
    for _ in range(LAPS):
        query(url, f"DO 'BEGIN FOR n IN 1..{slots} LOOP PERFORM {name}_push(repeat($$x$$, 300)); END LOOP; END'")
        for reader in ("1", "2") if layout.design == "ring_subscribers" else ("",):
            query(url, f"DO 'BEGIN FOR n IN 1..{slots} LOOP PERFORM * FROM {name}_pop({reader}); END LOOP; END'")
    updates = LAPS * slots * (3 if layout.design == "ring_subscribers" else 2)
    counts = f"SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = '{name}' AND n_tup_upd >= {updates}"
    ((hot,),) = wait_until(lambda: query(url, counts), what="statistics")
    return int(str(hot)) < 0.95 * updates or query(url, keys) != before


@pytest.mark.parametrize("design", (*MENDED, "ring_classic"))
@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE INDEX ON {0} (message_id)"],
        ["CREATE INDEX ON {0} (time)"],
        ["ALTER TABLE {0} SET (fillfactor = 100)", "VACUUM FULL {0}"],
    ],
    ids=["index on the message", "index on the time", "full pages"],
)
def test_updates_of_slots_without_room_or_with_an_index_are_not_hot(
    database: str, design: str, statements: list[str]
) -> None:
    shown = trapped(
        database, design, altered(*statements), cold, ring_size=300 if design == "ring_pointer" else 100
    )  # some pages
    assert shown == BROKEN


def given_up_alive(url: str, layout: Layout) -> bool:
    """A number whose producer is still working is skipped as a hole."""
    with opened(url) as slow, opened(url) as other, slow.transaction():
        draw(slow, layout, "push_seq")
        push(other, layout, "m2")
        return call(other, layout, "fill_hole", "1, 50") != ((False,),) or push(slow, layout, "m1") != 1


@pytest.mark.parametrize("design", MENDED)
def test_a_hole_that_is_not_proven_may_be_a_producer_at_work(database: str, design: str) -> None:
    shown = trapped(database, design, rewritten("drawing", r"l\.mode = 'RowExclusiveLock'", "false"), given_up_alive)
    assert shown == BROKEN


def misplaced(url: str, layout: Layout) -> bool:
    """A producer returns with a number that was given up, and its message is never popped."""
    with opened(url) as late, opened(url) as other:
        draw(late, layout, "push_seq")
        assert push(other, layout, "m2") == 2
        assert call(other, layout, "fill_hole", "1, 1000") == ((True,),)
        assert wait_until(lambda: pop(other, layout)) == ["m2"]
        push(late, layout, "late")
        return pop(other, layout) != ["late"]


@pytest.mark.parametrize("design", MENDED)
def test_a_hole_that_is_filled_without_moving_the_turn_lets_a_late_message_be_lost(database: str, design: str) -> None:
    # The consumers are past the number, as after skip_hole, but the slot is not.
    unmoved = rewritten("skip_hole", r"SET turn = p_number \+ \d+", "SET turn = p_number")
    shown = trapped(database, design, both(unmoved, BLIND), misplaced)
    assert shown == BROKEN


def delivered_twice(url: str, layout: Layout) -> bool:
    """A consumer taken for dead returns with its number after its message was requeued."""
    with opened(url) as late, opened(url) as other:
        draw(late, layout, "pop_seq")
        push(other, layout, "m1")
        assert call(other, layout, "requeue_orphan", "1, 1000") == ((2,),)
        return pop(late, layout) + pop(other, layout) != ["m1"]


@pytest.mark.parametrize("design", ONE_READER)
def test_an_orphan_that_is_requeued_without_moving_the_turn_is_delivered_twice(database: str, design: str) -> None:
    unmoved = rewritten(
        "requeue_orphan", r"message_id = NULL, (.*), turn = p_number \+ \d+", r"\1, turn = p_number + 1"
    )
    shown = trapped(database, design, unmoved, delivered_twice)
    assert shown == BROKEN


def lost_number(url: str, layout: Layout) -> bool:
    """A transaction rolls back and its session continues. A message is never popped, or a number never pushed."""
    with opened(url) as one, opened(url) as other:
        with contextlib.suppress(ZeroDivisionError), one.transaction():
            push(one, layout, "never")
            raise ZeroDivisionError
        if [push(other, layout, "m2"), push(one, layout, "m1")] != [2, 1]:
            return True
        with contextlib.suppress(ZeroDivisionError), one.transaction():
            pop(one, layout)
            raise ZeroDivisionError
        return sorted(map(str, pop(other, layout) + pop(one, layout))) != ["m1", "m2"]


@pytest.mark.parametrize("design", MENDED)
@pytest.mark.parametrize("verb", ["push", "pop"])
def test_a_session_that_forgets_its_number_after_a_rollback_loses_it(database: str, design: str, verb: str) -> None:
    forgets = both(rewritten(verb, r"v_number := currval\([^;]*;", "v_number := NULL;"), BLIND)
    shown = trapped(database, design, forgets, lost_number)
    assert shown == BROKEN


def runs_ahead(url: str, layout: Layout) -> bool:
    """Consumers of an empty ring draw numbers that have not been pushed."""
    with opened(url) as one:
        assert pop(one, layout) == []
    position = query(url, f"SELECT is_called FROM {layout.queue}_{pop_sequence(layout)}")
    return position != [(False,)]


@pytest.mark.parametrize("design", MENDED)
def test_a_consumer_that_does_not_look_for_a_producer_ahead_runs_ahead(database: str, design: str) -> None:
    ahead = rewritten("pop", r"SELECT s\.is_called AND s\.last_value > v_popped", "SELECT true")
    shown = trapped(database, design, ahead, runs_ahead)
    assert shown == BROKEN


def overdrawn(url: str, layout: Layout) -> bool:
    """A producer that finds the ring full has already drawn a number."""
    assert layout.ring is not None
    with opened(url) as one, opened(url) as other:
        for number in range(layout.ring.size):
            push(one, layout, f"m{number}")
        assert push(other, layout, "too many") is None
    return query(url, f"SELECT last_value FROM {layout.queue}_push_seq") != [(layout.ring.size,)]


@pytest.mark.parametrize("design", MENDED)
def test_a_producer_that_does_not_look_for_room_draws_numbers_of_a_full_ring(database: str, design: str) -> None:
    shown = trapped(
        database, design, rewritten("push", r"IF v_turn >= v_next THEN", "IF true THEN"), overdrawn, ring_size=4
    )
    assert shown == BROKEN


def waits_for_a_reader(url: str, layout: Layout) -> bool:
    """A subscriber's consumer waits for a lock of another subscriber's consumer."""
    with opened(url) as one, opened(url) as other:
        push(one, layout, "m1")
        run(other, "SELECT set_config('lock_timeout', '50', false)")
        with one.transaction():
            call(one, layout, "pop", "1, 0")
            try:
                return call(other, layout, "pop", "2, 0") != ()
            except QmonError:
                return True


def test_a_subscriber_that_does_not_skip_what_another_one_reads_waits_for_it(database: str) -> None:
    shown = trapped(database, "ring_subscribers", rewritten("pop", " SKIP LOCKED"), waits_for_a_reader)
    assert shown == BROKEN


def half_read(url: str, layout: Layout) -> bool:
    """A slot becomes free although one of the subscribers has not read it."""
    with opened(url) as one:
        for number in (1, 2, 3, 4):
            push(one, layout, f"m{number}")
        call(one, layout, "pop", "1, 0")
        push(one, layout, "m5")
        return [row[1] for _ in range(4) for row in call(one, layout, "pop", "2, 0")] != ["m1", "m2", "m3", "m4"]


def test_a_slot_that_is_freed_by_its_first_reader_loses_messages_of_the_second(database: str) -> None:
    freed = both(
        rewritten("pop", r"CASE q\.reference_count WHEN 1 THEN", "CASE WHEN true THEN"),
        rewritten("pop", r"reference_count = q\.reference_count - 1", "reference_count = 0"),
    )
    shown = trapped(database, "ring_subscribers", freed, half_read, ring_size=4)
    assert shown == BROKEN


@pytest.mark.parametrize(("design", "inverts"), [("ring", False), ("ring_classic", True)])
def test_with_more_producers_than_slots_the_published_ring_inverts_laps_and_one_with_turns_does_not(
    database: str, design: str, inverts: bool
) -> None:
    # There are no kills and no rollbacks. A message is in its slot, or popped, before that of the previous lap.
    layout = made(database, design, ring_size=4)
    hammer = Hammer(database, layout)
    passed = """
        SELECT message_id FROM orders AS o
        WHERE message_id > 4 AND NOT EXISTS (SELECT FROM ledger_popped AS p WHERE p.id = o.message_id - 4)"""

    def inverted() -> bool:
        return query(database, passed) != [] or order(database, layout, allowed=0).violations > 0

    try:
        hammer.start("consumer", 8)
        hammer.start("producer", 8)
        if inverts:
            wait_until(inverted, 60, what="a lap overtakes another")
        else:
            wait_until(lambda: hammer.popped() >= 400, 60, what="100 laps")
            assert not inverted()
    finally:
        hammer.close()
