"""Archiving on a real server: under load, with killed archivers, against locks, and its messages."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qmon.cli.commands.design.archive import ArchiveEnd, ArchiveResultText
from qmon.cli.target_session import SessionText
from qmon.engines.base import Bound, Statement
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.errors import BadInput, ConnectionLost
from qmon.model.layout.layout import Layout
from qmon.operate.actions.archiver import (
    ARCHIVE_SESSION,
    ArchiveProgress,
    Archiver,
    ArchiveResult,
    ArchiveText,
    check_can_archive,
    designs_with_archive,
)
from qmon.operate.run.pacing import BatchPace, archive_pace
from tests.cli.calling import call, program, surroundings
from tests.contract.hammer import Hammer
from tests.facts import connected, query, wait_until
from tests.queues import ENGINE, made, opened, target_of
from tests.wordings import has, pattern

DESIGNS = ("batch_fast", "batch_single", "batch_split", "flag")
MESSAGES = 300
SPLIT = ("batch_fast", "batch_split")
WATCHER = """
    CREATE TABLE touched (who text NOT NULL, what text NOT NULL, state int NOT NULL);
    CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
    BEGIN
        INSERT INTO touched VALUES (
            current_setting('application_name'), tg_op, (to_jsonb(old) ->> tg_argv[0])::int
        );
        RETURN NULL;
    END $$;
    CREATE TRIGGER touch AFTER UPDATE OR DELETE ON orders FOR EACH ROW
    WHEN (current_setting('application_name') = 'qmon archive') EXECUTE FUNCTION touch('{column}')"""


def done(layout: Layout) -> tuple[str, int]:
    """Return the column of the state, and its value for done messages."""
    assert layout.state is not None
    return layout.state.column, int(str(layout.state.done))


def bound(sql: str) -> Bound:
    return Bound(Statement("test", sql, (), ()))


def count(url: str, what: str) -> int:
    return int(str(query(url, f"SELECT count(*) FROM {what}")[0][0]))


def filled(url: str, design: str, messages: int, *, finished: int, taken: int = 0) -> Layout:
    """Fill a queue; the first ``finished`` messages are done, and the next ``taken`` are in progress."""
    layout = made(url, design)
    query(url, f"SELECT count(orders_push('message ' || n)) FROM generate_series(1, {messages}) AS n")
    if layout.traits.completes:
        query(url, f"SELECT count(orders_complete(r.id, r.attempt)) FROM orders_pop_batch({finished}) AS r")
        query(url, f"SELECT count(*) FROM orders_pop_batch({taken})" if taken else "SELECT 1")
    else:
        query(url, f"SELECT count(*) FROM orders_pop_batch({finished})")
    return layout


@contextmanager
def archiving(
    url: str, layout: Layout, pace: BatchPace, *, until_empty: bool = False
) -> Iterator[tuple[list[ArchiveProgress], Callable[[], ArchiveResult]]]:
    """Run an archiver in a thread; yield its progress, and a function that ends it and returns its result or raises."""
    stop, told, ended = threading.Event(), list[ArchiveProgress](), list[ArchiveResult | Exception]()
    archiver = Archiver(lambda: ENGINE.connect(target_of(url), ARCHIVE_SESSION), ENGINE, layout, pace, stop)

    def work() -> None:
        try:
            ended.append(archiver.run(told.append, until_empty=until_empty))
        except Exception as problem:
            ended.append(problem)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()

    def end() -> ArchiveResult:
        if not until_empty:
            stop.set()
        thread.join(120)
        if isinstance(ended[0], Exception):
            raise ended[0]
        return ended[0]

    try:
        yield told, end
    finally:
        stop.set()
        thread.join(120)


# ------------------------------------------------------------------------------------------------------- under load


def heeds_sigterm(process: subprocess.Popen[str]) -> bool:
    """Return whether a process already has a handler for SIGTERM. See proc(5), ``SigCgt``."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    caught = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(caught >> (signal.SIGTERM - 1) & 1)


@pytest.mark.parametrize("design", DESIGNS)
def test_under_load_with_killed_archivers_every_message_is_in_exactly_one_place(database: str, design: str) -> None:
    layout, chance = made(database, design), random.Random(design)
    column, finished = done(layout)
    query(database, WATCHER.format(column=column))
    arguments = ("design", "archive", database, "orders", "--batch", "7")
    hammer, archivers = Hammer(database, layout, rollback_share=0.05), list[subprocess.Popen[str]]()

    def start() -> None:
        archivers.append(subprocess.Popen(program(*arguments), env=surroundings(), stdout=subprocess.PIPE, text=True))

    def archived(goal: int) -> Callable[[], bool]:
        return lambda: count(database, "orders_archive_log") >= goal

    try:
        start()
        start()
        hammer.start("consumer", 2)
        hammer.start("producer", 2, limit=MESSAGES // 2)
        for goal in (chance.randrange(10, 40), chance.randrange(50, 90)):
            wait_until(archived(goal), what="messages are archived")
            victim = archivers.pop(0)
            victim.kill()
            victim.communicate()
            start()
        hammer.wait_producers()
        wait_until(lambda: hammer.popped() == MESSAGES, 120, what="everything is popped")
        hammer.stop()
        wait_until(lambda: count(database, f"orders WHERE {column} = {finished}") == 0, 120, what="all is archived")
        wait_until(lambda: all(map(heeds_sigterm, archivers)), what="archivers that heed signals")
        for each in archivers:
            each.send_signal(signal.SIGTERM)
            assert "stopped" in each.communicate(timeout=120)[0]
            assert each.returncode == 0
    finally:
        hammer.close()
        for each in archivers:
            each.kill()
    # No message is lost or doubled, and the archivers took only done messages.
    payload = {"flag": "command"}.get(design, "text_data")
    table = "orders_data" if design in SPLIT else "orders"
    places = query(database, f"SELECT {payload} FROM {table} UNION ALL SELECT {payload} FROM orders_archive_log")
    pushed = query(database, "SELECT message FROM ledger_pushed")
    assert sorted(places) == sorted(pushed)
    assert count(database, "orders") == count(database, table)
    assert query(database, "SELECT DISTINCT who, what, state FROM touched") == [("qmon archive", "DELETE", finished)]
    assert count(database, "touched") == count(database, "orders_archive_log") >= MESSAGES // 2


def result_of(text: str) -> tuple[int, int]:
    """Return the numbers of messages and batches that the command printed."""
    begins, _, _ = ArchiveResultText.RESULT.partition("{batches}")
    counts = begins.format(queue="orders", messages=r"(\d+) messages") + r"(\d+) batches"
    archived, batches = re.findall(f"^{counts}", text, re.MULTILINE)[0]
    return int(archived), int(batches)


@pytest.mark.parametrize("design", DESIGNS)
def test_until_empty_takes_what_is_done_and_leaves_the_rest(database: str, design: str) -> None:
    layout = filled(database, design, 100, finished=60, taken=15)
    column, finished = done(layout)
    before = query(database, f"SELECT * FROM orders WHERE {column} <> {finished} ORDER BY 1, 2")
    told = call("design", "archive", database, "orders", "--batch", "25", "--until-empty")
    assert told.exit_code == 0, told.output
    assert has(told.stdout, ArchiveEnd.NOTHING_LEFT)
    archived, batches = result_of(told.stdout)
    assert archived == 60
    assert batches >= 3  # more if a slow machine used smaller batches
    assert query(database, f"SELECT * FROM orders WHERE {column} <> {finished} ORDER BY 1, 2") == before
    assert (len(before), count(database, "orders"), count(database, "orders_archive_log")) == (40, 40, 60)
    again = call("design", "archive", database, "orders", "--until-empty")
    assert has(again.stdout, ArchiveResultText.RESULT, queue="orders", messages="0 messages", batches="0 batches")
    assert has(again.stdout, ArchiveEnd.NOTHING_LEFT)


def test_one_killed_in_the_middle_of_a_batch_has_moved_nothing_of_it(database: str) -> None:
    filled(database, "batch_fast", 30, finished=30)
    waiting = "pg_stat_activity WHERE application_name = 'qmon archive' AND wait_event_type = 'Lock'"
    with connected(database, autocommit=False) as other:
        other.execute("LOCK TABLE orders_data IN EXCLUSIVE MODE")  # the rows are copied already, not yet deleted
        with subprocess.Popen(program("design", "archive", database, "orders"), env=surroundings()) as process:
            wait_until(lambda: count(database, waiting), what="it is in the middle of a batch")
            process.kill()
        gone = "pg_stat_activity WHERE application_name = 'qmon archive'"
        wait_until(lambda: not count(database, gone), what="its session gives up the lock and ends")
        other.rollback()
    assert [count(database, name) for name in ("orders", "orders_data", "orders_archive_log")] == [30, 30, 0]
    assert call("design", "archive", database, "orders", "--until-empty").exit_code == 0
    assert [count(database, name) for name in ("orders", "orders_data", "orders_archive_log")] == [0, 0, 30]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_between_two_batches_with_exit_code_0(database: str, number: signal.Signals) -> None:
    filled(database, "batch_fast", 300, finished=300)
    arguments = program("design", "archive", database, "orders", "--batch", "10")
    with subprocess.Popen(arguments, env=surroundings(), stdout=subprocess.PIPE, text=True) as process:
        wait_until(lambda: count(database, "orders_archive_log") >= 20, what="it archives")
        process.send_signal(number)
        out = process.communicate(timeout=120)[0]
    assert process.returncode == 0
    assert "; stopped\n" in out
    archived, batches = result_of(out)
    assert 20 <= archived == count(database, "orders_archive_log") <= 10 * batches
    assert count(database, "orders") == 300 - archived


# -------------------------------------------------------------------------------------------------------- obstacles


def test_it_gives_way_to_locks_and_goes_on_when_they_are_gone(database: str) -> None:
    layout = filled(database, "batch_fast", 100, finished=100)
    with connected(database, autocommit=False) as other:
        other.execute("LOCK TABLE orders_archive_log IN ACCESS EXCLUSIVE MODE")
        with archiving(database, layout, archive_pace(64, 0.0), until_empty=True) as (told, end):
            wait_until(lambda: len(told) >= 2, what="two batches are given up")
            assert {now.held_up for now in told} == {PostgresErrorText.LOCK_TIMEOUT.render(query="action/archive")}
            assert [now.batch for now in told[:2]] == [32, 16]
            assert told[1].pause_s == 2 * told[0].pause_s > 0
            other.rollback()
            outcome = end()
    assert (outcome.moved, outcome.ended, count(database, "orders")) == (100, "empty", 0)
    assert outcome.held_up == sum(bool(now.held_up) for now in told)


def test_rows_that_another_archiver_holds_are_passed_over(database: str) -> None:
    layout = filled(database, "flag", 50, finished=50)
    with connected(database, autocommit=False) as other:
        other.execute("SELECT orders_archive(20)").fetchall()
        with archiving(database, layout, archive_pace(50, 0.0), until_empty=True) as (_, end):
            assert end().moved == 30
        other.commit()
    assert (count(database, "orders"), count(database, "orders_archive_log")) == (0, 50)


def test_a_broken_connection_is_made_anew_unless_it_is_to_end(database: str) -> None:
    layout = filled(database, "flag", 400, finished=400)
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'qmon archive'"
    with archiving(database, layout, archive_pace(10, 0.05)) as (told, end):
        wait_until(lambda: told and told[-1].moved >= 20, what="it archives")
        query(database, cut)
        wait_until(lambda: count(database, "orders") == 0, what="it goes on after its connection was cut")
        outcome = end()
    assert [bool(now.held_up) for now in told].count(True) == outcome.unsure == 1
    assert outcome.ended == "stopped"
    assert (count(database, "orders"), count(database, "orders_archive_log")) == (0, 400)
    query(database, "SELECT count(orders_push('again')) FROM generate_series(1, 400)")
    query(database, "SELECT count(*) FROM orders_pop_batch(400)")
    with archiving(database, layout, archive_pace(1, 0.05), until_empty=True) as (told, end):
        wait_until(lambda: told, what="it archives")
        query(database, cut)
        with pytest.raises(ConnectionLost):
            end()


# --------------------------------------------------------------------------------------------------------- refusals


def test_what_cannot_be_archived_is_one_line_and_exit_code_2(database: str) -> None:
    made(database, "fifo", "mails")
    made(database, "batch_fast")
    cases = (
        (("mails",), pattern(ArchiveText.NO_ARCHIVE_IN_DESIGN, queue="mails", design="fifo")),
        (("nowhere",), pattern(SessionText.NOT_INSTALLED, queue="nowhere", queues="mails, orders")),
        (("orders", "--batch", "0"), "Invalid value for '--batch'"),
    )
    for arguments, words in cases:
        told = call("design", "archive", database, *arguments)
        assert told.exit_code == 2
        assert re.search(words, " ".join(told.stderr.replace("│", " ").split()))
        assert "Traceback" not in told.output
    assert set(designs_with_archive(ENGINE, (18, 0))) == set(DESIGNS)


def test_a_missing_right_is_told_with_the_statements_that_help(database: str) -> None:
    layout = filled(database, "batch_fast", 5, finished=5)
    role = database.rpartition("/")[2].partition("?")[0] + '_r"ole'
    quoted = '"' + role.replace('"', '""') + '"'
    query(database, f"CREATE ROLE {quoted} LOGIN")
    try:
        with opened(database) as connection:
            query(database, f"GRANT USAGE ON SCHEMA qmon TO {quoted}; GRANT SELECT ON qmon.queues TO {quoted}")
            query(database, f"GRANT SELECT ON public.orders TO {quoted}")
            connection.execute(bound(f"SET SESSION AUTHORIZATION {quoted}"))
            with pytest.raises(BadInput, match=pattern(ArchiveText.RIGHTS_MISSING, queue="orders")) as refused:
                check_can_archive(connection, ENGINE, layout)
            grants = re.findall("GRANT [^;]*", str(refused.value))
            assert grants == [
                f"GRANT DELETE, SELECT ON public.orders_data TO {quoted}",
                f"GRANT DELETE, UPDATE ON public.orders TO {quoted}",
                f"GRANT INSERT ON public.orders_archive_log TO {quoted}",
            ]
            query(database, ";".join(grants))
            check_can_archive(connection, ENGINE, layout)
            assert connection.fetch(bound("SELECT * FROM orders_archive(10)")).rows == ((5,),)
    finally:
        query(database, f"DROP OWNED BY {quoted}; DROP ROLE {quoted}")


def test_a_read_only_target_is_refused(database: str, tmp_path: Path) -> None:
    made(database, "flag")
    place = tmp_path / "qmon.toml"
    place.write_text(f'[target.shop]\nconnect = "{database}"\nread_only = true\n')
    told = call("design", "archive", "shop", "orders", "--config", str(place))
    assert told.exit_code == 2
    assert has(told.stderr, SessionText.TARGET_READ_ONLY, target="shop")
