"""A cold or locked catalog: reading it may take time, is reported, and is tried again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pyodbc
import pytest

from qmon.engines.base import Bound, Connection, Session, Statement
from qmon.engines.registry import engine_for
from qmon.errors import ConnectionFailed
from qmon.monitor.catalog.resolve import NO_QUEUES, Resolved
from qmon.monitor.one_shot import OneShotText, view_over
from qmon.monitor.poll.poller import READING, Poller, PollerText
from qmon.monitor.source import Event, Phase, SourceState
from tests.cli.calling import program, surroundings
from tests.contract.watching import installed, target_of
from tests.facts import connected, wait_until
from tests.wordings import has

LIMIT = Bound(Statement("probe/limit", "SELECT current_setting('statement_timeout') AS said", (), ("said",)))
SLOW = Bound(Statement("catalog/slow", "SELECT CAST(pg_sleep(2.5) AS text) AS said", (), ("said",)))


def test_a_statement_of_the_first_look_may_take_longer_than_one_of_a_poll_and_that_is_said(database: str) -> None:
    target, opened = target_of(database), list[Connection]()
    states: list[SourceState] = []
    limits: list[object] = []

    def connect(session: Session) -> Connection:
        connection = engine_for(target).connect(target, session)
        if session.purpose == "poll":
            opened.append(connection)
        return connection

    def resolve(connection: Connection, _: Resolved) -> Resolved:
        limits.append(connection.fetch(LIMIT).rows[0][0])
        connection.fetch(SLOW)
        return NO_QUEUES

    def sink(event: Event) -> None:
        if isinstance(event, SourceState):
            states.append(event)
        elif len(limits) == 1:
            limits.append(opened[0].fetch(LIMIT).rows[0][0])

    poller = Poller(target.name, engine_for(target), connect, resolve, interval_s=0.5)
    poller.start(sink)
    try:
        wait_until(lambda: len(limits) == 2, what="the first poll")
    finally:
        poller.close()
    assert limits == ["30s", "1s"]
    assert [(state.phase, state.reason) for state in states[:3]] == [
        (Phase.CONNECTING, ""),
        (Phase.CONNECTING, READING),
        (Phase.LIVE, ""),
    ]
    assert [state.catalog for state in states[:3]] == [False, True, False]
    assert has(READING, PollerText.READING_CATALOG)


@pytest.fixture
def holder(database: str) -> Iterator[pyodbc.Connection]:
    """Hold a lock on a catalog table, for which readers wait."""
    installed(database, "fifo")
    with connected(database, autocommit=False) as session:
        session.execute("LOCK TABLE pg_catalog.pg_depend IN ACCESS EXCLUSIVE MODE")
        yield session


def test_a_look_tries_once_more_and_says_so(database: str, holder: pyodbc.Connection) -> None:
    told: list[str] = []

    def tell(what: str) -> None:
        told.append(what)
        holder.rollback()

    view = view_over(target_of(database), over_s=0.5, report=tell)
    assert [queue.name for queue in view.queues] == ["fifo"]
    assert len(told) == 1
    assert told[0].startswith("catalog/trust: ")
    assert has(told[0], OneShotText.TRYING_AGAIN)


def test_a_look_gives_up_after_the_second_try_with_the_reason(database: str, holder: pyodbc.Connection) -> None:
    told: list[str] = []
    with pytest.raises(ConnectionFailed, match="catalog/trust"):
        view_over(target_of(database), over_s=0.5, report=told.append)
    assert len(told) == 1


def test_status_prints_what_it_waits_for_beside_the_figures(database: str, holder: pyodbc.Connection) -> None:
    running = subprocess.Popen(
        program("status", database, "-o", "json", "--over", "500ms"),
        env=surroundings(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr is not None
    said = running.stderr.readline()
    holder.rollback()
    out, _ = running.communicate(timeout=120)
    assert said.startswith("qmon: catalog/trust: ")
    assert has(said, OneShotText.TRYING_AGAIN)
    assert running.returncode == 0
    assert [queue["name"] for queue in json.loads(out)["queues"]] == ["fifo"]
