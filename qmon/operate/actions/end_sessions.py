"""Reads sessions of other programs, ends a session, and checks that the session is gone."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from qmon.errors import QueryFailed
from qmon.model.operation_records import Progress
from qmon.operate.context import OnProgress, StopRequested
from qmon.operate.run.running_operation import OperationRecord, RunningOperation
from qmon.operate.sql import Sql
from qmon.redact import hide_passwords
from qmon.texts import Text


class EndSessionsText(Text):
    """Notes about sessions that an operation ends."""

    ONLY_COUNTED = "further sessions are only counted"
    ENDED = "session {session} was ended"
    NOT_ENDED = "session {session} was not ended: it is gone, or its transaction or state has changed"
    NAME = "session {session}"
    ROLLING_BACK = (
        "{name} is being rolled back ({percent:.0f} % done) and keeps its locks until the rollback has finished"
    )
    CANCELLED = (
        "the statement of {name} has been cancelled, but the transaction is still open ({state}): the driver may use"
        " savepoints; plan again to end the session"
    )
    STILL_EXISTS = "{name} was asked to end but still exists ({state}, {locks} locks): check again"
    PROGRESS = "rolling back: {percent:.0f} %"


# Maximum seconds to wait until a signalled session has ended. A session that is rolling back has no limit.
MAX_WAIT_S: Final = 10.0

# Seconds to wait until a client rolls back after its statement was cancelled. A client with a savepoint may continue.
_CLIENT_ROLLBACK_S: Final = 0.5
_READ_EVERY_S: Final = 0.05
_READ_ROLLBACK_EVERY_S: Final = 1.0
_ROLLING_BACK: Final = "rolling back"

# Maximum number of sessions that the notes name. Further sessions are only counted.
_MAX_NAMED: Final = 5

# Called with the finished percentage of a rollback.
OnRollback = Callable[[float], None]


class EndMethod(StrEnum):
    """How a session is ended."""

    # Cancel the session's statement, which rolls back the transaction. The session stays connected.
    CANCEL = "cancel"
    TERMINATE = "terminate"
    # End the session with KILL. SQL Server has no other method.
    KILL = "kill"


@dataclass(frozen=True, slots=True)
class SessionRights:
    """The rights of our role on other sessions.

    ``own``: our session's number. ``grant``: the statement that adds the missing right.
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
    """A session that waits for another session.

    ``directly``: no third session is between the two. ``blocks``: number of sessions that wait for this waiter.
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
    """One session in one particular transaction, and the method that ends the session."""

    session: int
    started_us: int
    transaction_us: int | None
    method: EndMethod


@dataclass(frozen=True, slots=True)
class _Signalled:
    signalled: bool


def read_rights(sql: Sql) -> SessionRights:
    """Read the rights of our role on other sessions."""
    return sql.fetch(SessionRights, "action/sessions/rights", {})[0]


def read_session(sql: Sql, session: int) -> SessionSample | None:
    """Read the session, and hide passwords in its statement. Return ``None`` if the session is gone or not visible."""
    found = next(iter(sql.fetch(SessionSample, "action/sessions/session", {}, {"session": session})), None)
    return None if found is None else replace(found, statement=hide_passwords(found.statement))


def read_waiters(sql: Sql, session: int) -> list[Waiter]:
    """Read the sessions that wait for this session, directly or behind other sessions."""
    return sql.fetch(Waiter, "action/sessions/waiters", {}, {"session": session})


def read_prepared(sql: Sql) -> list[PreparedSample]:
    """Read the prepared transactions, oldest first."""
    return sql.fetch(PreparedSample, "action/sessions/prepared", {})


def end_method_for(engine: str, state: str) -> EndMethod:
    """Return the method: cancel a running statement, or terminate an idle session. On SQL Server, always use KILL."""
    if engine == "sqlserver":
        return EndMethod.KILL
    return EndMethod.CANCEL if state == "active" else EndMethod.TERMINATE


def end_statement(sql: Sql, planned: SessionToEnd) -> str:
    """Return the text of the statement that ends the session."""
    return sql.statement(f"action/sessions/{planned.method}", _numbers(planned)).text


def end_session(sql: Sql, planned: SessionToEnd) -> bool:
    """Signal the session. Return false if its start, transaction or state is no longer the planned one.

    Raises ``PermissionMissing`` and other server errors.
    """
    values = {
        "session": planned.session,
        "started_us": planned.started_us,
        "transaction_us": planned.transaction_us,
    }
    found = sql.fetch(_Signalled, f"action/sessions/{planned.method}", _numbers(planned), values)
    return any(each.signalled for each in found)


def wait_until_gone(
    sql: Sql, planned: SessionToEnd, stopped: StopRequested, on_rollback: OnRollback
) -> SessionSample | None:
    """Wait until the transaction has ended and its locks are free. If the session still exists, return it.

    ``on_rollback``: called with the percentage during a rollback. A rollback may take as long as the transaction's own
    work.
    """
    deadline = time.monotonic() + MAX_WAIT_S
    cancelled = False
    while (now := read_session(sql, planned.session)) is not None and not _is_over(now, planned):
        if now.state == _ROLLING_BACK:
            on_rollback(now.rolled_back or 0.0)
            deadline = time.monotonic() + MAX_WAIT_S
        elif planned.method is EndMethod.CANCEL and now.state != "active" and not cancelled:
            cancelled, deadline = True, time.monotonic() + _CLIENT_ROLLBACK_S
        if stopped() or time.monotonic() > deadline:
            return now
        time.sleep(_READ_ROLLBACK_EVERY_S if now.state == _ROLLING_BACK else _READ_EVERY_S)
    return None


def _is_over(now: SessionSample, planned: SessionToEnd) -> bool:
    if now.started_us != planned.started_us:
        return True
    if planned.method is not EndMethod.CANCEL:
        return False
    return now.transaction_us != planned.transaction_us or now.locks == 0


def _numbers(planned: SessionToEnd) -> dict[str, int]:
    """Return the numbers that are rendered into the text of KILL, which takes no parameters."""
    return {
        "session": planned.session,
        "started_us": planned.started_us,
        "transaction_us": planned.transaction_us or 0,
    }


@dataclass(frozen=True, slots=True)
class EndSessions:
    """End these sessions.

    ``done`` counts sessions that were signalled and whose transaction has ended. ``skipped`` counts sessions that were
    signalled but still exist. ``changed`` counts sessions whose start, transaction or state has changed since the plan.
    """

    sessions: tuple[SessionToEnd, ...]

    @property
    def record(self) -> OperationRecord:
        """The part of the audit entry that is not in the plan."""
        return OperationRecord(
            about=", ".join(str(each.session) for each in self.sessions[:50]),
            frozen={
                "sessions": [[one.session, one.started_us, one.transaction_us, one.method] for one in self.sessions]
            },
        )

    def __call__(self, sql: Sql, operation: RunningOperation, on_progress: OnProgress, stopped: StopRequested) -> None:
        """End the sessions one after the other, until ``stopped()`` is true."""
        total = len(self.sessions)
        for number, each in enumerate(self.sessions, 1):
            if stopped():
                operation.mark_cancelled()
                break
            _end_and_wait(sql, operation, each, stopped, _rollback_reporter(operation, total, on_progress))
            on_progress(_progress_of(operation, total))
            if number == _MAX_NAMED and total > _MAX_NAMED:
                operation.add_note(EndSessionsText.ONLY_COUNTED)


def _end_and_wait(
    sql: Sql, operation: RunningOperation, planned: SessionToEnd, stopped: StopRequested, on_rollback: OnRollback
) -> None:
    # This code does not run in a transaction, because KILL refuses to, and because a signal cannot be rolled back.
    counted_only = operation.total.done + operation.total.skipped + operation.total.changed >= _MAX_NAMED
    try:
        with operation.immediate_step(EndSessionsText.ENDED.render(session=planned.session)):
            signalled = end_session(sql, planned)
    except QueryFailed:
        if read_session(sql, planned.session) is not None:
            raise
        signalled = False  # the session ended by itself in the meantime
    if not signalled:
        with operation.batch() as tally:
            tally.changed = 1
        if not counted_only:
            operation.add_note(EndSessionsText.NOT_ENDED.render(session=planned.session))
        return
    left = wait_until_gone(sql, planned, stopped, on_rollback)
    with operation.batch() as tally:
        tally.done, tally.skipped = int(left is None), int(left is not None)
    if left is not None and not counted_only:
        operation.add_note(_describe_remaining(left, planned.method))


def _describe_remaining(session: SessionSample, way: EndMethod) -> str:
    name = EndSessionsText.NAME.render(session=session.session)
    if session.state == "rolling back":
        return EndSessionsText.ROLLING_BACK.render(name=name, percent=session.rolled_back or 0)
    if way is EndMethod.CANCEL:
        return EndSessionsText.CANCELLED.render(name=name, state=session.state)
    return EndSessionsText.STILL_EXISTS.render(name=name, state=session.state, locks=session.locks)


def _progress_of(operation: RunningOperation, total: int, note: str = "") -> Progress:
    done = operation.total
    return Progress(total, done.done, done.skipped, done.changed, note=note)


def _rollback_reporter(operation: RunningOperation, total: int, on_progress: OnProgress) -> OnRollback:
    def report_percent(percent: float) -> None:
        on_progress(_progress_of(operation, total, EndSessionsText.PROGRESS.render(percent=percent)))

    return report_percent
