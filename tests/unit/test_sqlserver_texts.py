"""What a poll sends to SQL Server: the same few texts from poll to poll, in few round trips, with no value in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyodbc

from qmon.engines.base import Bound, Statement
from qmon.engines.odbc import OdbcConnection
from qmon.engines.sqlserver import SqlServer
from qmon.engines.sqlserver_errors import running
from qmon.model.facts import TableFacts
from qmon.model.layout import Layout, StateColumn, TableName
from qmon.monitor.collector import Collector
from qmon.monitor.resolve import Resolved
from qmon.monitor.slow import Slow
from qmon.monitor.source import Focus
from tests.replayed import Cursor, Driver
from tests.unit.test_sqlserver_readings import steady

MOST = 2_000
SEEKS = ("ready", "head", "progress", "stuck")


class Counting(Driver):
    """Keeps what is sent."""

    def __init__(self) -> None:
        super().__init__(steady)
        self.sent: list[tuple[str, tuple[object, ...]]] = []
        self.sizes: list[Sequence[object] | None] = []

    def cursor(self) -> Cursor:
        return Sent(self)


class Sent(Cursor):
    """A cursor that tells its driver what it is given."""

    def setinputsizes(self, sizes: Sequence[object] | None) -> None:
        driver: Any = self._driver
        driver.sizes.append(sizes)

    def execute(self, text: str, values: Sequence[object] = ()) -> None:
        driver: Any = self._driver
        driver.sent.append((text, tuple(values)))
        super().execute(text, values)


def opened(driver: Counting) -> OdbcConnection:
    found = OdbcConnection(driver, lambda fault, name: running(fault, name, "me"), nul_allowed=True, most_values=MOST)
    found.introduce((16, 0), 61)
    return found


def layouts(count: int) -> list[Layout]:
    state = StateColumn("Status", 1, 2, None, 3)
    return [
        Layout(f"q{n}", "status", TableName("dbo", f"Q{n}"), id="Id", state=state, started_at="StartedAt")
        for n in range(count)
    ]


def facts(number: int) -> TableFacts:
    return TableFacts(
        100 + number, order_by="Id", order_by_number=True, head_seek=True, ready_seek=True, progress_seek=True,
        stuck_seek=True, dead_seek=True, indexes={seek: f"IX_{seek}" for seek in (*SEEKS, "dead")},
    )  # fmt: skip


def test_the_text_of_a_poll_recurs_and_holds_no_value() -> None:
    driver = Counting()
    at, now = opened(driver), [0.0]
    slow = Slow(SqlServer(), lambda session: at, lambda: now[0])
    collector = Collector("shop", SqlServer(), at, slow, lambda: now[0])
    known = layouts(12)
    collector.use(Resolved(tuple(known), {each.queue: facts(n) for n, each in enumerate(known)}))
    trips: list[int] = []
    for poll in range(140):
        now[0] += 2.0
        driver.poll += 1
        if poll == 40:  # until then probes are proven one by one, and the costs of each are learnt
            driver.sent.clear()
            trips.clear()
        before = len(driver.sent)
        collector.collect(poll, 2.0, Focus())
        trips.append(len(driver.sent) - before)
    texts = {text for text, _ in driver.sent}
    assert max(trips) <= 4
    assert len(texts) <= 12, f"{len(texts)} texts in 100 polls"
    assert {values for _, values in driver.sent}
    assert all(text.count("?") - text.count("'?") == len(values) for text, values in driver.sent)


def test_a_batch_is_sent_in_parts_that_the_server_takes() -> None:
    driver = Counting()
    text = "/* qmon probe/clock */\nSELECT ? + ? + ? AS now_at"
    bound = Bound(Statement("probe/clock", text, ("a", "b", "c"), ()), {"a": 1, "b": 2, "c": 3})
    assert len(opened(driver).fetch_batch([bound] * 1000)) == 1000
    assert [len(values) for _, values in driver.sent] == [1998, 1002]


def test_null_is_sent_with_a_type_so_that_the_driver_does_not_ask_for_it() -> None:
    driver = Counting()
    statement = Statement("probe/clock", "/* qmon probe/clock */\nSELECT ? + ? AS now_at", ("a", "b"), ())
    at = opened(driver)
    at.fetch(Bound(statement, {"a": None, "b": 7}))
    at.fetch(Bound(statement, {"a": 1, "b": 7}))
    assert driver.sizes == [[(pyodbc.SQL_VARCHAR, 1, 0), None], None]
