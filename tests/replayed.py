"""A driver that answers qmon's statements for SQL Server with rows of the documented types.

The type of a column follows from the statement and the documented columns of the system views (``tests.tsql_types``),
so a record's field that does not fit its column is found. The driver understands neither SQL nor queues: it does not
replace tests on a server.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import Any, Final

import pyodbc

from qmon.engines.driver_faults import DriverFault
from qmon.engines.odbc import OdbcConnection
from qmon.engines.sql import queries
from qmon.engines.sqlserver import sqlserver_engine, sqlserver_errors
from qmon.engines.sqlserver.sqlserver_engine import AZURE, RESTRICTED, SqlServer
from qmon.errors import QmonError, QueryFailed
from qmon.monitor.background.slow_reads import SlowReads
from tests.tsql_types import Type, types_of

# The smallest whole number that a float cannot represent.
BIG: Final = 2**53 + 1
# Statements on qmon's own tables, whose columns are not documented. Like actions, they return no rows here.
OWN: Final = frozenset({"probe/pauses", "probe/operated"})
# Columns that are not NULL because of a WHERE clause, a key or a join, which their types do not show.
CERTAIN: Final = {
    "probe/depth": ("ready",),
    "probe/head_any": ("whole",),
    "probe/horizon": ("age",),
    "probe/locks": ("place", "xid"),
    **dict.fromkeys(("probe/unseen", "probe/unseen_any", "probe/unseen_due", "probe/unseen_state"), ("place", "keys")),
    "probe/table_counters": ("index_id", "name"),
    "probe/procedures": ("executions", "logical_reads", "plans"),
    "probe/routines_of_tables": ("table_id",),
    "probe/blocking": ("holders", "line"),
    **dict.fromkeys(("probe/messages", "probe/messages_due", "probe/messages_newest", "probe/messages_ready"), ("id",)),
    **dict.fromkeys(("probe/priorities", "probe/priorities_state"), ("head_id", "priority")),
    **dict.fromkeys(("probe/messages_page", "probe/messages_page_split", "probe/group_page"), ("id",)),
    **dict.fromkeys(("probe/messages_page_ring", "probe/messages_page_ring_split"), ("id", "place", "known", "looked")),
    **dict.fromkeys(("probe/messages_ring", "probe/messages_ring_split"), ("id",)),
    **dict.fromkeys(("probe/messages_state", "probe/messages_split", "probe/tried_attempts", "probe/newest"), ("id",)),
    **dict.fromkeys(("probe/tried", "probe/tried_state"), ("id",)),
    "probe/slot_sweep": ("pop_last",),
    "probe/broker_monitors": ("queue_id",),
}
_HEAD: Final = re.compile(r"/\* qmon (\S+) \*/")
# Start of a list of statements, some of which are selected.
LIST: Final = "/* qmon poll */\n"
_EACH: Final = re.compile(r"(?<=\nBEGIN\n;\n).*?(?=\n;\nEND\n)", re.DOTALL)


@cache
def columns_of(text: str) -> tuple[tuple[str, Type], ...]:
    """Return the columns of one rendered statement."""
    return _columns_of(_NUMBERED.sub("]", text))


@cache
def _columns_of(text: str) -> tuple[tuple[str, Type], ...]:
    return tuple(types_of(text).items())


# Number at the end of a name: tables that differ only in it have the same columns.
_NUMBERED: Final = re.compile(r"(?<=[A-Za-z])\d+\]")
_FIXED: Final[dict[str, object]] = {
    "bit": True,
    "tinyint": 255,
    "smallint": 32_767,
    "int": 2**31 - 1,
    "real": 0.5,
    "datetime": datetime(2026, 11, 21, 7, 30, 15, 997000, UTC).replace(tzinfo=None),
    "datetime2": datetime(9999, 12, 31, 23, 59, 59, 999999, UTC).replace(tzinfo=None),
    "datetimeoffset": datetime(2026, 11, 21, 7, 30, 15, tzinfo=UTC),
    "uniqueidentifier": "6F9619FF-8B86-D011-B42D-00C04FC964FF",
}
_GROWING: Final[dict[str, int | float | Decimal]] = {
    "bigint": BIG,
    "numeric": Decimal("12345678901234567890.123"),
    "float": 1.75e9 + 0.125,
}


def value(kind: Type, poll: int) -> object:
    """Return a value of this SQL type as pyodbc does; numbers grow from poll to poll."""
    if kind.texts:
        return kind.texts[-1]
    if kind.digits:
        return str(BIG + poll)
    if kind.name in _GROWING:
        return _GROWING[kind.name] + poll
    return _FIXED.get(kind.name, "Ünï \U0001f600 '; -- [x]]y]")


# Values of a writable server that tracks its sessions.
PRIMARY: Final[dict[str, object]] = {"in_recovery": False, "replay_paused": False, "untracked": 0}
# Limits of log and tempdb: neither is full.
ROOM: Final = 100 * BIG
Row = Callable[[str, tuple[tuple[str, Type], ...], int], Sequence[tuple[object, ...]]]


def full(name: str, columns: tuple[tuple[str, Type], ...], poll: int) -> Sequence[tuple[object, ...]]:
    """Return one row, with NULL only in columns that are always NULL."""
    fixed = {"most": ROOM, **PRIMARY}
    return [tuple(fixed.get(c, None if not kind.name else value(kind, poll)) for c, kind in columns)]


def emptied(name: str, columns: tuple[tuple[str, Type], ...], poll: int) -> Sequence[tuple[object, ...]]:
    """Return one row, with NULL wherever the documentation allows it."""
    certain = CERTAIN.get(name, ())
    return [tuple(PRIMARY.get(c, None if kind.null and c not in certain else value(kind, poll)) for c, kind in columns)]


@cache
def parts_of(text: str) -> tuple[tuple[str, int], ...]:
    """Return the statements of a batch, each with the number of its values."""
    if text.startswith(LIST):
        parts = _EACH.findall(text)
    else:
        starts = [found.start() for found in _HEAD.finditer(text)]
        assert starts, f"a statement without its name: {text[:60]}"
        parts = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
    return tuple((part, part.count("?") - part.count("'?'")) for part in parts)


class Cursor:
    """The part of pyodbc's cursor that qmon uses."""

    rowcount = -1

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._left: list[tuple[tuple[str, ...], Sequence[tuple[object, ...]]]] = []

    def setinputsizes(self, sizes: Sequence[object] | None) -> None:
        """Values are not converted."""

    def execute(self, text: str, values: Sequence[object] = ()) -> None:
        self._driver.planned(text)
        parts, asked, at = parts_of(text), "", 0
        if text.startswith(LIST):
            asked, at = str(values[0]), 1
        assert len(asked or parts) == len(parts)
        self._left = []
        for number, (part, count) in enumerate(parts):
            own = tuple(values[at : (at := at + count)])
            if not asked or asked[number] == "1":
                self._driver.values = own
                self._left.append(self._driver.answer(part))
        assert at == len(values)

    def close(self) -> None:
        self._left = []

    @property
    def description(self) -> list[tuple[str]] | None:
        return [(name.upper(),) for name in self._left[0][0]] if self._left else None

    def fetchall(self) -> Sequence[tuple[object, ...]]:
        return self._left[0][1]

    def nextset(self) -> bool:
        self._left.pop(0)
        return bool(self._left)

    def cancel(self) -> None:
        self._left = []


class Driver:
    """The part of pyodbc's connection that qmon uses.

    ``refused``: probes that the server refuses; ``broken``: the driver's errors for other statements.
    """

    timeout = 0
    autocommit = True

    def __init__(self, row: Row = full, refused: frozenset[str] = frozenset()) -> None:
        self.row = row
        self.refused = refused
        self.broken: dict[str, pyodbc.Error] = {}
        self.poll = 0
        self.asked: list[str] = []
        # Called with each text before any of it runs; may raise.
        self.planned: Callable[[str], object] = len
        # The values of the statement that is being answered.
        self.values: tuple[object, ...] = ()

    def cursor(self) -> Cursor:
        return Cursor(self)

    def answer(self, text: str) -> tuple[tuple[str, ...], Sequence[tuple[object, ...]]]:
        found = _HEAD.match(text)
        assert found is not None
        name = found[1]
        self.asked.append(name)
        if name in self.broken:
            raise self.broken[name]
        if name in self.refused:
            raise QueryFailed(f"{name}: VIEW SERVER STATE permission was denied on object 'server'", query=name)
        if name in OWN or not name.startswith("probe/"):
            return tuple(queries.load_query("sqlserver", name, (16, 0)).columns), []
        columns = columns_of(text.rpartition(";\n")[0] if text.rstrip().endswith(";") else text)
        return tuple(column for column, _ in columns), self.row(name, columns, self.poll)

    def close(self) -> None:
        """Nothing is open."""


def said(state: str, words: str) -> pyodbc.Error:
    """Return the exception that Microsoft's driver raises for this server error."""
    return pyodbc.Error(
        state, f"[{state}] [Microsoft][ODBC Driver 18 for SQL Server][SQL Server]{words} (SQLExecDirectW)"
    )


def connection(driver: Driver, version: tuple[int, int]) -> OdbcConnection:
    """Return qmon's connection over this driver."""

    def explain(fault: DriverFault, name: str) -> QmonError:
        return sqlserver_errors.statement_error(fault, name, "me")

    opened = sqlserver_engine.wrap_connection(driver, explain)
    opened.set_identity(version, 61)
    return opened


class Idle(SlowReads):
    """Slow readings that never start."""

    def __init__(self) -> None:
        super().__init__(SqlServer(), lambda session: connection(Driver(), (16, 0)))


# Rows of a probe by poll: the values that differ from those of `full`.
Rows = Callable[[int], tuple[Mapping[str, object], ...]]


def answering(rows: Mapping[str, Rows]) -> Callable[..., list[tuple[object, ...]]]:
    """Return typed rows, with given values for some probes, by column."""

    def row(name: str, columns: tuple[tuple[str, Type], ...], poll: int) -> list[tuple[object, ...]]:
        (typed,) = full(name, columns, poll)
        own = rows.get(name)
        if own is None:
            return [typed]
        return [tuple(each.get(c, value) for (c, _), value in zip(columns, typed, strict=True)) for each in own(poll)]

    return row


VERSIONS: Final = ((11, 0), (13, 0), (14, 0), (15, 0), (16, 0), (17, 0), (AZURE, 0), (RESTRICTED, 0))
FILTERED: Final = "a security policy filters this table: your login may see only some of the rows"
SAME: Final[dict[str, object]] = {
    "plans": -7,
    "table_id": 11,
    "procedure_id": 2_147_483_647,
    "index_id": 5,
    "started_at": 1.7e9,
    "stats_reset_at": None,
    "files": 7,
    "altered": 5,
    "called": "dbo.Mails",
    "readable": True,
    "column_name": None,
}


def steady(
    name: str, columns: tuple[tuple[str, Type], ...], poll: int, row: Any = full
) -> Sequence[tuple[object, ...]]:
    """Return the rows of ``full`` from a server that does not restart, with ids that connect related rows."""
    if name == "probe/trees":
        return [(1, 8), (5, 9)]
    rows: dict[str, list[dict[str, object]]] = {
        "probe/table_counters": [{"index_id": 0}, {"index_id": 5}],
        "probe/partial": [{"why": FILTERED}],
    }
    return [
        tuple((SAME | each).get(column, value) for (column, _), value in zip(columns, found, strict=True))
        for found in row(name, columns, poll)
        for each in rows.get(name, [{}])
    ]
