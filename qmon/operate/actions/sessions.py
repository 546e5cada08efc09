"""Sessions of others on the server: what is known of one before it is ended, and how it is ended, and is seen to be."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from qmon.engines.secret import hide_passwords
from qmon.operate.context import Stopped
from qmon.operate.sql import Sql

GONE_WITHIN_S: Final = 10.0
"""A session that has been signalled is waited for so long, in seconds; one that is being rolled back, for ever."""
_CLEANING_UP_S: Final = 0.5
"""So long a client may take to roll back after its statement was cancelled; one with a savepoint goes on instead."""
_ASK_EVERY_S: Final = 0.05
_ROLLING_EVERY_S: Final = 1.0
_ROLLING: Final = "rolling back"


class Way(StrEnum):
    """How a session is ended."""

    CANCEL = "cancel"
    """Its statement is cancelled, which rolls its transaction back; the session lives on."""
    TERMINATE = "terminate"
    KILL = "kill"
    """SQL Server knows nothing milder."""


@dataclass(frozen=True, slots=True)
class Rights:
    """What our role may see of other sessions; ``own``: this very session; ``grant``: what would help."""

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
    """A session that waits for another one. ``directly``: not for somebody who waits for it."""

    waiter: int
    application: str
    waiting_s: float | None
    directly: bool


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
    way: Way


@dataclass(frozen=True, slots=True)
class _Signalled:
    signalled: bool


def rights(sql: Sql) -> Rights:
    """What we may see here."""
    return sql.fetch(Rights, "action/sessions/rights", {})[0]


def look(sql: Sql, session: int) -> SessionSample | None:
    """The session as it is now, passwords in its statement covered; ``None`` where there is none that we may see."""
    found = next(iter(sql.fetch(SessionSample, "action/sessions/session", {}, {"session": session})), None)
    return None if found is None else replace(found, statement=hide_passwords(found.statement))


def waiters(sql: Sql, session: int) -> list[Waiter]:
    """Who waits for it, directly or behind others."""
    return sql.fetch(Waiter, "action/sessions/held_up", {}, {"session": session})


def prepared(sql: Sql) -> list[PreparedSample]:
    """The oldest prepared transactions."""
    return sql.fetch(PreparedSample, "action/sessions/prepared", {})


def way_for(engine: str, state: str) -> Way:
    """Cancel what runs, terminate what idles; SQL Server has one way for both."""
    if engine == "sqlserver":
        return Way.KILL
    return Way.CANCEL if state == "active" else Way.TERMINATE


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


def gone(sql: Sql, planned: SessionToEnd, stopped: Stopped, rolling: Callable[[float], None]) -> SessionSample | None:
    """Wait until its transaction is over and its locks are free; ``None`` then, else the session as it still is.

    ``rolling``: told percents while the server rolls it back, which may take as long as its work did.
    """
    deadline = time.monotonic() + GONE_WITHIN_S
    cancelled = False
    while (now := look(sql, planned.session)) is not None and not _over(now, planned):
        if now.state == _ROLLING:
            rolling(now.rolled_back or 0.0)
            deadline = time.monotonic() + GONE_WITHIN_S
        elif planned.way is Way.CANCEL and now.state != "active" and not cancelled:
            cancelled, deadline = True, time.monotonic() + _CLEANING_UP_S
        if stopped() or time.monotonic() > deadline:
            return now
        time.sleep(_ROLLING_EVERY_S if now.state == _ROLLING else _ASK_EVERY_S)
    return None


def _over(now: SessionSample, planned: SessionToEnd) -> bool:
    if now.started_us != planned.started_us:
        return True
    if planned.way is not Way.CANCEL:
        return False
    return now.transaction_us != planned.transaction_us or now.locks == 0


def _numbers(planned: SessionToEnd) -> dict[str, int]:
    """For KILL, whose text holds the numbers."""
    return {
        "session": planned.session,
        "started_us": planned.started_us,
        "transaction_us": planned.transaction_us or 0,
    }
