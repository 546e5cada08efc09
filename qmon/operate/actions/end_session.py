"""Ends a blocking session. Only the session that was shown is ended, never a later session with the same number."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from qmon.errors import BadInput
from qmon.model.formatting import count_text, duration, one_line, size
from qmon.model.operation_records import OperationKind, Plan, Undo
from qmon.operate.actions import end_sessions
from qmon.operate.actions.end_sessions import EndMethod, EndSessions, SessionSample, SessionToEnd
from qmon.operate.context import OperatorContext
from qmon.operate.plan.required_rights import why_not_permitted
from qmon.operate.run.prepared_action import PreparedAction
from qmon.operate.sql import Sql

# Start times that differ by at most 10 ms are equal, because SQL Server stores them in steps of 3.3 ms.
_SAME_START_US: Final = 10_000
_QMON_PREFIX: Final = "qmon "
_LOAD_APPLICATION: Final = "qmon design load"
_AUTOVACUUM: Final = "autovacuum worker"
_CLIENT_BACKEND: Final = "client backend"
_VERBS: Final = {
    EndMethod.CANCEL: "Cancel the statement of",
    EndMethod.TERMINATE: "End",
    EndMethod.KILL: "Kill",
}

# The rows that the server cannot remove while a transaction is open.
_KEPT: Final = {"postgres": "dead rows", "sqlserver": "old row versions"}


def prepare_end_session(context: OperatorContext, session: int, started_at: float | None) -> PreparedAction:
    """Plan to end a session by the method that its state and the server require.

    On PostgreSQL, a running statement is cancelled, and a session that is idle in a transaction is terminated. On SQL
    Server, the session is ended with KILL. ``started_at`` is the start of the session that was shown, in seconds since
    the epoch. A session that started at another time is refused. ``None`` accepts any session that has this number now.
    ``session`` 0 (SQL Server: -2) means prepared transactions. qmon refuses to end prepared transactions, and shows the
    statement that ends them. Raises errors of the server, and ``BadInput`` for an impossible session number.
    """
    if session < 0 and session != -2:
        raise BadInput(f"a session number cannot be negative: {session}")
    with context.open_sql(str(OperationKind.END_SESSION)) as sql:
        if session <= 0:
            return PreparedAction(context, _basic_plan(context, session, why=_describe_prepared(sql)))
        found = end_sessions.read_session(sql, session)
        seen = end_sessions.read_rights(sql)
        if found is None:
            why = f"session {session} no longer exists; there is nothing to end"
            if not seen.sees:
                why = f"no session {session} is visible to {seen.role}; this helps: {seen.grant}"
            return PreparedAction(context, _basic_plan(context, session, why=why))
        refused = _refusal_reason(found, started_at, seen) or why_not_permitted(context, sql)
        if refused is not None or found.started_us is None:
            return PreparedAction(context, _basic_plan(context, session, found, refused))
        way = end_sessions.end_method_for(context.engine.name, found.state)
        to_end = SessionToEnd(session, found.started_us, found.transaction_us, way)
        work = EndSessions((to_end,))
        return PreparedAction(context, _full_plan(context, sql, found, to_end), work, work.record)


def _full_plan(context: OperatorContext, sql: Sql, found: SessionSample, to_end: SessionToEnd) -> Plan:
    blocked = end_sessions.read_waiters(sql, found.session)
    directly = sum(each.directly for each in blocked)
    if not blocked and found.transaction_us is None:
        why = f"session {found.session} blocks no other session and has no open transaction"
        return _basic_plan(context, found.session, found, why)
    holds = f"the session now blocks no other session, but may prevent the cleanup of {_KEPT[context.engine.name]}"
    if blocked:
        names = sorted({each.application for each in blocked if each.application})
        more = ", …" if len(names) > 5 else ""
        whom = f": {', '.join(one_line(name) for name in names[:5])}{more}" if names else ""
        longest = max((each.waiting_s or 0.0 for each in blocked), default=0.0)
        holds = f"the session blocks {count_text(len(blocked), 'session')}, {directly} directly{whom}"
        holds += f"; the longest wait is {duration(longest)}"
        after = max((each for each in blocked if each.directly), key=lambda each: each.blocks, default=None)
        if after is not None and after.blocks:
            whom = "1 session waits" if after.blocks == 1 else f"{after.blocks} sessions wait"
            holds += f". After that, session {after.waiter} may block other sessions: {whom} for {after.waiter}, too"
    changes = _describe_changes(found)
    return replace(
        _basic_plan(context, found.session, found),
        title=f"{_VERBS[to_end.way]} session {found.session}?",
        count=1,
        unit="session",
        sql=(end_sessions.end_statement(sql, to_end),),
        consequences=(*_describe_session(context, found), holds, *(() if changes else (_NO_CHANGES,))),
        risks=(*changes, _describe_client_error(to_end)),
    )


def _basic_plan(
    context: OperatorContext, session: int, found: SessionSample | None = None, why: str | None = None
) -> Plan:
    """Return the plan with the facts known for every session. ``why``: reason for a refusal."""
    name = predicate = f"session {session}"
    if found is not None and found.started_us is not None:
        predicate = f"{name}, begun {_time_text(found.started_us)}"
        if found.transaction_us is not None:
            predicate += f", in its transaction begun {_time_text(found.transaction_us)}"
    return Plan(
        kind=OperationKind.END_SESSION,
        target=context.target.name,
        queue=name,
        title=f"End {name}?",
        unit="sessions",
        predicate=predicate,
        undo=Undo(possible=False, notes=("the session's transaction is rolled back, and its work must be done again",)),
        consequences=() if found is None else _describe_session(context, found),
        consent=context.required_consent(),
        refused=why,
    )


def _describe_session(context: OperatorContext, found: SessionSample) -> tuple[str, ...]:
    application = one_line(found.application) or "an application without a name"
    origin = f" from {found.host}" if found.host else ""
    since = "" if found.state_s is None else f" for {duration(found.state_s)}"
    lines = [f"{application}, login {found.login}{origin}, database {found.database}", f"{found.state}{since}"]
    if found.transaction_s is not None:
        lines[-1] += f"; the transaction began {duration(found.transaction_s)} ago"
    if found.statement:
        lines.append(f"last statement: {one_line(context.redact(found.statement), 120)}")
    return tuple(lines)


_NO_CHANGES: Final = "the transaction has changed no rows; its locks are released"


def _describe_changes(found: SessionSample) -> tuple[str, ...]:
    """Return the effect of the rollback on the session's changes; empty if the session has changed nothing."""
    if found.log_bytes is not None:
        return (f"the session has written {size(found.log_bytes)} of log; the rollback may take as long as the writes",)
    if found.wrote:
        return (
            "the transaction has changed or locked rows: the changes are rolled back, the locks released immediately",
        )
    return ()


def _describe_client_error(to_end: SessionToEnd) -> str:
    if to_end.way is EndMethod.CANCEL:
        return "the statement fails with 57014 (cancelled); the session stays connected and may try again"
    if to_end.way is EndMethod.TERMINATE:
        return "the client loses the connection (57P01), but may reconnect and do the same again"
    return "the client loses the connection; SQL Server cannot cancel a statement of another session"


def _refusal_reason(found: SessionSample, started_at: float | None, seen: end_sessions.SessionRights) -> str | None:
    name = f"session {found.session}"
    if found.session == seen.own or (
        found.application.startswith(_QMON_PREFIX) and found.application != _LOAD_APPLICATION
    ):
        return f"{name} belongs to qmon ({found.application}): stop that qmon instead"
    if found.started_us is None:
        return (
            f"{seen.role} may not see when {name} began, so qmon cannot confirm that {name} is the session that was"
            f" shown; this helps: {seen.grant}"
        )
    if found.kind == _AUTOVACUUM:
        if not found.statement or found.statement.startswith("<"):
            return f"{name} is an autovacuum worker; {seen.role} may not see its task; this helps: {seen.grant}"
        if "to prevent wraparound" in found.statement:
            return f"{name} is an autovacuum that prevents wraparound; the server would start it again"
    elif found.kind != _CLIENT_BACKEND:
        return f"{name} is a {found.kind or 'process of the server'}, not a session of an application"
    if started_at is not None and abs(found.started_us - started_at * 1e6) > _SAME_START_US:
        return (
            f"{name} is a different session now: it began at {_time_text(found.started_us)}, but the"
            f" session that was shown began at {_time_text(started_at * 1000000.0)}"
        )
    if found.state == "rolling back":
        done = "" if found.rolled_back is None else f", {found.rolled_back:.0f} % done"
        return f"{name} is already being rolled back{done}; ending it again does not help"
    if not found.may_end:
        helps = f"this helps: {found.grant}" if found.grant else "only a superuser may end it"
        return f"{seen.role} may not end {name} of {found.login or 'the server'}; {helps}"
    return None


def _describe_prepared(sql: Sql) -> str:
    found = end_sessions.read_prepared(sql)
    if not found:
        return "the prepared transaction no longer exists; there is nothing to end"
    oldest = found[0]
    since = " at an unknown time" if oldest.prepared_s is None else f" {duration(oldest.prepared_s)} ago"
    whose = f"{oldest.owner} or a superuser" if oldest.owner else "a login with ALTER ANY CONNECTION"
    where = f" in database {oldest.database}" if oldest.database else ""
    more = f"; {len(found) - 1} more are open" if len(found) > 1 else ""
    return (
        f"a prepared transaction has no session to end; the oldest was prepared{since}: {whose} can run"
        f" {oldest.finish}{where} if the transaction manager no longer needs the transaction{more}"
    )


def _time_text(microseconds: float) -> str:
    return f"{datetime.fromtimestamp(microseconds / 1e6, UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3] + " UTC"
