"""Each design's promises about order, waiting, due times and priorities, and the settings of its tables."""

from __future__ import annotations

import itertools

import pytest

from qmon.errors import LockTimeout
from tests.contract.designs import WAITING, many, meanwhile, plain, pop, push
from tests.contract.hammer import Hammer
from tests.facts import connected, query, wait_until
from tests.queues import DESIGNS, call, made, opened, routine, run

PRIORITIES = ("batch_fast", "batch_single", "batch_split")


@pytest.mark.parametrize("design", WAITING)
def test_a_consumer_that_waited_for_a_row_that_is_gone_looks_again(database: str, design: str) -> None:
    # The row it saw at its start is gone when it wakes up, and it has not seen newer rows. The queue is not empty.
    layout = made(database, design)
    with opened(database) as one, opened(database) as other, opened(database) as producer:
        push(producer, layout, "a")
        with connected(database, autocommit=False) as raw:
            assert raw.execute(f"SELECT id FROM {routine(layout, 'pop')}()").fetchval() == 1

            def then() -> None:
                push(producer, layout, "b")
                raw.commit()

            assert meanwhile(database, other, layout, then) == [(2, "b")]
        assert pop(one, layout) == []


@pytest.mark.parametrize("design", WAITING)
def test_a_consumer_that_waited_gets_what_was_rolled_back(database: str, design: str) -> None:
    layout = made(database, design)
    with opened(database) as other:
        push(other, layout, "a", "b")
        with connected(database, autocommit=False) as raw:
            raw.execute(f"SELECT id FROM {routine(layout, 'pop')}()").fetchall()
            assert meanwhile(database, other, layout, raw.rollback) == [(1, "a")]
        assert pop(other, layout) == [(2, "b")]


def test_strict_pushes_wait_for_each_other_so_that_ids_follow_commits(database: str) -> None:
    layout = made(database, "strict_fifo")
    with opened(database) as one, opened(database) as other:
        run(other, "SELECT set_config('lock_timeout', '20', false)")
        with one.transaction():
            push(one, layout, "a")
            for verb, argument in (("push", "'b'"), ("push_batch", "'{b}'")):
                with pytest.raises(LockTimeout):
                    call(other, layout, verb, argument)
            assert pop(other, layout) == []  # not committed, so neither it nor later messages are available
        push(other, layout, "c")
        assert [message for _, message in pop(one, layout) + pop(one, layout)] == ["a", "c"]


def test_a_stack_gives_the_newest_first_and_passes_over_what_is_held(database: str) -> None:
    layout = made(database, "lifo")
    with opened(database) as one, opened(database) as other:
        push(one, layout, "a", "b", "c", "d", "e")
        with one.transaction():
            assert pop(one, layout) == [(5, "e")]
            assert pop(other, layout) == [(4, "d")]
        push(one, layout, "f")
        assert [plain(row) for row in call(other, layout, "pop_batch", "3")] == [(6, "f"), (3, "c"), (2, "b")]
        assert (pop(one, layout), pop(one, layout)) == ([(1, "a")], [])


def test_a_heap_gives_all_and_each_once(database: str) -> None:
    layout = made(database, "heap")
    with opened(database) as one, opened(database) as other:
        call(one, layout, "push_batch", many("heap", 40))
        with one.transaction():
            mine = pop(one, layout) + [plain(row) for row in call(one, layout, "pop_batch", "9")]
            theirs = [plain(row) for row in call(other, layout, "pop_batch", "20")]
            theirs += [row for _ in range(10) for row in pop(other, layout)]
            assert pop(other, layout) == []  # the other consumer holds the rest
        assert sorted(int(message) for _, message in mine + theirs) == list(range(1, 41))
        # A session continues from its last pop, and also finds messages committed before that position.
        query(database, "VACUUM orders")
        push(one, layout, "x", "y")
        assert sorted(message for _, message in pop(one, layout) + pop(other, layout)) == ["x", "y"]
        assert (pop(one, layout), call(other, layout, "pop_batch", "9")) == ([], ())


def test_what_is_pending_is_popped_when_it_is_due_the_longest_due_first(database: str) -> None:
    layout = made(database, "pending")
    with opened(database) as connection:
        for message, offset in (
            ("b", "- 1 minute"),
            ("tomorrow", "+ 1 day"),
            ("a", "- 1 hour"),
            ("soon", "+ 1 minute"),
        ):
            sign, length = offset[0], offset[2:]
            call(connection, layout, "push", f"'{message}', clock_timestamp() {sign} interval '{length}'")
        push(connection, layout, "now")
        assert [pop(connection, layout)[0][1] for _ in range(2)] == ["a", "b"]
        assert [plain(row)[1] for row in call(connection, layout, "pop_batch", "9")] == ["now"]
        assert pop(connection, layout) == []
        query(database, "UPDATE orders SET due_time = due_time - interval '2 minutes'")
        assert [row[1] for row in pop(connection, layout) + pop(connection, layout)] == ["soon"]


def test_due_is_an_instant_whatever_the_time_zone_of_the_session(database: str) -> None:
    layout = made(database, "pending")
    with opened(database) as berlin, opened(database) as kolkata:
        run(berlin, "SELECT set_config('TimeZone', 'Europe/Berlin', false)")
        run(kolkata, "SELECT set_config('TimeZone', 'Asia/Kolkata', false)")
        # The night in which summer time ends: 02:30 comes twice, an hour apart, and both are kept apart.
        call(berlin, layout, "push", "'second', '2024-10-27 02:30:00+01'")
        call(berlin, layout, "push", "'first', '2024-10-27 02:30:00+02'")
        call(kolkata, layout, "push", "'later', clock_timestamp() + interval '10 minutes'")
        assert [pop(kolkata, layout)[0][1] for _ in range(2)] == ["first", "second"]
        assert (pop(berlin, layout), pop(kolkata, layout)) == ([], [])


def test_nothing_pending_is_popped_before_it_is_due_under_fire(database: str) -> None:
    layout = made(database, "pending")
    query(database, "CREATE TABLE popped_at (early double precision NOT NULL)")
    query(
        database,
        """CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS 'BEGIN
        INSERT INTO popped_at VALUES (extract(epoch FROM old.due_time - clock_timestamp())); RETURN old; END'""",
    )
    query(database, "CREATE TRIGGER note BEFORE DELETE ON orders FOR EACH ROW EXECUTE FUNCTION note()")
    due = "clock_timestamp() + (n % 97) * interval '8 milliseconds'"
    query(
        database,
        f"""SELECT {routine(layout, "push")}(convert_to('m' || n, 'UTF8'), {due}) FROM generate_series(1, 800) AS n""",
    )
    hammer = Hammer(database, layout)
    try:
        hammer.start("consumer", 4)
        wait_until(lambda: hammer.popped() == 800, 60, what="everything is popped")
        hammer.stop()
    finally:
        hammer.close()
    assert query(database, "SELECT count(*), max(early) <= 0 FROM popped_at") == [(800, True)]


@pytest.mark.parametrize("design", PRIORITIES)
def test_urgent_messages_go_first_and_nothing_starves(database: str, design: str) -> None:
    # Each minute an urgent message (ten minutes ahead of time) and an ordinary one are pushed, and one is popped. The
    # queue grows for ever, and urgent messages alone would keep the consumer busy, but each ordinary message has its
    # turn.
    layout = made(database, design)
    order: list[str] = []
    with opened(database) as connection:
        for minute in range(60):
            at = f"CAST('2030-01-01 12:00+00' AS timestamptz) + {minute} * interval '1 minute'"
            call(connection, layout, "push", f"'ordinary {minute}', NULL, {at}")
            call(connection, layout, "push", f"'urgent {minute}', NULL, {at} - interval '10 minutes'")
            order.append(pop(connection, layout)[0][1])
    assert order[:10] == [f"urgent {minute}" for minute in range(10)]
    # From then on they alternate: an ordinary message waits behind messages pushed up to ten minutes later, no more.
    ordinary = [place for place, message in enumerate(order) if message.startswith("ordinary")]
    assert len(ordinary) >= 20
    assert max(after - before for before, after in itertools.pairwise(ordinary)) <= 3
    assert [order[place] for place in ordinary] == [f"ordinary {number}" for number in range(len(ordinary))]


def test_a_flag_is_set_by_the_pop_and_its_rows_are_archived_in_batches(database: str) -> None:
    layout = made(database, "flag")
    with opened(database) as connection, opened(database) as other:
        call(connection, layout, "push_batch", many("flag", 10))
        call(connection, layout, "pop_batch", "6")
        flags = "SELECT processed, count(*), count(processed_at) FROM orders GROUP BY 1 ORDER BY 1"
        assert run(connection, flags) == ((0, 4, 0), (1, 6, 6))
        with other.transaction():
            assert call(other, layout, "archive", "4") == ((4,),)
            assert call(connection, layout, "archive", "4") == ((2,),)  # two archivers skip each other's rows
        assert call(connection, layout, "archive", "4") == ((0,),)
        archived = run(connection, "SELECT id, command, processed_at IS NULL FROM orders_archive_log ORDER BY 1")
        assert archived == tuple((n, str(n), False) for n in range(1, 7))
        assert pop(connection, layout) == [(7, "7")]
        # The article: the flag is the first column of the clustered index, and there is no other index.
        indexes = "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = CAST('orders' AS regclass)"
        ((definition,),) = run(connection, indexes)
        assert str(definition).endswith("(processed, id)")


@pytest.mark.parametrize("design", ["batch_fast", "batch_split"])
def test_indexes_of_the_small_rows_are_rebuilt_under_load(database: str, design: str) -> None:
    layout = made(database, design)
    hammer = Hammer(database, layout)
    try:
        hammer.start("producer", 2)
        hammer.start("consumer", 2)
        before = wait_until(hammer.popped)
        query(database, "REINDEX TABLE CONCURRENTLY orders")
        wait_until(lambda: hammer.popped() > before, what="messages move on")
        hammer.stop()
    finally:
        hammer.close()
    assert query(database, "SELECT 1 FROM pg_index WHERE NOT indisvalid") == []


@pytest.mark.parametrize("design", DESIGNS)
def test_no_sequence_caches_and_every_table_that_changes_has_its_own_autovacuum(database: str, design: str) -> None:
    made(database, design)
    assert {row[0] for row in query(database, "SELECT seqcache FROM pg_sequence")} <= {1}
    tables = query(
        database,
        """SELECT relname, coalesce(reloptions, '{}') FROM pg_class WHERE relkind = 'r'
        AND relnamespace = CAST('public' AS regnamespace)""",
    )
    unchanging = {"orders_archive_log", "orders_readers"}
    settings = {str(name): str(options) for name, options in tables if name not in unchanging}
    assert settings
    for options in settings.values():
        assert "autovacuum_vacuum_threshold=1000" in options
        assert "autovacuum_vacuum_cost_delay=0" in options
    if design.startswith("ring"):
        assert "fillfactor=30" in settings["orders"]
