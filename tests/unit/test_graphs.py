"""Deadlock reports: read outside the poll after the count rises, from the newest file, and each reported once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

import pytest

from qmon.engines.base import Connection, Session
from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.sqlserver.sqlserver_engine import AZURE, SqlServer
from qmon.errors import QueryFailed
from qmon.model.samples.deadlock_samples import Circle, ReportSample
from qmon.monitor.background.slow_reads import SlowReads
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.collector import Collector
from qmon.monitor.probes.deadlock_reports import DeadlockReports
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.source import ReadScope
from tests.replayed import Driver, connection, full, said
from tests.tsql_types import Type
from tests.unit.sqlserver_queues import FIFO, TABLE

PLACE = "/var/opt/mssql/log/system_health_0_1.xel"
PAIR: Mapping[str, object] = {
    "at": 1000.5,
    "session": 61,
    "blocker": 62,
    "table_id": 7,
    "application": "shop-api",
    "statement": "EXEC push @pwd = 'geheim'",
    "here": True,
    "file": PLACE,
    "offset": 4096,
}
BACK = {**PAIR, "session": 62, "blocker": 61, "statement": "EXEC pop"}
ELSEWHERE = {**PAIR, "at": 1000.7, "table_id": None, "application": "", "statement": "", "here": False, "offset": 8192}
Row = Mapping[str, object]


class Server:
    """Answers with one file's name, its reports, and the session's reports in memory."""

    def __init__(self) -> None:
        self.path: str | None = PLACE
        self.reports: list[Row] = [PAIR, BACK]
        self.memory: list[Row] = []
        # Blocks that were read before no longer exist.
        self.cleaned = False
        self.driver = Driver(self.rows)
        # Path, file and block of each reading.
        self.asked: list[tuple[object, ...]] = []

    def rows(self, name: str, columns: tuple[tuple[str, Type], ...], poll: int) -> Sequence[tuple[object, ...]]:
        if name == "probe/deadlock_file":
            return [] if self.path is None else [(self.path,)]
        if name in ("probe/deadlock_reports", "probe/deadlock_graphs"):
            files = name == "probe/deadlock_reports"
            if files:
                self.asked.append(self.driver.values[-3:])
                if self.cleaned and self.asked[-1][1]:
                    raise said("42000", "The offset 4096 is invalid for log file (25722)")
            assert not files or [column for column, _ in columns] == [each.name for each in fields(ReportSample)]
            return [tuple(row[column] for column, _ in columns) for row in (self.reports if files else self.memory)]
        return full(name, columns, poll)


def at_server(version: int = 16) -> tuple[Server, Connection, StatementCache]:
    server = Server()
    at = connection(server.driver, (version, 0))
    return server, at, StatementCache(SqlServer(), at.version)


def risen() -> DeadlockReports:
    """The count has risen after the first poll, at 1,000 by the server's clock."""
    graphs = DeadlockReports(SqlServer())
    graphs.record_count(3, 0.0, 1000.0)
    graphs.record_count(4, 1.0, 1001.0)
    return graphs


def sessions(circles: Sequence[Circle]) -> list[list[int]]:
    return [[member.session for member in circle.members] for circle in circles]


def test_nothing_is_asked_while_the_count_stands_still() -> None:
    graphs = DeadlockReports(SqlServer())
    for poll in range(5):
        assert graphs.record_count(3, float(poll), 1000.0 + poll) == ()
        assert not graphs.may_have_unread(float(poll))
    assert graphs.record_count(None, 5.0, 1005.0) == ()
    assert not graphs.may_have_unread(6.0)


def test_a_report_is_wanted_until_it_has_had_time_and_been_looked_for() -> None:
    _, at, statements = at_server()
    graphs = risen()
    assert graphs.may_have_unread(2.0)
    assert graphs.may_have_unread(200.0), "the reports were not read yet"
    graphs.read_new_reports(at, statements)
    assert graphs.may_have_unread(100.0), "another may still come"
    assert not graphs.may_have_unread(200.0)


def test_a_report_is_read_from_the_file_and_given_once() -> None:
    server, at, statements = at_server()
    graphs = risen()
    graphs.read_new_reports(at, statements)
    assert server.driver.asked == ["probe/deadlock_file", "probe/deadlock_reports"]
    found = graphs.record_count(4, 2.0, 1002.0)
    assert sessions(found) == [[61, 62]]
    assert "geheim" not in found[0].members[0].statement
    graphs.read_new_reports(at, statements)
    assert graphs.record_count(4, 3.0, 1003.0) == ()


def test_a_file_is_read_on_after_the_newest_report_and_a_new_one_from_its_start() -> None:
    server, at, statements = at_server()
    graphs = risen()
    server.reports = [PAIR, BACK, ELSEWHERE]
    graphs.read_new_reports(at, statements)
    assert sessions(graphs.record_count(4, 2.0, 1002.0)) == [[61, 62]], "deadlocks of other databases are not reported"
    graphs.read_new_reports(at, statements)
    server.path = PLACE.replace("_1.", "_2.")
    graphs.read_new_reports(at, statements)
    start = ("", -1)
    assert [asked[1:] for asked in server.asked] == [start, (PLACE, 8192), start]
    assert [asked[0] for asked in server.asked] == [PLACE, PLACE, server.path]


def test_a_place_that_the_server_does_not_know_any_more_is_forgotten() -> None:
    server, at, statements = at_server()
    graphs = risen()
    graphs.read_new_reports(at, statements)
    server.cleaned = True
    graphs.read_new_reports(at, statements)
    assert [asked[1:] for asked in server.asked] == [("", -1), (PLACE, 4096), ("", -1)]


@pytest.mark.parametrize("why", ["no file", "not allowed", "unreadable"])
def test_where_no_file_can_be_read_the_memory_of_the_session_is(why: str) -> None:
    server, at, statements = at_server()
    graphs = risen()
    server.memory = [PAIR, BACK]
    if why == "no file":
        server.path = None
    elif why == "not allowed":
        server.driver.refused = frozenset({"probe/deadlock_reports"})
    else:
        server.driver.broken = {"probe/deadlock_reports": said("42000", "A valid URL is required (40538)")}
    graphs.read_new_reports(at, statements)
    assert server.driver.asked[-1] == "probe/deadlock_graphs"
    assert sessions(graphs.record_count(4, 2.0, 1002.0)) == [[61, 62]]


def test_where_nothing_can_be_read_it_is_said() -> None:
    server, at, statements = at_server()
    server.path = None
    server.driver.refused = frozenset({"probe/deadlock_graphs"})
    with pytest.raises(QueryFailed, match="denied"):
        risen().read_new_reports(at, statements)


def test_what_was_reported_before_the_first_poll_is_not_said() -> None:
    server, at, statements = at_server()
    graphs = risen()
    server.reports = [{**PAIR, "at": 999.0}, {**BACK, "at": 999.0}]
    graphs.read_new_reports(at, statements)
    assert graphs.record_count(4, 2.0, 1002.0) == ()


def test_azure_names_the_file_of_a_session_of_the_database() -> None:
    server, at, statements = at_server(AZURE)
    graphs = risen()
    graphs.read_new_reports(at, statements)
    assert server.driver.asked == ["probe/deadlock_file", "probe/deadlock_reports"]
    assert "dm_xe_database_session_targets" in statements.statement_for("deadlock_file").bound.statement.text


def test_a_server_without_such_reports_has_none() -> None:
    assert not DeadlockReports(Postgres()).is_supported


def test_reports_are_read_beside_the_poll_and_reach_the_next_one() -> None:
    polled, beside = Server(), Server()
    now = [0.0]

    def connect(session: Session) -> Connection:
        assert session.purpose == "count"
        return connection(beside.driver, (16, 0))

    slow = SlowReads(SqlServer(), connect, lambda: now[0])
    collector = Collector("shop", SqlServer(), connection(polled.driver, (16, 0)), slow, lambda: now[0])
    slow.watch_queues(collector.watch_queues(Resolved((FIFO,), {FIFO.queue: TABLE})))
    beside.reports = [{**PAIR, "at": 1.75e9 + 3.0}, {**BACK, "at": 1.75e9 + 3.0}]
    found: list[Circle] = []
    for poll in range(1, 12):
        now[0] += 2.0
        polled.driver.poll = poll
        found += collector.collect(poll, 2.0, ReadScope()).circles
        while slow._run_next_task() == 0.0:
            pass
    assert sessions(found) == [[61, 62]]
    assert not [name for name in polled.driver.asked if "deadlock" in name]
    assert [name for name in beside.driver.asked if "deadlock" in name][:2] == [
        "probe/deadlock_file",
        "probe/deadlock_reports",
    ]
