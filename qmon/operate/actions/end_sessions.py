"""Ends planned sessions one by one, sees that they are gone, and says so or otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from qmon.errors import QueryFailed
from qmon.model.operations import Progress
from qmon.operate.actions import sessions
from qmon.operate.actions.sessions import SessionSample, SessionToEnd, Way
from qmon.operate.context import Stopped, Tell
from qmon.operate.run.operation import Record, Running
from qmon.operate.sql import Sql

Rolling = Callable[[float], None]
"""Takes the percent of a rollback that is done."""
_NAMED: Final = 5
"""So many sessions are named in the notes; of the others there are counts."""


@dataclass(frozen=True, slots=True)
class EndSessions:
    """Ends these sessions.

    ``done``: ended, and seen to be: the server has been asked, and the transaction is over. ``skipped``: the server was
    asked, and the session is still there. ``changed``: no longer the session, transaction or state that was planned.
    """

    sessions: tuple[SessionToEnd, ...]

    @property
    def record(self) -> Record:
        """What is written down of it."""
        return Record(
            about=", ".join(str(each.session) for each in self.sessions[:50]),
            frozen={"sessions": [[one.session, one.started_us, one.transaction_us, one.way] for one in self.sessions]},
        )

    def __call__(self, sql: Sql, operation: Running, tell: Tell, stopped: Stopped) -> None:
        """End one after the other, until ``stopped()``."""
        total = len(self.sessions)
        for number, each in enumerate(self.sessions, 1):
            if stopped():
                operation.cancel()
                break
            _end(sql, operation, each, stopped, _teller(operation, total, tell))
            tell(_progress(operation, total))
            if number == _NAMED and total > _NAMED:
                operation.note("the others are counted only")


def _end(sql: Sql, operation: Running, planned: SessionToEnd, stopped: Stopped, rolling: Rolling) -> None:
    # Outside a transaction: KILL refuses to run in one, and a signal cannot be rolled back anyway.
    counted_only = operation.total.done + operation.total.skipped + operation.total.changed >= _NAMED
    try:
        signalled = sessions.end(sql, planned)
    except QueryFailed:
        if sessions.look(sql, planned.session) is not None:
            raise
        signalled = False  # it went while it was being ended
    if not signalled:
        with operation.batch() as tally:
            tally.changed = 1
        if not counted_only:
            operation.note(f"session {planned.session} is gone, or in another transaction or state by now: left alone")
        return
    left = sessions.gone(sql, planned, stopped, rolling)
    with operation.batch() as tally:
        tally.done, tally.skipped = int(left is None), int(left is not None)
    if left is not None and not counted_only:
        operation.note(_still_there(left, planned.way))


def _still_there(left: SessionSample, way: Way) -> str:
    name = f"session {left.session}"
    if left.state == "rolling back":
        return f"{name} is being rolled back ({left.rolled_back or 0:.0f} % done) and holds its locks until then"
    if way is Way.CANCEL:
        return (
            f"the statement of {name} has been cancelled, but its transaction is still open ({left.state}): its driver"
            " may keep savepoints; plan again to end the session"
        )
    return f"{name} has been asked to end, and is still there ({left.state}, {left.locks} locks): look again"


def _progress(operation: Running, total: int, note: str = "") -> Progress:
    done = operation.total
    return Progress(total, done.done, done.skipped, done.changed, rate=None, left_s=None, note=note)


def _teller(operation: Running, total: int, tell: Tell) -> Rolling:
    def rolling(percent: float) -> None:
        tell(_progress(operation, total, f"rolling back: {percent:.0f} %"))

    return rolling
