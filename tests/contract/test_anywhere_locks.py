"""Locks of consumers that qmon has not installed, on every engine and with every form of locking."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from qmon.engines.base import Connection
from qmon.model.layout.layout import Layout, LayoutSource, ObjectName
from qmon.model.operation_records import Choice
from qmon.model.reasons import Reason
from qmon.monitor.source import ReadScope
from qmon.operate.operator import Operator
from tests.contract.anywhere import Place, execute, rolled_back, rows
from tests.contract.anywhere_sql import DELETE_FIRST, LOCK_NEXT, PLAIN
from tests.contract.watching import watching
from tests.wordings import pattern

pytestmark = pytest.mark.each_form


def hides_locks(place: Place) -> bool:
    """Return whether a transaction releases its lock on a row at once."""
    asked = "SELECT CAST(DATABASEPROPERTYEX(DB_NAME(), 'IsOptimizedLockingOn') AS int)"
    return place.sqlserver and place.ask(asked) == ((1,),)


@pytest.fixture
def plain(place: Place) -> Iterator[Layout]:
    """A queue of three messages whose pop is a DELETE without hints."""
    place.run(PLAIN, *(f"INSERT INTO plain VALUES ({number}, 'm{number}')" for number in (1, 2, 3)))
    table = ObjectName(place.schema, "plain")
    yield Layout("plain", "fifo", table, id="id", payload="payload", source=LayoutSource.CONFIGURATION)


def test_a_message_that_a_plain_delete_holds_is_in_progress_or_at_least_not_said_to_be_none(
    place: Place, plain: Layout
) -> None:
    hidden = hides_locks(place)
    with place.opened("consumer") as consumer, watching(place.url, [plain]) as watched:
        watched.queue("plain", lambda q: q.ready.value == 3)
        with rolled_back(consumer):
            execute(consumer, DELETE_FIRST)
            queue = watched.queue("plain", lambda q: q.ready.value == 2 and q.in_progress.value is not None)
            assert queue.in_progress.at_least == hidden
            assert queue.in_progress.value == (0 if hidden else 1)


def test_a_consumer_that_passes_locked_rows_does_not_wait_for_a_plain_delete(place: Place, plain: Layout) -> None:
    with place.opened("consumer") as consumer, place.opened("other") as other:
        with rolled_back(consumer), rolled_back(other):
            execute(consumer, DELETE_FIRST)
            assert rows(other, LOCK_NEXT[place.engine.name]) == ((2,),)
        assert place.count(plain.table) == 3


def test_a_requeue_ends_the_session_that_holds_a_message_or_says_that_it_is_hidden(
    place: Place, plain: Layout, operator: Operator
) -> None:
    choice = Choice(older_than_s=0.0)
    with place.opened("consumer") as consumer, rolled_back(consumer):
        execute(consumer, DELETE_FIRST)
        if hides_locks(place):
            with pytest.raises(Exception, match=pattern(Reason.ROWS_HIDDEN)):
                operator.requeue(plain, choice)
        else:
            assert operator.requeue(plain, choice).plan.count == 1


def test_a_lock_of_a_consumer_that_has_not_deleted_yet_is_that_of_an_update(place: Place, plain: Layout) -> None:
    if not place.sqlserver:
        pytest.skip("PostgreSQL writes such a lock into the row")
    asked = (
        "SELECT l.request_mode FROM sys.dm_tran_locks AS l"
        " WHERE l.request_session_id = @@SPID AND l.resource_type IN (N'KEY', N'RID')"
    )
    with place.opened("consumer") as consumer, rolled_back(consumer):
        assert rows(consumer, LOCK_NEXT["sqlserver"]) == ((1,),)
        assert rows(consumer, asked) == (("U",),)


def test_a_session_that_waits_for_a_transaction_is_shown_with_its_table(place: Place, plain: Layout) -> None:
    update = "UPDATE plain SET payload = 'x' WHERE id = 1"
    with place.opened(application="first") as first, place.opened(application="second") as second:
        with watching(place.url, [plain]) as watched, rolled_back(first):
            execute(first, update)
            waiting = threading.Thread(target=update_and_roll_back, args=(second, update), daemon=True)
            waiting.start()
            watched.poller.set_focus(ReadScope(blocking=True))
            view = watched.view(lambda v: v.server.blocking is not None and v.server.blocking.waiters == 1)
        waiting.join(120)
    assert view.server.blocking is not None
    waits = [line.session for line in view.server.blocking.places if line.session.blocker is not None]
    assert [each.application for each in waits] == ["second"]
    if place.sqlserver:  # PostgreSQL names only the transaction
        assert [(each.table_id,) for each in waits] == list(place.ask("SELECT CAST(OBJECT_ID(N'plain') AS bigint)"))


def update_and_roll_back(connection: Connection, text: str) -> None:
    """Wait for the lock, without changing the row."""
    with rolled_back(connection):
        execute(connection, text)
