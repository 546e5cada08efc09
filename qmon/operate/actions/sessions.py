"""Sessions of others on the server: reads one, ends it, and checks that it has gone."""

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

# Seconds that a signalled session is waited for; one that is being rolled back is waited for until the end.
GONE_WITHIN_S: Final = 10.0
# Seconds a client has to roll back after its statement was cancelled; one with a savepoint may go on instead.
_CLEANING_UP_S: Final = 0.5
_ASK_EVERY_S: Final = 0.05
_ROLLING_EVERY_S: Final = 1.0
_ROLLING: Final = "rolling back"
# Sessions that are named in the notes; the others are counted.
_NAMED: Final = 5
# Takes the percent of a rollback that is done.
Rolling = Callable[[float], None]


class EndMethod(StrEnum):
    """The way in which a session is ended."""

    # Its statement is cancelled, which rolls its transaction back; the session lives on.
    CANCEL = "cancel"
    TERMINATE = "terminate"
    # The only way on SQL Server.
    KILL = "kill"


@dataclass(frozen=True, slots=True)
class Rights:
    """The rights of our role on other sessions; ``own``: this session; ``grant``: the right that would help."""

    role: str
    own: int
    sees: bool
    grant: str


@dataclass(frozen=True, slots=True)
class SessionSample:
    """One session, as ``action/sessions/session`` says. ``*_us``: microseconds since the epoch; ``*_s``: seconds."""

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
    """A session that waits for another one. ``directly``: not for somebody who waits for it; ``blocks``: how many wait
    for it.
    """

    waiter: int
    application: str
    waiting_s: float | None
    directly: bool
    blocks: int


@dataclass(frozen=True, slots=True)
class PreparedSample:
    """A transaction that holds its locks without a session; ``finish`` ends it."""

    gid: str
    owner: str
    database: str
    prepared_s: float | None
    finish: str


@dataclass(frozen=True, slots=True)
class SessionToEnd:
    """Exactly one session in exactly one transaction, and how it is to be ended."""

    session: int
    started_us: int
    transaction_us: int | None
    way: EndMethod


@dataclass(frozen=True, slots=True)
class _Signalled:
    signalled: bool


def rights(sql: Sql) -> Rights:
    """The rights of our role here."""
    return sql.fetch(Rights, "action/sessions/rights", {})[0]


def read(sql: Sql, session: int) -> SessionSample | None:
    """The session as it is now, passwords in its statement covered; ``None`` where there is none that we may see."""
    found = next(iter(sql.fetch(SessionSample, "action/sessions/session", {}, {"session": session})), None)
    return None if found is None else replace(found, statement=hide_passwords(found.statement))


def waiters(sql: Sql, session: int) -> list[Waiter]:
    """Sessions that wait for it, directly or behind others."""
    return sql.fetch(Waiter, "action/sessions/waiters", {}, {"session": session})


def prepared(sql: Sql) -> list[PreparedSample]:
    """The oldest prepared transactions."""
    return sql.fetch(PreparedSample, "action/sessions/prepared", {})


def way_for(engine: str, state: str) -> EndMethod:
    """Cancel what runs, terminate what idles; SQL Server has one way for both."""
    if engine == "sqlserver":
        return EndMethod.KILL
    return EndMethod.CANCEL if state == "active" else EndMethod.TERMINATE


def statement(sql: Sql, planned: SessionToEnd) -> str:
    """The SQL that ends it."""
    return sql.statement(f"action/sessions/{planned.way}", _numbers(planned)).text


def end(sql: Sql, planned: SessionToEnd) -> bool:
    """Signal it; false where it is another session, or in another transaction or state, by now.

    Raises ``PermissionMissing`` and what else the server says.
    """
    values = {
        "session": planned.session,
        "started_us": planned.started_us,
        "transaction_us": planned.transaction_us,
    }
    found = sql.fetch(_Signalled, f"action/sessions/{planned.way}", _numbers(planned), values)
    return any(each.signalled for each in found)


def wait_until_gone(sql: Sql, planned: SessionToEnd, stopped: Stopped, rolling: Rolling) -> SessionSample | None:
    """Wait until its transaction is over and its locks are free; ``None`` then, else the session as it still is.

    ``rolling``: called with the percentage while the server rolls it back, which may take as long as its work did.
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
    """For KILL, whose text holds the numbers."""
    return {
        "session": planned.session,
        "started_us": planned.started_us,
        "transaction_us": planned.transaction_us or 0,
    }


@dataclass(frozen=True, slots=True)
class EndSessions:
    """Ends these sessions.

    ``done``: ended, and seen to be: the server has been asked, and the transaction is over. ``skipped``: the server was
    asked, and the session is still there. ``changed``: no longer the session, transaction or state that was planned.
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
        """End one after the other, until ``stopped()``."""
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
    # Outside a transaction: KILL refuses to run in one, and a signal cannot be rolled back anyway.
    counted_only = operation.total.done + operation.total.skipped + operation.total.changed >= _NAMED
    try:
        with operation.at_once(f"session {planned.session} was ended"):
            signalled = end(sql, planned)
    except QueryFailed:
        if read(sql, planned.session) is not None:
            raise
        signalled = False  # it went while it was being ended
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
