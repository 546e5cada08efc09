"""The catalog is read again parallel to the polls. No poll waits for it; its results are used between two polls."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from qmon.engines.base import Connection, Session
from qmon.errors import NoConnectionLeft, QueryFailed
from qmon.monitor.background import catalog_reading
from qmon.monitor.catalog.catalog import Catalog
from qmon.monitor.catalog.resolve import Resolved, resolve_queues
from qmon.monitor.poll.poller import POLL, Poller
from tests.contract.anywhere import execute
from tests.contract.watching import ROOMY, Watched, installed
from tests.facts import query, wait_until
from tests.queues import ENGINE, target_of

WAITS_S = 60.0
NOT_NOW = "not now"


class Catalogue:
    """Reads the catalog and records the session used. From the second read on, it waits until ``free`` is set."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.began = threading.Event()
        self.fails = False
        self.sessions: list[int] = []

    def __call__(self, connection: Connection, before: Resolved) -> Resolved:
        self.sessions.append(connection.session_id)
        if len(self.sessions) > 1:
            self.began.set()
            assert self.free.wait(WAITS_S)
            if self.fails:
                raise QueryFailed(NOT_NOW)
        return resolve_queues(connection, ENGINE, (), before=before)


@contextmanager
def watching(url: str, read: Catalogue, *, most: int = 9) -> Iterator[Watched]:
    """Watch the database. ``most``: the number of connections the role may open."""
    open_now: list[str] = []

    def connect(session: Session) -> Connection:
        if len(open_now) >= most:
            raise NoConnectionLeft("the server has no connection left")
        open_now.append(session.purpose)
        return ENGINE.connect(target_of(url), session)

    watched = Watched(Poller("test", ENGINE, connect, read, interval_s=0.5, budget=ROOMY))
    watched.poller.start(watched)
    try:
        yield watched
    finally:
        read.free.set()
        watched.poller.close()


@pytest.fixture
def url(database: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(catalog_reading, "EVERY_S", 0.5)
    installed(database, "fifo")
    return database


def test_polls_go_on_while_it_is_read_and_know_what_it_found_afterwards(url: str) -> None:
    read = Catalogue()
    with watching(url, read) as watched:
        watched.view()
        assert read.began.wait(WAITS_S)
        installed(url, "status")
        query(url, "SELECT fifo_push('x')")
        watched.queue("fifo", lambda q: q.ready.value == 1, polls=4)
        assert watched.views[-1].queue("status") is None
        read.free.set()
        assert watched.queue("status", lambda q: q.ready.value == 0).failures == ()
        polling, *others = read.sessions
        assert polling not in others
        names = [str(name) for (name,) in query(url, OURS)]
        assert sorted(names) == ["qmon count", "qmon poll", "qmon waits"]


OURS = "SELECT application_name FROM pg_stat_activity WHERE datname = current_database() AND application_name ~ '^qmon'"


def test_what_was_read_before_a_poll_found_it_changed_is_left_out(url: str) -> None:
    """A table is dropped during a catalog read. The polls notice and read the catalog; their result is newer."""
    read = Catalogue()
    slow = catalog_reading.CatalogReading(read)
    connection, other = (ENGINE.connect(target_of(url), session) for session in (POLL, Session("count")))
    try:
        assert [layout.queue for layout in slow.read_now(connection).layouts] == ["fifo"]
        slow.request_reading()
        reading = threading.Thread(target=slow.read_if_requested, args=(other,))
        reading.start()
        assert read.began.wait(WAITS_S)
        read.free.set()
        query(url, "DROP TABLE fifo CASCADE")
        assert slow.read_now(connection).layouts == ()
        reading.join(WAITS_S)
        assert slow.take_result() is None
        slow.request_reading()
        slow.read_if_requested(connection)
        found = slow.take_result()
        assert found is not None
        assert [layout.queue for layout in found.lost] == ["fifo"]
        assert slow.rereads_soon
    finally:
        connection.close()
        other.close()


def test_with_one_connection_the_polls_read_it_themselves(url: str) -> None:
    read = Catalogue()
    read.free.set()
    with watching(url, read, most=1) as watched:
        watched.view(polls=2)
        installed(url, "status")
        watched.queue("status", lambda q: q.ready.value == 0)
        assert len(set(read.sessions)) == 1
        assert not [f for f in watched.views[-1].failures if f.probe == "catalog"]


def test_where_it_cannot_be_read_the_polls_go_on_and_say_so(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qmon.monitor.background.slow_tasks.RETRY_S", 0.5)
    read = Catalogue()
    read.fails = True
    read.free.set()
    with watching(url, read) as watched:
        view = watched.view(lambda v: any(f.probe == "catalog" for f in v.failures), polls=2)
        assert [f.reason for f in view.failures if f.probe == "catalog"] == [NOT_NOW]
        fifo = view.queue("fifo")
        assert fifo is not None
        assert fifo.ready.value == 0
        read.fails = False
        wait_until(lambda: not watched.views[-1].failures, what="it is read again")


def test_what_is_dropped_while_the_server_lists_it_is_not_there(url: str) -> None:
    """A statement lists tables as of its start. The server reports no rights for those dropped since."""
    connection = ENGINE.connect(target_of(url), POLL)
    catalog = Catalog(connection, ENGINE)
    try:
        query(url, "CREATE TABLE stays (id bigserial PRIMARY KEY)")
        with connection.transaction():
            execute(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            assert {table.table_name for table in catalog.read_tables()} == {"fifo", "stays"}
            query(url, "DROP TABLE fifo CASCADE")
            assert [table.table_name for table in catalog.read_tables()] == ["stays"]
            sequences = {sequence.sequence_name for sequence in catalog.read_sequences()}
            assert sequences & {"fifo_id_seq", "stays_id_seq"} == {"stays_id_seq"}
    finally:
        connection.close()
