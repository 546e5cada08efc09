"""Rings of messages and of pointers: numbers are never lost or misplaced, and slots of dead processes are repaired."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from qmon.engines.base import Connection
from qmon.errors import QueryFailed
from qmon.model.layout.layout import Layout
from tests.contract.designs import draw, end
from tests.contract.hammer import Hammer
from tests.facts import query, wait_until
from tests.queues import Row, call, made, opened, run

SIZE = 4
BOTH = ("ring", "ring_pointer")


@pytest.fixture(params=BOTH)
def layout(database: str, request: pytest.FixtureRequest) -> Layout:
    return made(database, str(request.param), ring_size=SIZE)


@pytest.fixture
def a(database: str) -> Iterator[Connection]:
    with opened(database, "a") as connection:
        yield connection


@pytest.fixture
def b(database: str) -> Iterator[Connection]:
    with opened(database, "b") as connection:
        yield connection


def push(connection: Connection, layout: Layout, message: str, wait_ms: int = 100) -> object:
    return call(connection, layout, "push", f"'{message}', {wait_ms}, true")[0][0]


def pop(connection: Connection, layout: Layout, wait_ms: int = 0) -> tuple[Row, ...]:
    return call(connection, layout, "pop", str(wait_ms))


def last(url: str, sequence: str) -> object:
    return query(url, f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM orders_{sequence}")[0][0]


def test_more_producers_than_slots_wrap_the_ring_a_hundred_times(database: str, layout: Layout) -> None:
    hammer = Hammer(database, layout)
    try:
        hammer.start("consumer", 8)
        hammer.start("producer", 8, limit=60)
        hammer.wait_producers()
        wait_until(lambda: hammer.popped() == 480, 60, what="everything is popped")
        hammer.stop()
    finally:
        hammer.close()
    # No process died, so no number was skipped: 120 laps, each number pushed once and popped once.
    assert query(database, "SELECT count(*), min(id), max(id) FROM ledger_pushed") == [(480, 1, 480)]
    assert query(database, "SELECT count(*), count(DISTINCT id) FROM ledger_popped") == [(480, 480)]
    assert query(database, "SELECT 1 FROM ledger_pushed JOIN ledger_popped USING (id, message)") == [(1,)] * 480
    turns = query(database, "SELECT turn % CAST(? AS int) = slot, reference_count FROM orders", str(SIZE))
    assert turns == [(True, 0)] * SIZE


def test_one_consumer_gets_messages_in_the_order_of_their_numbers(database: str, layout: Layout, a: Connection) -> None:
    hammer = Hammer(database, layout)
    try:
        hammer.start("consumer")
        hammer.start("producer", 4, limit=100)
        hammer.wait_producers()
        wait_until(lambda: hammer.popped() == 400, 60, what="everything is popped")
        hammer.stop()
    finally:
        hammer.close()
    assert query(database, "SELECT id FROM ledger_popped ORDER BY serial") == [(n,) for n in range(1, 401)]


def test_a_full_ring_says_so_and_no_number_is_drawn(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    assert [push(a, layout, f"m{n}") for n in range(1, 5)] == [1, 2, 3, 4]
    assert push(a, layout, "too many", 20) is None
    assert push(b, layout, "too many", 20) is None
    assert last(database, "push_seq") == 4
    assert pop(b, layout) == ((1, "m1"),)
    assert push(b, layout, "m5") == 5


@pytest.mark.parametrize("design", [*BOTH, "ring_subscribers"])
def test_a_push_into_a_full_ring_raises_an_error_that_is_worth_another_try(database: str, design: str) -> None:
    layout = made(database, design, ring_size=SIZE)
    with opened(database) as producer:
        for number in range(1, SIZE + 1):
            assert call(producer, layout, "push", f"'m{number}'") == ((number,),)
        with pytest.raises(QueryFailed, match="is full") as refused:
            call(producer, layout, "push", "'too many', 20")
        assert refused.value.sqlstate == "QM003"
        assert last(database, "push_seq") == SIZE
        for reader in ("1", "2") if design == "ring_subscribers" else ("",):
            call(producer, layout, "pop", reader)
        assert call(producer, layout, "push", "'again', 20") == ((SIZE + 1,),)


def test_an_empty_ring_says_so_and_no_number_is_drawn(database: str, layout: Layout, a: Connection) -> None:
    assert pop(a, layout, 20) == ()
    assert last(database, "pop_seq") == 0
    push(a, layout, "m1")
    assert pop(a, layout) == ((1, "m1"),)
    assert pop(a, layout) == ()
    assert last(database, "pop_seq") == 1


def test_a_consumer_that_was_too_early_keeps_its_number(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    draw(a, "pop_seq")  # two consumers saw one message, and this one was second
    draw(a, "pop_seq")
    assert pop(a, layout, 10) == ()
    push(b, layout, "m1")
    push(b, layout, "m2")
    assert [pop(a, layout), pop(a, layout)] == [((1, "m1"),), ((2, "m2"),)]
    assert last(database, "pop_seq") == 2


def test_a_pop_that_was_rolled_back_is_done_again_by_its_session(layout: Layout, a: Connection, b: Connection) -> None:
    push(b, layout, "m1")
    push(b, layout, "m2")
    with contextlib.suppress(ZeroDivisionError), a.transaction():
        assert pop(a, layout) == ((1, "m1"),)
        raise ZeroDivisionError
    assert pop(a, layout) == ((1, "m1"),)
    assert pop(b, layout) == ((2, "m2"),)


def test_a_push_that_was_rolled_back_leaves_its_number_to_its_session(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    with contextlib.suppress(ZeroDivisionError), a.transaction():
        assert push(a, layout, "never") == 1
        raise ZeroDivisionError
    assert push(b, layout, "m2") == 2
    assert push(a, layout, "m1") == 1
    assert [pop(b, layout), pop(b, layout), pop(b, layout)] == [((1, "m1"),), ((2, "m2"),), ()]


def test_a_producer_asleep_for_a_whole_lap_is_waited_for_and_nothing_overtakes_it(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    with a.transaction():
        assert draw(a, "push_seq") == 1  # and sleeps
        assert [push(b, layout, f"m{n}") for n in (2, 3, 4)] == [2, 3, 4]
        # Slot 1 is free, but message 5 may not go there: the published ring would allow it, and 1 would come too late.
        assert push(b, layout, "m5", 60) is None
        assert query(database, "SELECT turn, reference_count FROM orders WHERE slot = 1") == [(1, 0)]
        assert push(a, layout, "m1") == 1
    assert pop(b, layout) == ((1, "m1"),)
    assert push(b, layout, "m5") == 5
    assert [pop(b, layout)[0][0] for _ in range(4)] == [2, 3, 4, 5]


def test_of_two_producers_that_wait_for_one_slot_the_earlier_lap_wins(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    with a.transaction():
        assert draw(a, "push_seq") == 1
        assert [push(b, layout, f"m{n}") for n in (2, 3, 4)] == [2, 3, 4]
        assert draw(b, "push_seq") == 5  # the slot seemed free: both have drawn, and it is empty
        assert push(b, layout, "m5", 30) is None
        assert query(database, "SELECT turn, message_id FROM orders WHERE slot = 1") == [(1, None)]
        assert push(a, layout, "m1") == 1
    assert push(b, layout, "m5", 30) is None  # now the ring is full
    assert pop(b, layout) == ((1, "m1"),)
    assert push(b, layout, "m5") == 5


def test_a_hole_is_proven_only_when_every_transaction_that_drew_has_ended(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    with a.transaction():
        draw(a, "push_seq")
        push(b, layout, "m2")
        assert call(b, layout, "fill_hole", "1, 50") == ((False,),)
        assert pop(b, layout, 100) == ()  # its number is 1, which may still be pushed
    # The transaction has ended without a push. The waiting consumer skips the hole by itself.
    assert pop(b, layout, 1000) == ((2, "m2"),)
    # The turn of its slot refuses the late producer. Its message gets a new number.
    assert push(a, layout, "late") == 3
    assert pop(b, layout) == ((3, "late"),)


def test_a_hole_is_filled_by_a_script_too_and_only_once(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    draw(a, "push_seq")
    draw(b, "push_seq")
    end(database, a)
    assert call(b, layout, "fill_hole", "1, 0") == ((True,),)
    assert call(b, layout, "fill_hole", "1, 0") == ((False,),)
    assert call(b, layout, "fill_hole", "7, 0") == ((False,),)  # not drawn yet
    assert push(b, layout, "m2") == 2
    assert pop(b, layout, 100) == ((2, "m2"),)


def test_a_producer_that_waits_for_the_slot_of_a_dead_one_goes_on(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    draw(a, "push_seq")
    end(database, a)
    assert [push(b, layout, f"m{n}") for n in (2, 3, 4)] == [2, 3, 4]
    assert push(b, layout, "m5", 1000) == 5
    assert [pop(b, layout)[0][0] for _ in range(4)] == [2, 3, 4, 5]


def test_an_open_transaction_that_has_drawn_nothing_is_no_hindrance(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    with a.transaction():
        run(a, "SELECT pg_current_xact_id()")
        draw(b, "push_seq")
        draw(b, "push_seq")
        assert call(b, layout, "fill_hole", "1, 1000") == ((True,),)


def test_the_message_of_a_dead_consumer_is_requeued_under_a_new_number(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    push(b, layout, "m1")
    with opened(database) as dying, contextlib.suppress(Exception), dying.transaction():
        assert pop(dying, layout) == ((1, "m1"),)
        assert call(b, layout, "requeue_orphan", "1, 20") == ((None,),)  # its transaction may still commit
        end(database, dying)
        run(dying, "SELECT 1")
    assert call(b, layout, "requeue_orphan", "1") == ((2,),)
    assert call(b, layout, "requeue_orphan", "1, 0") == ((None,),)
    assert pop(b, layout) == ((2, "m1"),)
    assert pop(b, layout) == ()


def test_a_consumer_that_lives_after_all_is_refused_and_the_message_delivered_once(
    layout: Layout, a: Connection, b: Connection
) -> None:
    draw(a, "pop_seq")
    push(b, layout, "m1")
    assert call(b, layout, "requeue_orphan", "1") == ((2,),)
    assert pop(a, layout) == ((2, "m1"),)
    assert (pop(a, layout), pop(b, layout)) == ((), ())


def test_an_orphan_in_a_full_ring_stays_until_there_is_room(
    database: str, layout: Layout, a: Connection, b: Connection
) -> None:
    for number in range(1, 5):
        push(b, layout, f"m{number}")
    draw(a, "pop_seq")
    draw(a, "pop_seq")
    end(database, a)  # 1 and 2 are orphans; 3 and 4 are ready
    slots = "SELECT CAST(to_jsonb(o) - 'time' AS text) FROM orders AS o ORDER BY slot"
    before = query(database, slots)
    assert call(b, layout, "requeue_orphan", "2, 20") == ((None,),)  # number 5 needs the slot of 1
    assert query(database, slots) == before
    assert call(b, layout, "requeue_orphan", "1") == ((5,),)
    assert call(b, layout, "requeue_orphan", "2") == ((6,),)
    assert [pop(b, layout)[0][1] for _ in range(4)] == ["m3", "m4", "m1", "m2"]


def test_repair_finds_and_mends_both_kinds(database: str, layout: Layout, a: Connection, b: Connection) -> None:
    draw(a, "push_seq")  # 1 becomes a hole
    push(b, layout, "m2")
    draw(a, "pop_seq")
    draw(a, "pop_seq")  # 2 becomes an orphan
    end(database, a)
    assert call(b, layout, "repair", "3600, 100") == ((1, "hole", None),)  # recent messages may still come
    assert call(b, layout, "repair", "0, 100") == ((2, "orphan", 3),)
    assert call(b, layout, "repair", "0, 100") == ()  # and again: nothing
    assert pop(b, layout) == ((3, "m2"),)


@pytest.mark.parametrize("repaired", [False, True], ids=["by itself", "repaired"])
def test_a_ring_full_of_orphans_whose_next_numbers_are_all_taken_moves_again(
    database: str, layout: Layout, a: Connection, b: Connection, *, repaired: bool
) -> None:
    for number in range(1, 5):
        push(b, layout, f"m{number}")
        draw(a, "pop_seq")
    end(database, a)
    with contextlib.ExitStack() as stack:
        c, d, e, script = (stack.enter_context(opened(database)) for _ in range(4))
        waiting = dict(zip((5, 6, 7, 8), (b, c, d, e), strict=True))
        for number, producer in waiting.items():
            stack.enter_context(producer.transaction())
            draw(producer, "push_seq")
            assert push(producer, layout, f"m{number}", 0) is None
        if repaired:
            assert call(script, layout, "repair", "0, 100") == ((1, "orphan", 1),)
        popped = [pop(script, layout)[0] for _ in range(4)]  # although it has drawn 5 and waits for it
        for number, producer in waiting.items():
            assert push(producer, layout, f"m{number}", 0) == number
    with opened(database) as script:
        popped += [pop(script, layout)[0] for _ in range(4)]
        assert popped == [(n, f"m{n}") for n in range(1, 9)]
        assert pop(script, layout) == ()


@pytest.mark.parametrize("design", (*BOTH, "ring_classic", "ring_subscribers"))
def test_updates_stay_on_their_page_and_leave_the_index_alone(database: str, design: str) -> None:
    made(database, design, "big", ring_size=100)
    before = query(database, "SELECT pg_relation_size('big_key')")
    for _ in range(20):
        query(database, "DO 'BEGIN FOR n IN 1..100 LOOP PERFORM big_push(repeat($$x$$, 300)); END LOOP; END'")
        for subscriber in ("1", "2") if design == "ring_subscribers" else ("",):
            query(database, f"DO 'BEGIN FOR n IN 1..100 LOOP PERFORM * FROM big_pop({subscriber}); END LOOP; END'")
    counts = "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'big'"
    wanted = 6000 if design == "ring_subscribers" else 4000
    (updated, hot), *_ = wait_until(lambda: [r for r in query(database, counts) if r[0] == wanted], what="statistics")
    assert int(str(hot)) >= 0.95 * int(str(updated))
    assert query(database, "SELECT pg_relation_size('big_key')") == before


def test_its_sequences_cache_nothing_since_the_cache_is_per_session(database: str, layout: Layout) -> None:
    # Two of the five sequences belong to the pause switch.
    assert query(database, "SELECT seqcache, seqcycle FROM pg_sequence") == [(1, False)] * 5


def test_at_a_higher_isolation_level_nobody_waits_for_what_cannot_be_seen(
    layout: Layout, a: Connection, b: Connection
) -> None:
    run(a, "SELECT set_config('default_transaction_isolation', 'repeatable read', false)")
    assert pop(a, layout, 3_600_000) == ()
    run(a, "SELECT set_config('default_transaction_isolation', 'serializable', false)")
    for number in range(1, 5):
        assert push(a, layout, f"m{number}", 3_600_000) == number
    assert push(a, layout, "too many", 3_600_000) is None
    assert pop(b, layout) == ((1, "m1"),)
    assert pop(a, layout, 3_600_000) == ((2, "m2"),)
