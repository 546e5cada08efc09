"""Values sent through the driver to SQL Server, and its results: typed rows, counts, errors by number, timeouts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

import pyodbc
import pytest

from qmon.engines import odbc
from qmon.engines.base import Bound, Connection, Session, Statement, Target
from qmon.engines.bounded_calls import BoundedCalls
from qmon.engines.driver_faults import read_fault
from qmon.engines.sqlserver import sqlserver_errors as errors
from qmon.engines.sqlserver.sqlserver_engine import SqlServer, SqlServerText
from qmon.engines.sqlserver.sqlserver_errors import SqlServerErrorText
from qmon.errors import BadInput, QueryFailed
from qmon.model.operation_records import Progress
from qmon.operate.row_set import Mark, pack_rows
from qmon.operate.run.batches import Batches
from qmon.operate.run.running_operation import RunningOperation, Tally
from tests.unit.raw_driver import Raw, Result
from tests.wordings import pattern

T = TypeVar("T")


def opened(raw: Raw) -> odbc.OdbcConnection:
    return odbc.OdbcConnection(
        cast(pyodbc.Connection, raw), lambda fault, name: errors.statement_error(fault, name, "me"), nul_allowed=True
    )


def failure(sqlstate: str, words: str, number: int) -> QueryFailed:
    driver = "[Microsoft][ODBC Driver 18 for SQL Server][SQL Server]"
    problem = errors.statement_error(
        read_fault((sqlstate, f"[{sqlstate}] {driver}{words} ({number})")), "action/x", "me"
    )
    assert isinstance(problem, QueryFailed)
    return problem


def test_the_cursor_has_the_time_out_of_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = Raw((("version", "session_id", "login", "standby"), -1, [("16.0.4135.4", 61, "me", False)]))
    monkeypatch.setattr(odbc, "connect", lambda *_: raw)
    target = Target("shop", "sqlserver", {"Server": "db1", "Driver": "x"})
    connection = SqlServer().connect(target, Session("poll", statement_timeout_s=1.5))
    assert connection.version == (16, 0)
    assert [cursor.timeout for cursor in raw.cursors] == [2]


class Waited(BoundedCalls):
    """Remembers the login timeout."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float] = []

    def run_within(
        self,
        seconds: float,
        call: Callable[[], T],
        discard: Callable[[T], None],
        subject: str = "",
        is_hopeless: Callable[[], bool] = bool,
    ) -> T:
        self.seconds.append(seconds)
        return super().run_within(seconds, call, discard, subject)


def test_a_login_whose_token_comes_from_elsewhere_may_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    waited = Waited()
    row: Result = (("version", "session_id", "login", "standby"), -1, [("16.0.4135.4", 61, "me", False)])
    monkeypatch.setattr(odbc, "connect", lambda *_: Raw(row))
    where = {"Server": "db1", "Driver": "x"}
    for parameters in (where, where | {"Authentication": "ActiveDirectoryMsi"}):
        SqlServer(waited).connect(Target("shop", "sqlserver", parameters), Session("poll", login_timeout_s=3.0))
    assert waited.seconds == [5.0, 63.0]


def test_a_session_that_would_write_is_refused_on_a_readable_secondary(monkeypatch: pytest.MonkeyPatch) -> None:
    row: Result = (("version", "session_id", "login", "standby"), -1, [("16.0.4135.4", 61, "me", True)])
    target = Target("shop", "sqlserver", {"Server": "db1", "Driver": "x"})
    monkeypatch.setattr(odbc, "connect", lambda *_: Raw(row))
    assert SqlServer().connect(target, Session("poll", read_only=True)).version == (16, 0)
    with pytest.raises(BadInput, match=pattern(SqlServerText.READ_ONLY, target="shop")):
        SqlServer().connect(target, Session("purge", writes=True))


@pytest.mark.parametrize(
    "before", [[], [(None, 3, [])], [(None, 0, []), (("from_trigger",), -1, [(99,)])]], ids=["none", "count", "result"]
)
def test_a_statement_that_says_how_many_is_believed_and_not_what_a_trigger_says_first(before: list[Any]) -> None:
    statement = Statement("action/operate/purge", "DELETE …", (), ("done",))
    answer: Result = (("done",), -1, [(17,)])
    assert opened(Raw(*before, answer)).execute(Bound(statement)) == 17


class Operation:
    """An operation that is not stored; only its batches count."""

    def __init__(self) -> None:
        self.total = Tally()

    @contextlib.contextmanager
    def batch(self) -> Iterator[Tally]:
        tally = Tally()
        yield tally
        self.total.done += tally.done


@pytest.mark.parametrize(
    ("sqlstate", "words", "number"),
    [
        ("HYT00", "Lock request time out period exceeded.", 1222),
        ("42000", "Lock request time out period exceeded.", 1222),
        ("40001", "Transaction (Process ID 61) was deadlocked.", 1205),
        ("37000", "Transaction (Process ID 61) was deadlocked.", 1205),
        ("HY000", "Could not continue scan with NOLOCK due to data movement.", 601),
        ("42000", "Snapshot isolation transaction aborted due to update conflict.", 3960),
    ],
)
def test_a_batch_that_met_a_lock_or_a_deadlock_is_tried_again(sqlstate: str, words: str, number: int) -> None:
    operation, tries, said = Operation(), [0], list[Progress]()

    def move(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
        tries[0] += 1
        if tries[0] < 3:
            raise failure(sqlstate, words, number)
        tally.done = len(marks)
        return []

    connection = cast(Connection, opened(Raw()))
    Batches(cast(RunningOperation, operation), connection, 2, said.append, lambda: False).move_all(
        pack_rows([("1", "a"), ("2", "b")]), move
    )
    assert (tries, operation.total.done, said[-1].done) == ([3], 2, 2)


def test_a_batch_whose_time_is_up_is_not_tried_again() -> None:
    def move(marks: Sequence[Mark], tally: Tally) -> list[Mark]:
        raise failure("HYT00", "Query timeout expired", 0)

    batches = Batches(
        cast(RunningOperation, Operation()), cast(Connection, opened(Raw())), 1, lambda _: None, lambda: False
    )
    with pytest.raises(QueryFailed, match=pattern(SqlServerErrorText.DEADLINE)):
        batches.move_all(pack_rows([("1", "a")]), move)
