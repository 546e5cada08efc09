"""Sessions of other programs: reads a session, ends it, and checks that it is gone."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from qmon.errors import QueryFailed
from qmon.model.operations import Progress
from qmon.operate.context import OnProgress, Stopped
from qmon.operate.run.operation import Record, Running
from qmon.operate.sql import Sql
from qmon.redact import hide_passwords

# Seconds to wait for a signalled session. A rollback is waited for until it ends.
GONE_WITHIN_S: Final = 10.0

# Seconds a client has to roll back after its statement was cancelled. A client with a savepoint may continue instead.
_CLEANING_UP_S: Final = 0.5
_ASK_EVERY_S: Final = 0.05
_ROLLING_EVERY_S: Final = 1.0
_ROLLING: Final = "rolling back"

# Number of sessions named in the notes. The others are only counted.
_NAMED: Final = 5

# Called with the finished percentage of a rollback.
Rolling = Callable[[float], None]


class EndMethod(StrEnum):
    """How a session is ended."""

    # Cancel its statement, which rolls back its transaction. The session stays connected.
    CANCEL = "cancel"
    TERMINATE = "terminate"
    # The only way on SQL Server.
    KILL = "kill"


@dataclass(frozen=True, slots=True)
class Rights:
    """The rights of our role on other sessions. ``own``: our session's number. ``grant``: the statement that would
    help.
    """

    role: str
    own: int
    sees: bool
    grant: str


@dataclass(frozen=True, slots=True)
class SessionSample:
    """One session as read by ``action/sessions/session``.

    ``*_us``: microseconds since the epoch. ``*_s``: seconds.
    """

    session: int
    started_us: int | None
    transaction_us: int | None
    kind: str
    database: str
    login: str
    application: str
    host: str
    state: str
    state_s: float | None
    transaction_s: float | None
    statement: str
    wrote: bool
    locks: int
    may_end: bool
    grant: str | None
    log_bytes: int | None
    rolled_back: float | None


@dataclass(frozen=True, slots=True)
class Waiter:
    """A session that waits for another one.

    ``directly``: it does not wait behind another waiter. ``blocks``: number of sessions that wait for it.
    """

    waiter: int
    application: str
    waiting_s: float | None
    directly: bool
    blocks: int


@dataclass(frozen=True, slots=True)
class PreparedSample:
    """A prepared transaction, which holds locks without a session. ``finish``: the statement that ends it."""

    gid: str
    owner: str
    database: str
    prepared_s: float | None
    finish: str


@dataclass(frozen=True, slots=True)
class SessionToEnd:
    """One session in one particular transaction, and how to end it."""

    session: int
    started_us: int
    transaction_us: int | None
    way: EndMethod


@dataclass(frozen=True, slots=True)
class _Signalled:
    signalled: bool


def rights(sql: Sql) -> Rights:
    """Read the rights of our role on other sessions."""
    return sql.fetch(Rights, "action/sessions/rights", {})[0]


def read(sql: Sql, session: int) -> SessionSample | None:
    """Read the session as it is now, with passwords in its statement hidden; ``None`` if it is gone or not visible."""
    found = next(iter(sql.fetch(SessionSample, "action/sessions/session", {}, {"session": session})), None)
    return None if found is None else replace(found, statement=hide_passwords(found.statement))


def waiters(sql: Sql, session: int) -> list[Waiter]:
    """Read the sessions that wait for this one, directly or behind others."""
    return sql.fetch(Waiter, "action/sessions/waiters", {}, {"session": session})


def prepared(sql: Sql) -> list[PreparedSample]:
    """Read the prepared transactions, oldest first."""
    return sql.fetch(PreparedSample, "action/sessions/prepared", {})


def way_for(engine: str, state: str) -> EndMethod:
    """Return how to end a session: cancel a running statement, terminate an idle session; always KILL on SQL Server."""
    if engine == "sqlserver":
        return EndMethod.KILL
    return EndMethod.CANCEL if state == "active" else EndMethod.TERMINATE


def statement(sql: Sql, planned: SessionToEnd) -> str:
    """Return the text of the statement that ends the session."""
    return sql.statement(f"action/sessions/{planned.way}", _numbers(planned)).text


def end(sql: Sql, planned: SessionToEnd) -> bool:
    """Signal the session. Return false if it is another session, transaction or state by now.

    Raises ``PermissionMissing`` and other server errors.
    """
    values = {
        "session": planned.session,
        "started_us": planned.started_us,
        "transaction_us": planned.transaction_us,
    }
    found = sql.fetch(_Signalled, f"action/sessions/{planned.way}", _numbers(planned), values)
    return any(each.signalled for each in found)


def wait_until_gone(sql: Sql, planned: SessionToEnd, stopped: Stopped, rolling: Rolling) -> SessionSample | None:
    """Wait until the transaction has ended and its locks are free. Return ``None``, or the session if it still exists.

    ``on_rollback``: called with the percentage during a rollback, which may take as long as the transaction's work did.
    """
    deadline = time.monotonic() + GONE_WITHIN_S
    cancelled = False
    while (now := read(sql, planned.session)) is not None and not _over(now, planned):
        if now.state == _ROLLING:
            rolling(now.rolled_back or 0.0)
            deadline = time.monotonic() + GONE_WITHIN_S
        elif planned.way is EndMethod.CANCEL and now.state != "active" and not cancelled:
            cancelled, deadline = True, time.monotonic() + _CLEANING_UP_S
        if stopped() or time.monotonic() > deadline:
            return now
        time.sleep(_ROLLING_EVERY_S if now.state == _ROLLING else _ASK_EVERY_S)
    return None


def _over(now: SessionSample, planned: SessionToEnd) -> bool:
    if now.started_us != planned.started_us:
        return True
    if planned.way is not EndMethod.CANCEL:
        return False
    return now.transaction_us != planned.transaction_us or now.locks == 0


def _numbers(planned: SessionToEnd) -> dict[str, int]:
    """Return the numbers for KILL, whose text contains them."""
    return {
        "session": planned.session,
        "started_us": planned.started_us,
        "transaction_us": planned.transaction_us or 0,
    }


@dataclass(frozen=True, slots=True)
class EndSessions:
    """End these sessions.

    ``done``: signalled, and the transaction is over. ``skipped``: signalled, and the session still exists.
    ``changed``: no longer the planned session, transaction or state.
    """

    sessions: tuple[SessionToEnd, ...]

    @property
    def record(self) -> Record:
        """The part of the audit that is not in the plan."""
        return Record(
            about=", ".join(str(each.session) for each in self.sessions[:50]),
            frozen={"sessions": [[one.session, one.started_us, one.transaction_us, one.way] for one in self.sessions]},
        )

    def __call__(self, sql: Sql, operation: Running, on_progress: OnProgress, stopped: Stopped) -> None:
        """End the sessions one after the other, until ``stopped()`` is true."""
        total = len(self.sessions)
        for number, each in enumerate(self.sessions, 1):
            if stopped():
                operation.cancel()
                break
            _end(sql, operation, each, stopped, _rolling_back(operation, total, on_progress))
            on_progress(_progress(operation, total))
            if number == _NAMED and total > _NAMED:
                operation.note("the others are counted only")


def _end(sql: Sql, operation: Running, planned: SessionToEnd, stopped: Stopped, rolling: Rolling) -> None:
    # Not in a transaction: KILL refuses to run in one, and a signal cannot be rolled back.
    counted_only = operation.total.done + operation.total.skipped + operation.total.changed >= _NAMED
    try:
        with operation.at_once(f"session {planned.session} was ended"):
            signalled = end(sql, planned)
    except QueryFailed:
        if read(sql, planned.session) is not None:
            raise
        signalled = False  # it ended by itself in the meantime
    if not signalled:
        with operation.batch() as tally:
            tally.changed = 1
        if not counted_only:
            operation.note(f"session {planned.session} is gone, or in another transaction or state by now: left alone")
        return
    left = wait_until_gone(sql, planned, stopped, rolling)
    with operation.batch() as tally:
        tally.done, tally.skipped = int(left is None), int(left is not None)
    if left is not None and not counted_only:
        operation.note(_still_there(left, planned.way))


def _still_there(left: SessionSample, way: EndMethod) -> str:
    name = f"session {left.session}"
    if left.state == "rolling back":
        return f"{name} is being rolled back ({left.rolled_back or 0:.0f} % done) and holds its locks until then"
    if way is EndMethod.CANCEL:
        return (
            f"the statement of {name} has been cancelled, but its transaction is still open ({left.state}): its driver"
            " may keep savepoints; plan again to end the session"
        )
    return f"{name} has been asked to end, and is still there ({left.state}, {left.locks} locks): look again"


def _progress(operation: Running, total: int, note: str = "") -> Progress:
    done = operation.total
    return Progress(total, done.done, done.skipped, done.changed, note=note)


def _rolling_back(operation: Running, total: int, on_progress: OnProgress) -> Rolling:
    def rolling(percent: float) -> None:
        on_progress(_progress(operation, total, f"rolling back: {percent:.0f} %"))

    return rolling
