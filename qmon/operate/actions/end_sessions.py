"""Ends planned sessions one by one, sees that they are gone, and says so or otherwise."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Final

from qmon.errors import QueryFailed
from qmon.model.operations import OperationResult, Plan, Progress
from qmon.operate.actions import sessions
from qmon.operate.actions.sessions import SessionSample, SessionToEnd, Way
from qmon.operate.context import OperatorContext, Permission, Stopped, Tell
from qmon.operate.run.operation import Record, Running, running
from qmon.operate.sql import Sql

_SERVER_SHOWN: Final = 5
"""So many sessions are named in the notes; of the others there are counts."""


def apply_ending(
    context: OperatorContext,
    plan: Plan,
    doomed: Sequence[SessionToEnd],
    permission: Permission,
    tell: Tell,
    stopped: Stopped,
) -> OperationResult:
    """Apply a plan of ending these sessions.

    ``done``: ended, and seen to be. ``skipped``: the server was asked, and it is still there. ``changed``: no longer
    the session, transaction or state that was planned. Raises as ``Prepared.apply``.
    """
    record = Record(
        about=", ".join(str(each.session) for each in doomed[:50]),
        frozen={"sessions": [[each.session, each.started_us, each.transaction_us, str(each.way)] for each in doomed]},
    )
    with (
        contextlib.closing(context.connect(str(plan.kind))) as connection,
        running(context, connection, plan, permission, record) as work,
    ):
        sql = Sql(connection, context.engine)
        for number, each in enumerate(doomed):
            if stopped():
                work.cancel()
                break
            _end(sql, work, each, stopped, _teller(work, len(doomed), tell))
            tell(_progress(work, len(doomed)))
            if number + 1 == _SERVER_SHOWN and len(doomed) > _SERVER_SHOWN:
                work.note("the others are counted only")
    return work.result()


def _end(sql: Sql, work: Running, doomed: SessionToEnd, stopped: Stopped, rolling: Callable[[float], None]) -> None:
    # Outside a transaction: KILL refuses to run in one, and a signal cannot be rolled back anyway.
    quiet = work.total.done + work.total.skipped + work.total.changed >= _SERVER_SHOWN
    try:
        signalled = sessions.end(sql, doomed)
    except QueryFailed:
        if sessions.look(sql, doomed.session) is not None:
            raise
        signalled = False  # it went while it was being ended
    if not signalled:
        with work.batch() as tally:
            tally.changed = 1
        if not quiet:
            work.note(f"session {doomed.session} is gone, or in another transaction or state by now: left alone")
        return
    left = sessions.gone(sql, doomed, stopped, rolling)
    with work.batch() as tally:
        tally.done, tally.skipped = int(left is None), int(left is not None)
    if left is not None and not quiet:
        work.note(_still_there(left, doomed.way))


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


def _progress(work: Running, total: int, note: str = "") -> Progress:
    done = work.total
    return Progress(total, done.done, done.skipped, done.changed, rate=None, left_s=None, note=note)


def _teller(work: Running, total: int, tell: Tell) -> Callable[[float], None]:
    def rolling(percent: float) -> None:
        tell(_progress(work, total, f"rolling back: {percent:.0f} %"))

    return rolling
