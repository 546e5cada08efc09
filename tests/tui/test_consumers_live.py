"""The consumers of a queue over a real poller: their sessions, messages, start times and waits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import pyodbc
import pytest

from qmon.model.consumer_list import ListedConsumer, Unknown
from qmon.model.layout.layout import OwnerColumn
from qmon.tui.consumers.consumer_rows import ConsumerText
from qmon.tui.consumers.consumers_screen import ConsumerDetails, ConsumersScreen, ConsumersText
from tests.facts import connected, query
from tests.jobs import TABLE, layout
from tests.libraries.tables import OBAN_13
from tests.tui.live import Real, looking

pytestmark = pytest.mark.server

# Keys from the overview. More keys are a regression.
WHO_KEYS: Final = ("c", "enter")

JOBS: Final = (
    TABLE + "ALTER TABLE public.jobs ADD COLUMN pid int;"
    "INSERT INTO public.jobs (status, payload) SELECT 'ready', 'order ' || n FROM generate_series(1, 5) AS n"
)
TAKE: Final = "UPDATE public.jobs SET status = 'working', started_at = now(), pid = pg_backend_pid() WHERE id IN (1, 2)"
BY_SESSION: Final = replace(layout(), owner=OwnerColumn("pid", "session"))


def consumers(real: Real) -> dict[str, ListedConsumer]:
    """Return the listed consumers by name."""
    screen = real.app.screen
    return {each.name: each for each in screen.found.consumers} if isinstance(screen, ConsumersScreen) else {}


@contextmanager
def waiting_for_lock(worker: pyodbc.Connection, sql: str, holder: pyodbc.Connection) -> Iterator[None]:
    """Let ``worker`` wait for a lock of ``holder``, which is released at the end."""
    thread = threading.Thread(target=worker.execute, args=(sql,))
    thread.start()
    try:
        yield
    finally:
        holder.rollback()
        thread.join()


async def test_two_keys_show_who_works_and_on_what(database: str, tmp_path: Path) -> None:
    query(database, JOBS)
    with connected(database) as worker:
        worker.execute("SET application_name = 'mailer-7'")
        worker.execute(TAKE)
        async with looking(database, tmp_path, layouts=[BY_SESSION]) as real:
            await real.pilot.press(WHO_KEYS[0])
            await real.until(lambda: "mailer-7" in consumers(real), "the consumer")
            await real.until(lambda: consumers(real)["mailer-7"].holds == 2, "its messages")
            found = consumers(real)["mailer-7"]
            assert found.client is not None
            assert found.since_s is not None
            assert found.oldest_s is not None
            assert {message.id for message in found.messages} == {"1", "2"}
            oldest_s = found.oldest_s
            await real.until(lambda: (consumers(real)["mailer-7"].oldest_s or 0.0) > oldest_s, "a later poll")
            await real.pilot.press(WHO_KEYS[1])
            await real.until(lambda: "SET status = 'working'" in real.text(), "the statement of its session")
            assert isinstance(real.app.screen, ConsumerDetails)
            assert f"{found.client.session} (mailer-7" in real.text()
            assert "order 1" in real.text()
            await real.pilot.press("escape", "escape")
            assert consumers(real) == {}
            assert real.app.current_mode == "overview"


async def test_a_consumer_that_waits_for_a_lock_shows_the_session_that_holds_it(database: str, tmp_path: Path) -> None:
    query(database, JOBS)
    with connected(database) as holder, connected(database) as worker:
        worker.execute("SET application_name = 'mailer-7'")
        worker.execute(TAKE)
        holder.autocommit = False
        (number,) = holder.execute("SELECT pg_backend_pid()").fetchone()
        holder.execute("SELECT id FROM public.jobs WHERE id = 1 FOR UPDATE")
        async with looking(database, tmp_path, layouts=[BY_SESSION]) as real:
            with waiting_for_lock(worker, "UPDATE public.jobs SET status = 'ready' WHERE id = 1", holder):
                await real.pilot.press(WHO_KEYS[0])
                await real.until(lambda: "mailer-7" in consumers(real), "the consumer")
                await real.pilot.press(WHO_KEYS[1])
                holders = ConsumerText.HOLDER.render(session=number)
                await real.until(lambda: holders in real.text(), "what it waits for")


async def test_a_pop_that_deletes_shows_the_messages_of_its_open_transaction(database: str, tmp_path: Path) -> None:
    query(database, JOBS)
    with connected(database) as worker:
        worker.execute("SET application_name = 'mailer-7'")
        worker.autocommit = False
        worker.execute("DELETE FROM public.jobs WHERE id = 3")
        deletes = replace(layout(), pop="delete", state=None, owner=None, started_at=None)
        async with looking(database, tmp_path, layouts=[deletes]) as real:
            await real.pilot.press(WHO_KEYS[0])
            await real.until(lambda: "mailer-7" in consumers(real), "the consumer")
            await real.until(lambda: [m.id for m in consumers(real)["mailer-7"].messages] == ["3"], "its message")
        worker.rollback()


async def test_without_an_owner_column_held_messages_are_unknown_not_zero(database: str, tmp_path: Path) -> None:
    query(
        database, TABLE + "INSERT INTO public.jobs (status) VALUES ('ready'); ALTER TABLE public.jobs DROP COLUMN lease"
    )
    with connected(database) as worker:
        worker.execute("SET application_name = 'mailer-7'")
        worker.execute("UPDATE public.jobs SET status = 'working', started_at = now()")
        async with looking(database, tmp_path, layouts=[replace(layout(), owner=None)]) as real:
            await real.pilot.press(WHO_KEYS[0])
            await real.until(
                lambda: (
                    "mailer-7" in consumers(real)
                    and consumers(real)["mailer-7"].unknown.get("holds") is Unknown.NO_OWNER
                ),
                "the reason",
            )
            assert consumers(real)["mailer-7"].holds is None


async def test_messages_in_progress_are_named_although_no_consumer_is_known(database: str, tmp_path: Path) -> None:
    """Their consumer is not connected, and the table has no column for the owner."""
    query(database, TABLE + "INSERT INTO public.jobs (status) VALUES ('working'), ('working')")
    async with looking(database, tmp_path, layouts=[replace(layout(), owner=None)]) as real:
        await real.pilot.press(WHO_KEYS[0])
        unknown = ConsumersText.NONE_KNOWN.render(count="2")
        await real.until(lambda: unknown in real.text(), "the messages without a known consumer")
        query(database, "UPDATE public.jobs SET status = 'ready'")
        await real.until(lambda: ConsumersText.NO_CONSUMER in real.text(), "no message in progress")


async def test_the_workers_of_a_library_come_from_its_own_table(database: str, tmp_path: Path) -> None:
    query(
        database,
        OBAN_13 + "INSERT INTO oban_producers SELECT gen_random_uuid(), 'Mailer', 'node-a', 'mails', '{}',"
        " timezone('UTC', now()) - interval '1 h', timezone('UTC', now());"
        "INSERT INTO oban_producers SELECT gen_random_uuid(), 'Mailer', 'node-b', 'other', '{}',"
        " timezone('UTC', now()), timezone('UTC', now());"
        "UPDATE oban_jobs SET attempted_by = ARRAY['node-a', (SELECT uuid::text FROM oban_producers WHERE"
        " queue = 'mails')] WHERE state = 'executing';"
        "INSERT INTO oban_jobs (state, queue, attempted_at, attempted_by) VALUES ('executing', 'mails',"
        " timezone('UTC', now()), ARRAY['node-x', 'gone'])",
    )
    async with looking(database, tmp_path, queue="oban/mails", layouts=[]) as real:
        await real.until(lambda: real.app.shown.view is not None and real.app.shown.view.queues, "the queue")
        await real.pilot.press(WHO_KEYS[0])
        await real.until(lambda: {each.host for each in consumers(real).values()} == {"node-a", None}, "the workers")
        (worker,) = (each for each in consumers(real).values() if each.host == "node-a")
        await real.until(lambda: consumers(real)[worker.name].holds == 1, "its message")
        assert (worker.unknown["session"], worker.is_alive) == (Unknown.NO_SESSION, True)
        assert worker.since_s is not None
        assert worker.since_s > 3_000
        gone = consumers(real)["gone"]
        assert (gone.holds, gone.is_alive) == (1, False)
