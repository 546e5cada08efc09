"""The result of a poll whose probes fail one by one, run out of time, or cost the connection (SQL Server's side)."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from qmon.engines.base import Connection, Session
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.engines.sqlserver.sqlserver_errors import SqlServerErrorText
from qmon.errors import ConnectionFailed, ConnectionLost, StatementCancelled
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.reasons import Reason
from qmon.model.view import View
from qmon.monitor.catalog.access_paths import table_facts
from qmon.monitor.catalog.catalog import Catalog, SequenceRows, TableRow
from qmon.monitor.catalog.resolve import NO_QUEUES, Resolved
from qmon.monitor.poll import runner as run
from qmon.monitor.poll.collector import Collector
from qmon.monitor.poll.poller import Poller, PollerText
from qmon.monitor.poll.quarantine import InFlightProbe, ProbeQuarantine
from qmon.monitor.poll.runner import Runner
from qmon.monitor.probes.probe_statements import ProbeStatement, StatementCache
from qmon.monitor.source import Event, Phase, ReadScope, SourceState
from qmon.monitor.state.target_history import TargetHistory
from tests.replayed import Driver, Idle, connection, full, said
from tests.tsql_types import Type
from tests.unit.sqlserver_queues import FACTS, LAYOUTS
from tests.wordings import has, pattern

VERSION = (16, 0)
# The number that a server with SQL Server's protocol gives most of its errors, including lock timeouts.
ODD = 33557097


def jobs() -> list[ProbeStatement]:
    statements = StatementCache(SqlServer(), VERSION)
    return [statements.statement_for(probe) for probe in ("server", "cost", "pauses_known", "clock")]


def answered(runner: Runner) -> set[str]:
    results, _ = runner.run_statements(jobs())
    return {probe for _, probe in results}


def test_a_view_that_the_server_has_not_is_one_line_and_leaves_the_others_alone() -> None:
    driver = Driver()
    driver.broken["probe/cost"] = said("42000", f'relation "sys.dm_exec_sessions" does not exist ({ODD})')
    runner, trips = Runner(connection(driver, VERSION)), []
    for _ in range(40):
        results, (failure,) = runner.run_statements(jobs())
        assert {probe for _, probe in results} == {"server", "pauses_known", "clock"}
        assert (failure.probe, failure.reason) == (
            "cost",
            SqlServerErrorText.NO_OBJECT.render(query="probe/cost", object="sys.dm_exec_sessions"),
        )
        trips.append(runner.trips)
    assert [poll for poll, count in enumerate(trips) if count > 1] == [0, 15, 30]
    assert (trips[0], trips[15]) == (5, 2)  # all, half of them, two alone, the rest


def test_the_later_statements_of_a_poll_do_not_shorten_the_rest_of_one_that_failed() -> None:
    driver = Driver()
    driver.broken["probe/cost"] = said("42000", f'relation "sys.dm_exec_sessions" does not exist ({ODD})')
    runner, tried = Runner(connection(driver, VERSION)), []
    for poll in range(32):
        runner.run_statements(jobs())
        tried += [poll] if runner.trips > 1 else []
        for _ in range(2):
            runner.run_statements(jobs()[-1:], later=True)
    assert tried == [0, 15, 30]


def test_one_that_fails_later_is_found_where_the_server_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver()
    runner = Runner(connection(driver, VERSION))
    assert len(answered(runner)) == 4
    monkeypatch.setattr(run, "UNPROVEN_S", -1.0)  # slow enough for a poll to have time for one probe only
    driver.broken["probe/pauses_known"] = said(
        "42000", "The user does not have permission to perform this action. (297)"
    )
    assert [answered(runner) for _ in range(9)][-1] == {"server", "cost", "clock"}


def test_a_value_that_no_row_had_before_fails_its_own_probe_alone() -> None:
    nulls = False

    def row(name: str, columns: tuple[tuple[str, Type], ...], poll: int) -> list[tuple[object, ...]]:
        (found,) = full(name, columns, poll)
        return [tuple(None for _ in found) if nulls and name == "probe/pauses_known" else found]

    runner = Runner(connection(Driver(row), VERSION))
    assert len(answered(runner)) == 4
    nulls = True
    results, (failure,) = runner.run_statements(jobs())
    assert {probe for _, probe in results} == {"server", "cost", "clock"}
    assert failure.probe == "pauses_known"
    assert runner.one_trip


def lost_over(quarantine: ProbeQuarantine, state: str, probe: str = "probe/cost") -> Runner:
    """Poll a connection on which this probe ends like this, until it is lost or the probe is no longer sent."""
    driver = Driver()
    driver.broken[probe] = said(
        state, "TCP Provider: Error code 0x68 (104)" if state == "08S01" else "Query timeout (0)"
    )
    runner = Runner(connection(driver, VERSION), InFlightProbe(quarantine))
    runner.run_statements(jobs())
    return runner


def test_a_probe_that_costs_each_connection_is_left_out() -> None:
    quarantine = ProbeQuarantine()
    for _ in range(3):  # after the first they are sent one by one
        with pytest.raises(ConnectionLost):
            lost_over(quarantine, "08S01")
    results, (failure,) = lost_over(quarantine, "08S01").run_statements(jobs())
    assert {probe for _, probe in results} == {"server", "pauses_known", "clock"}
    assert failure.reason == Reason.CONNECTION_LOST


def test_it_is_left_out_for_longer_each_time_and_forgiven_when_it_works() -> None:
    quarantine, key = ProbeQuarantine(), ("", "cost")
    rests = []
    for _ in range(7):
        quarantine.record_loss(key)
        rests.append(quarantine.rest_polls(key))
    assert rests == [0, 4, 16, 64, 256, 256, 256]
    runner = Runner(connection(Driver(), VERSION), InFlightProbe(quarantine))
    for poll in range(258):
        assert ("cost" in answered(runner)) == (poll >= 256)
    assert quarantine.rest_polls(key) == 0


def test_where_a_deadline_breaks_the_connection_the_probe_that_was_late_is_meant() -> None:
    quarantine = ProbeQuarantine()
    for _ in range(2):
        driver = Driver()
        runner = Runner(connection(driver, VERSION), InFlightProbe(quarantine))
        driver.broken["probe/cost"] = said("HYT00", "Query timeout expired (0)")
        runner.run_statements(jobs())
        driver.broken = {"probe/server": said("08S01", "the connection is broken (0)")}
        with pytest.raises(ConnectionLost):
            runner.run_statements(jobs())
    assert quarantine.rest_polls(("", "cost")) == 4
    assert quarantine.rest_polls(("", "server")) == 0


def test_a_server_that_goes_away_once_costs_no_probe() -> None:
    quarantine = ProbeQuarantine()
    with pytest.raises(ConnectionLost):
        lost_over(quarantine, "08S01")
    assert quarantine.rest_polls(("", "cost")) == 0


def test_without_the_server_itself_there_is_no_poll_so_it_is_always_asked() -> None:
    quarantine = ProbeQuarantine()
    for _ in range(5):
        with pytest.raises(ConnectionLost):
            lost_over(quarantine, "08S01", "probe/server")


def many(count: int) -> list[ProbeStatement]:
    """Return this number of statements that differ in their queue."""
    server, _, known, clock = jobs()
    return [server, *(replace(known, queue=f"q{n}") for n in range(count)), clock]


def test_one_that_fails_among_a_thousand_is_found_in_a_few_round_trips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "UNPROVEN_S", float("inf"))
    driver = Driver()
    runner, statements = Runner(connection(driver, VERSION)), many(1000)
    trips = []
    for _ in range(2):
        assert len(runner.run_statements(statements)[0]) == 1002
        trips.append(runner.trips)
    assert trips == [5, 1]
    driver.broken["probe/cost"] = said("42000", f'relation "sys.dm_exec_sessions" does not exist ({ODD})')
    bad = replace(jobs()[1], queue="bad")
    for place in (1, 500, 1001):
        runner = Runner(connection(driver, VERSION))
        results, (failure,) = runner.run_statements([*statements[:place], bad, *statements[place:]])
        assert (len(results), failure.queue) == (1002, "bad")
        assert runner.trips <= 30


def test_where_many_fail_each_poll_finds_some_within_its_round_trips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "UNPROVEN_S", float("inf"))
    driver = Driver()
    driver.broken["probe/cost"] = said("42000", f'relation "sys.dm_exec_sessions" does not exist ({ODD})')
    bad = [replace(jobs()[1], queue=f"bad{n}") for n in range(100)]
    runner, statements = Runner(connection(driver, VERSION)), many(400)
    for place, each in enumerate(bad):
        statements.insert(4 * place + 2, each)
    found = 0
    for _ in range(20):
        results, failures = runner.run_statements(statements)
        found = len(failures)
        assert runner.trips <= run.MOST_TRIPS
        assert ("", "server") in results
    assert found == 100
    assert len(runner.run_statements(statements)[0]) == 402


class Tables(Driver):
    """A server with one table of two columns, which accepts no list of tables and reports no sizes.

    ``ordered``: no partitions divide its index by another column.
    """

    ordered = True

    def answer(self, text: str) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
        columns, _ = super().answer(text)
        rows: dict[str, list[tuple[object, ...]]] = {
            "catalog/tables_plain": [(7, "dbo", "Orders", True, True, None, 0)],
            "catalog/columns_plain": [(7, "Id", "bigint", True, None, None, None, True)],
            "catalog/indexes_plain": [(7, "PK", True, True, False, self.ordered, 1, "Id", None)],
        }
        return columns, rows.get(self.asked[-1], [])


def test_a_server_that_cannot_run_the_full_catalogue_is_asked_in_plain_words() -> None:
    driver = Tables()
    for name in ("tables", "columns", "indexes", "values", "references", "activity"):
        driver.broken[f"catalog/{name}"] = said("42000", f'schema "l_list" does not exist ({ODD})')
    catalog = Catalog(connection(driver, VERSION), SqlServer())
    (table,) = catalog.read_tables()
    details = catalog.read_details([table])[table.table_id]
    assert [column.column_name for column in details.columns] == ["Id"]
    assert details.primary is not None
    assert details.primary.keys == ("Id",)


@pytest.mark.parametrize("ordered", [True, False])
def test_an_index_that_partitions_divide_by_another_column_leads_to_no_head(ordered: bool) -> None:
    driver = Tables()
    driver.ordered = ordered
    for name in ("tables", "columns", "indexes", "values", "references", "activity"):
        driver.broken[f"catalog/{name}"] = said("42000", f'schema "l_list" does not exist ({ODD})')
    catalog = Catalog(connection(driver, VERSION), SqlServer())
    (table,) = catalog.read_tables()
    details = catalog.read_details([table])[table.table_id]
    assert details.primary is not None, "rows are still known by their key"
    facts = table_facts(Layout("q", "fifo", ObjectName("dbo", "Orders"), id="Id"), details, None, SequenceRows())
    assert ("head" in facts.indexes, "ready" in facts.slow) == (ordered, not ordered)
    assert ("ready" in facts.lists) == ordered


def test_what_may_pass_by_itself_is_no_reason_to_ask_less() -> None:
    driver = Tables()
    driver.broken["catalog/columns"] = said("HYT00", "Query timeout expired (0)")
    catalog = Catalog(connection(driver, VERSION), SqlServer())
    with pytest.raises(Exception, match=pattern(SqlServerErrorText.DEADLINE)):
        catalog.read_columns([TableRow(7, "dbo", "Orders", True, True, None, 0)])
    assert "catalog/columns_plain" not in driver.asked


def polled(driver: Driver, polls: int) -> list[View]:
    """Poll and fold the queue ``fifo`` as the dashboard does."""
    collector = Collector("shop", SqlServer(), connection(driver, VERSION), Idle())
    collector.watch_queues(Resolved(tuple(one for one in LAYOUTS if one.queue == "fifo"), FACTS))
    history, views = TargetHistory(), []
    for poll in range(1, polls + 1):
        driver.poll = poll
        views.append(history.record_snapshot(collector.collect(poll, 1.0, ReadScope())))
    return views


def test_where_nothing_is_counted_the_reason_stands_in_place_of_the_rates() -> None:
    driver = Driver()
    driver.broken["probe/table_counters"] = said(
        "42000", f"function sys.dm_db_index_operational_stats(int) does not exist ({ODD})"
    )
    queue = polled(driver, 3)[0].queue("fifo")
    assert queue is not None
    assert queue.push_rate.reason == SqlServerErrorText.NO_OBJECT.render(
        query="probe/table_counters", object="sys.dm_db_index_operational_stats"
    )
    assert has(queue.verdict.proof, SqlServerErrorText.NO_OBJECT, object="sys.dm_db_index_operational_stats")
    assert queue.ready.value is not None


def test_a_server_that_counts_no_row_where_there_are_some_is_not_believed() -> None:
    def row(name: str, columns: tuple[tuple[str, Type], ...], poll: int) -> list[tuple[object, ...]]:
        (found,) = full(name, columns, poll)
        return [
            tuple(0 if name == "probe/depth" and c == "ready" else v for (c, _), v in zip(columns, found, strict=True))
        ]

    driver = Driver(row)
    views = polled(driver, 6)
    assert driver.asked.count("probe/depth") == 3
    queue = views[-1].queue("fifo")
    assert queue is not None
    assert queue.ready.value


class Noted(Poller):
    """A poller that remembers its time limits, in seconds."""

    allowed: list[float]

    @property
    def turn(self) -> Any:
        """The worker's time at the target."""
        return self._attempt

    def _mark_busy(self, attempt: Any, allowed_s: float) -> float:
        self.allowed = [*getattr(self, "allowed", []), allowed_s]
        return super()._mark_busy(attempt, allowed_s)


def test_the_first_look_over_a_connection_has_half_a_minute_and_its_statements_too() -> None:
    lost: list[str] = []
    driver, timeouts = Driver(), list[int]()

    def resolve(_: Connection, __: Resolved) -> Resolved:
        timeouts.append(driver.timeout)
        if len(lost) == 2:
            return NO_QUEUES
        poller.turn.late = True  # as the watchdog sets it
        raise StatementCancelled("catalog/columns: cancelled")

    def connect(session: Session) -> Connection:
        if session.purpose != "poll":
            raise ConnectionFailed("beside the poll nothing is read here")
        assert session.statement_timeout_s is not None
        driver.timeout = round(session.statement_timeout_s)  # as the engine does
        return connection(driver, VERSION)

    def sink(event: Event) -> None:
        if isinstance(event, SourceState):
            if event.phase is Phase.LOST:
                assert event.catalog
                lost.append(event.reason)
                poller.poll_now()
            assert event.phase is not Phase.LIVE or not event.catalog
            return
        timeouts.append(driver.timeout)
        polled.set()

    polled = threading.Event()
    poller = Noted("shop", SqlServer(), connect, resolve, interval_s=2.0)
    poller.start(sink)
    try:
        assert polled.wait(20)
    finally:
        poller.close()
    assert timeouts[:4] == [30, 30, 30, 2]
    assert [each for each in poller.allowed if each > 10] == [32.0] * 3
    assert lost == [PollerText.TOOK_LONGER.render(problem="catalog/columns: cancelled", time="32 s")] * 2
