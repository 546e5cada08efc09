"""The lock table of SQL Server is expensive: it is read once for all queues, and in few polls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import AZURE, RESTRICTED, SqlServer
from qmon.model.formatting import count
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.probe_constants import LOCKS_S
from qmon.model.reasons import Reason
from qmon.model.view import View
from qmon.model.waits.meanings import wait_meaning
from qmon.monitor.catalog.resolve import Resolved
from qmon.monitor.poll.collector import Collector
from qmon.monitor.probes.queue_memo import COUNT_ROWS
from qmon.monitor.source import ReadScope
from qmon.monitor.state.target_history import TargetHistory
from tests.polled import Counting
from tests.replayed import Driver, Idle, Row, answering, connection, full
from tests.unit.sqlserver_queues import TABLE

QUEUES = [Layout(f"q{n}", "fifo", ObjectName("dbo", f"Q{n}"), id="Id") for n in range(12)]
MANY = [Layout(f"q{n}", "fifo", ObjectName("dbo", f"Q{n}"), id="Id") for n in range(100)]


def lock(queue: int, xid: str, place: str, *, taken: bool = True, locks: int = 1) -> dict[str, object]:
    of = {"table_id": 100 + queue, "index_id": 2, "name": "IX", "xid": xid, "taken": taken, "place": place}
    return of | {"locks": locks}


class Shop:
    """Queues that are polled two seconds apart."""

    def __init__(self, driver: Driver, queues: Sequence[Layout] = QUEUES) -> None:
        self.driver, self.now = driver, 0.0
        self.collector = Collector("shop", SqlServer(), connection(driver, (16, 0)), Idle(), lambda: self.now)
        facts = {layout.queue: replace(TABLE, table_id=100 + n) for n, layout in enumerate(queues)}
        self.collector.watch_queues(Resolved(tuple(queues), facts))
        self.history = TargetHistory()

    def poll(self, focus: ReadScope | None = None) -> View:
        self.now += 2.0
        self.driver.poll += 1
        return self.history.record_snapshot(self.collector.collect(self.driver.poll, 2.0, focus or ReadScope()))


def served(
    locks: Sequence[Mapping[str, object]],
    unseen: Sequence[Mapping[str, object]] = (),
    *,
    waiting: bool = False,
    ended: int = 99,
) -> Driver:
    """A server on which these rows are locked and heads move on.

    ``ended``: the poll in which no transaction is open.
    """
    return Driver(
        answering(
            {
                "probe/locks": lambda poll: tuple(locks),
                "probe/unseen": lambda poll: tuple(unseen),
                "probe/head": lambda poll: ({"head_id": str(100 + poll), "counted": 7},),
                "probe/writers": lambda poll: tuple(
                    {"xid": xid, "session": 60, "transaction_s": 1.0, "state": "active"}
                    for xid in ("7", "8")
                    if poll < ended
                ),
                "probe/waits": lambda poll: ({"kind": "Lock" if waiting else "IO", "event": "x", "sessions": 1},),
                "probe/server": lambda poll: (
                    {"now_at": 1.75e9 + 2 * poll, "started_at": 1.7e9, "stats_reset_at": None},
                ),
            }
        )
    )


def test_the_lock_table_is_read_once_for_all_queues_and_four_times_a_minute() -> None:
    driver = Counting()
    shop = Shop(driver)
    for _ in range(60):
        shop.poll()
    read = [each.text.count("sys.dm_tran_locks AS") for each in driver.sent]
    assert max(read) == 1
    assert 0 < driver.asked.count("probe/locks") <= 60 * 2 / 15 + 1


@pytest.mark.parametrize(
    ("focus", "waiting"), [(ReadScope(rows_of="q3"), False), (ReadScope(blocking=True), False), (ReadScope(), True)]
)
def test_it_is_read_in_every_poll_while_a_screen_shows_it_or_sessions_wait_for_locks(
    focus: ReadScope, waiting: bool
) -> None:
    driver = served([], waiting=waiting)
    shop = Shop(driver)
    for _ in range(6):
        shop.poll(focus)
    assert driver.asked.count("probe/locks") == 6


def test_what_is_locked_and_seen_was_added_and_what_is_locked_and_not_seen_was_taken() -> None:
    locks = [
        lock(0, "7", "(a)", locks=2),
        lock(0, "7", "(b)", locks=2),
        lock(0, "8", "(c)"),
        lock(0, "8", "(d)", taken=False),
        lock(3, "8", "(e)"),
        lock(3, "8", "(x)") | {"name": "another"},
    ]
    away = [{"place": place, "keys": 1} for place in ("(a)", "(c)")]
    driver = served(locks, away)
    view = Shop(driver).poll()
    samples = {q.layout.queue: q for q in view.queues}
    assert [samples[name].in_progress.value for name in ("q0", "q1", "q3")] == [3.0, 0.0, 0.0]
    assert driver.asked.count("probe/unseen") == 2, "only queues with rows taken or added are asked"


def test_where_a_pop_changes_two_keys_of_an_index_two_locks_are_one_row() -> None:
    locks = [lock(0, "7", place, locks=4) for place in ("(a)", "(b)", "(c)", "(d)")]
    driver = served(locks, [{"place": place, "keys": 2} for place in ("(a)", "(b)", "(c)", "(d)")])
    assert Shop(driver).poll().queues[0].in_progress.value == 2.0


def test_between_two_looks_the_figure_of_the_last_one_stays_and_says_how_old_it_is() -> None:
    shop = Shop(served([lock(0, "7", "(a)")], [{"place": "(a)", "keys": 1}]))
    views = [shop.poll() for _ in range(9)]
    shown = [view.queues[0].in_progress for view in views]
    assert [each.value for each in shown] == [1.0] * 9
    assert [each.age_s for each in shown] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 0.0]
    assert not any(each.old for each in shown)


def test_rows_of_a_transaction_that_has_ended_since_the_locks_were_read_count_no_more() -> None:
    shop = Shop(served([lock(0, "7", "(a)")], [{"place": "(a)", "keys": 1}], ended=4))
    assert [shop.poll().queues[0].in_progress.value for _ in range(5)] == [1.0, 1.0, 1.0, 0.0, 0.0]


def test_of_queues_that_are_read_in_turns_the_locks_are_known_though_they_are_not_read_in_each_turn() -> None:
    locks = [lock(n, "7", f"({n})") for n in range(100)]
    driver = served(locks, [{"place": f"({n})", "keys": 1} for n in range(100)])
    shop = Shop(driver, MANY)
    views = [shop.poll() for _ in range(16)]
    read = {q.layout.queue: q.in_progress for view in views for q in view.queues if q.read_at is None}
    assert len(read) == 100
    assert {figure.value for figure in read.values()} == {1.0}
    assert 0 < max(figure.age_s for figure in read.values()) <= LOCKS_S
    assert not any(figure.old for figure in read.values())
    assert driver.asked.count("probe/locks") == 2


def test_locks_that_could_not_be_read_are_no_rows_that_nobody_holds() -> None:
    driver = served([lock(0, "7", "(a)")], [{"place": "(a)", "keys": 1}])
    driver.refused = frozenset({"probe/locks"})
    assert Shop(driver).poll().queues[0].in_progress.value is None


def test_the_statements_of_few_sessions_are_read_in_a_poll_and_of_all_now_and_then() -> None:
    driver = Noting("probe/clients")
    shop = Shop(driver)
    for _ in range(10):
        shop.poll()
    assert driver.noted == [500, 50, 50, 50, 50, 500, 50, 50, 50, 50]


def test_of_those_that_wait_for_locks_statements_are_read_while_a_screen_shows_them() -> None:
    driver = Noting("probe/blocking", served([], waiting=True).row)
    shop = Shop(driver)
    for shown in (False, True, False):
        shop.poll(ReadScope(blocking=shown))
    assert driver.noted == [0, 1, 0]
    text = queries.load_query("sqlserver", "probe/blocking", (16, 0)).text
    assert "WHEN f.blocker IS NULL OR CAST(:waiters AS bit) = 1 THEN" in text, "the heads of chains have theirs"


class Noting(Driver):
    """Keeps the last times passed to each probe."""

    def __init__(self, probe: str, row: Row = full) -> None:
        super().__init__(row)
        self.probe = probe
        self.noted: list[object] = []

    def answer(self, text: str) -> tuple[tuple[str, ...], Sequence[tuple[object, ...]]]:
        if text.startswith(f"/* qmon {self.probe} */"):
            self.noted.append(self.values[-1])
        return super().answer(text)


OPTIMIZED = {"table_id": 0, "index_id": 0, "name": None, "xid": "", "taken": False, "place": "", "locks": 0}


def old_writers(driver: Driver) -> Driver:
    """The same server, with transactions older than the queues' timeout."""
    answered = driver.row

    def row(name: str, columns: Any, poll: int) -> Any:
        found = answered(name, columns, poll)
        at = [column for column, _ in columns].index("transaction_s") if name == "probe/writers" else None
        return found if at is None else [(*each[:at], 3600.0, *each[at + 1 :]) for each in found]

    driver.row = row
    return driver


def test_with_optimized_locking_what_is_held_is_a_lower_bound_with_that_reason() -> None:
    shop = Shop(old_writers(served([OPTIMIZED, lock(0, "7", "(a)")], [{"place": "(a)", "keys": 1}])))
    shop.poll()
    view = shop.poll()
    for name, rows in (("q0", 1.0), ("q1", 0.0)):
        queue = view.queue(name)
        assert queue is not None
        for figure in (queue.in_progress, queue.stuck):
            assert (figure.value, figure.at_least, figure.reason) == (rows, True, Reason.ROWS_HIDDEN)
    idle = view.queue("q1")
    assert idle is not None
    assert idle.verdict.code == "cannot tell"
    assert Reason.ROWS_HIDDEN in idle.verdict.proof


def test_without_an_old_transaction_nothing_is_stuck_with_optimized_locking_either() -> None:
    view = Shop(served([OPTIMIZED])).poll()
    queue = view.queue("q1")
    assert queue is not None
    assert (queue.stuck.value, queue.stuck.at_least) == (0.0, False)
    assert (queue.in_progress.value, queue.in_progress.at_least) == (0.0, True)


def test_the_pops_of_an_installed_design_keep_their_locks() -> None:
    installed = [replace(layout, routines=(("pop", ObjectName("dbo", "pop")),)) for layout in QUEUES]
    view = Shop(old_writers(served([OPTIMIZED])), installed).poll()
    queue = view.queue("q1")
    assert queue is not None
    assert (queue.stuck.value, queue.stuck.at_least) == (0.0, False)
    assert (queue.in_progress.value, queue.in_progress.at_least) == (0.0, False)


def test_a_wait_for_a_transaction_names_its_table_and_gets_advice_of_its_own() -> None:
    for version in ((16, 0), (AZURE, 0), (RESTRICTED, 0)):
        text = queries.load_query("sqlserver", "probe/blocking", version).text
        assert "CHARINDEX(N'hobtid=', t.resource_description)" in text
        assert "IN (N'KEY', N'RID', N'PAGE', N'HOBT', N'XACT')" in text
    for name in ("deadlock_graphs", "deadlock_reports"):
        for version in ((16, 0), (AZURE, 0)):
            text = queries.load_query("sqlserver", f"probe/{name}", version).text
            assert "(UnderlyingResource/*/@objectname)[1]" in text
            assert "(UnderlyingResource/*/@hobtid)[1]" in text
            assert text.index("COALESCE(n.object_id, OBJECT_ID(") < text.index("FROM sys.partitions")
            # The database may be named by the lock on the transaction, or only by the resource below it.
            assert ("@dbid" in text) == ("(UnderlyingResource/*/@dbid)[1]" in text)
            assert ("@dbid" in text) == (version != (AZURE, 0) or name == "deadlock_reports")
    reports = queries.load_query("sqlserver", "probe/blocked_reports", (16, 0)).text
    assert "CHARINDEX(N' KEY: ', v.resource)" in reports
    assert "COALESCE(NULLIF(r.object_id, 0), p.object_id)" in reports
    for event in ("LCK_M_S_XACT", "LCK_M_S_XACT_READ", "LCK_M_S_XACT_MODIFY"):
        found = wait_meaning("Lock", event)
        assert found is not None
        assert "READPAST" not in f"{found.cause} {found.fix}"


@pytest.mark.parametrize(("deep", "limits"), [(True, {1}), (False, {COUNT_ROWS})])
def test_a_deep_queue_is_counted_up_to_the_limit_where_nothing_else_counts_it(deep: bool, limits: set[int]) -> None:
    there, asked = 2_400, list[int]()

    def head(_: int) -> tuple[Mapping[str, object], ...]:
        limit = next(value for value in driver.values if type(value) is int)
        asked.append(limit)
        return ({"head_id": "7", "counted": min(there, limit)},)

    def depth(_: int) -> tuple[Mapping[str, object], ...]:
        return ({"ready": there},) if deep else ()

    driver = Driver(answering({"probe/head": head, "probe/depth": depth, "probe/table_counters": lambda _: ()}))
    shop = Shop(driver, QUEUES[:1])
    shown = []
    for _ in range(12):
        queue = shop.poll().queue("q0")
        assert queue is not None
        shown.append(queue.ready.text(count))
    assert set(asked[2:]) - {COUNT_ROWS} == limits - {COUNT_ROWS}
    assert set(shown) == ({"~2,400"} if deep else {"≥1,001"})
