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
from qmon.operate.run.running_operation import PreparedAction
from qmon.operate.sql import Sql
from qmon.texts import Text


class EndSessionText(Text):
    """Texts of a plan that ends a session."""

    NEGATIVE = "a session number cannot be negative: {session}"
    GONE = "session {session} no longer exists; there is nothing to end"
    UNSEEN = "no session {session} is visible to {role}; this helps: {grant}"
    BLOCKS_NONE = "session {session} blocks no other session and has no open transaction"
    MAY_HOLD_CLEANUP = "the session now blocks no other session, but may prevent the cleanup of {kept}"
    NAMES = ": {names}{more}"
    BLOCKS = "the session blocks {sessions}, {directly} directly{names}"
    LONGEST_WAIT = "; the longest wait is {longest}"
    NEXT_BLOCKER = ". After that, session {waiter} may block other sessions: {waiting} for {waiter}, too"
    TITLE = "{verb} session {session}?"
    SESSION = "session {session}"
    BEGUN = "{name}, begun {begun}"
    TRANSACTION_BEGUN = ", in its transaction begun {begun}"
    END = "End {name}?"
    ROLLED_BACK = "the session's transaction is rolled back, and its work must be done again"
    NO_APPLICATION = "an application without a name"
    FROM_HOST = " from {host}"
    FOR_TIME = " for {duration}"
    WHO = "{application}, login {login}{origin}, database {database}"
    TRANSACTION_AGE = "; the transaction began {duration} ago"
    LAST_STATEMENT = "last statement: {statement}"
    NOTHING_CHANGED = "the transaction has changed no rows; its locks are released"
    LOG_WRITTEN = "the session has written {size} of log; the rollback may take as long as the writes"
    CHANGES_ROLLED_BACK = (
        "the transaction has changed or locked rows: the changes are rolled back, the locks released immediately"
    )
    CANCELLED = "the statement fails with 57014 (cancelled); the session stays connected and may try again"
    CONNECTION_LOST = "the client loses the connection (57P01), but may reconnect and do the same again"
    CONNECTION_LOST_SQLSERVER = (
        "the client loses the connection; SQL Server cannot cancel a statement of another session"
    )
    NAME = "session {session}"
    OF_QMON = "{name} belongs to qmon ({application}): stop that qmon instead"
    START_UNSEEN = (
        "{role} may not see when {name} began, so qmon cannot confirm that {name} is the session that was shown; this"
        " helps: {grant}"
    )
    AUTOVACUUM_UNSEEN = "{name} is an autovacuum worker; {role} may not see its task; this helps: {grant}"
    PREVENTS_WRAPAROUND = "{name} is an autovacuum that prevents wraparound; the server would start it again"
    PROCESS = "process of the server"
    NOT_A_CLIENT = "{name} is a {kind}, not a session of an application"
    OTHER_SESSION = (
        "{name} is a different session now: it began at {started_at}, but the session that was shown began at"
        " {shown_at}"
    )
    PERCENT_DONE = ", {percent:.0f} % done"
    ROLLING_BACK = "{name} is already being rolled back{done}; ending it again does not help"
    SUPERUSER_ONLY = "only a superuser may end it"
    THIS_HELPS = "this helps: {grant}"
    MAY_NOT_END = "{role} may not end {name} of {login}; {helps}"
    PREPARED_GONE = "the prepared transaction no longer exists; there is nothing to end"
    AT_UNKNOWN_TIME = " at an unknown time"
    AGO = " {duration} ago"
    OWNER_OR_SUPERUSER = "{owner} or a superuser"
    IN_DATABASE = " in database {database}"
    MORE_OPEN = "; {count:,} more are open"
    PREPARED = (
        "a prepared transaction has no session to end; the oldest was prepared{since}: {who} can run {finish}{where}"
        " if the transaction manager no longer needs the transaction{more}"
    )


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
        raise BadInput(EndSessionText.NEGATIVE.render(session=session))
    with context.open_sql(str(OperationKind.END_SESSION)) as sql:
        if session <= 0:
            return PreparedAction(context, _basic_plan(context, session, why=_describe_prepared(sql)))
        found = end_sessions.read_session(sql, session)
        seen = end_sessions.read_rights(sql)
        if found is None:
            why = EndSessionText.GONE.render(session=session)
            if not seen.sees:
                why = EndSessionText.UNSEEN.render(session=session, role=seen.role, grant=seen.grant)
            return PreparedAction(context, _basic_plan(context, session, why=why))
        refused = _refusal_reason(found, started_at, seen) or why_not_permitted(context, sql)
        if refused is not None or found.started_us is None:
            return PreparedAction(context, _basic_plan(context, session, found, refused))
        way = end_sessions.end_method_for(context.engine.name, found.state)
        to_end = SessionToEnd(session, found.started_us, found.transaction_us, way)
        work = EndSessions((to_end,))
        return PreparedAction(context, _full_plan(context, sql, found, to_end), work, work.record)


def _full_plan(context: OperatorContext, sql: Sql, sample: SessionSample, to_end: SessionToEnd) -> Plan:
    blocked = end_sessions.read_waiters(sql, sample.session)
    directly = sum(each.directly for each in blocked)
    if not blocked and sample.transaction_us is None:
        why = EndSessionText.BLOCKS_NONE.render(session=sample.session)
        return _basic_plan(context, sample.session, sample, why)
    holds = EndSessionText.MAY_HOLD_CLEANUP.render(kept=_KEPT[context.engine.name])
    if blocked:
        names = sorted({each.application for each in blocked if each.application})
        more = ", …" if len(names) > 5 else ""
        whom = (
            EndSessionText.NAMES.render(names=", ".join(one_line(name) for name in names[:5]), more=more)
            if names
            else ""
        )
        longest = max((each.waiting_s or 0.0 for each in blocked), default=0.0)
        holds = EndSessionText.BLOCKS.render(
            sessions=count_text(len(blocked), "session"), directly=directly, names=whom
        )
        holds += EndSessionText.LONGEST_WAIT.render(longest=duration(longest))
        after = max((each for each in blocked if each.directly), key=lambda each: each.blocks, default=None)
        if after is not None and after.blocks:
            whom = "1 session waits" if after.blocks == 1 else f"{after.blocks} sessions wait"
            holds += EndSessionText.NEXT_BLOCKER.render(waiter=after.waiter, waiting=whom)
    changes = _describe_changes(sample)
    return replace(
        _basic_plan(context, sample.session, sample),
        title=EndSessionText.TITLE.render(verb=_VERBS[to_end.method], session=sample.session),
        count=1,
        unit="session",
        sql=(end_sessions.end_statement(sql, to_end),),
        consequences=(
            *_describe_session(context, sample),
            holds,
            *(() if changes else (EndSessionText.NOTHING_CHANGED,)),
        ),
        risks=(*changes, _describe_client_error(to_end)),
    )


def _basic_plan(
    context: OperatorContext, session: int, sample: SessionSample | None = None, why: str | None = None
) -> Plan:
    """Return the plan with the facts known for every session. ``why``: reason for a refusal."""
    name = predicate = EndSessionText.SESSION.render(session=session)
    if sample is not None and sample.started_us is not None:
        predicate = EndSessionText.BEGUN.render(name=name, begun=_time_text(sample.started_us))
        if sample.transaction_us is not None:
            predicate += EndSessionText.TRANSACTION_BEGUN.render(begun=_time_text(sample.transaction_us))
    return Plan(
        kind=OperationKind.END_SESSION,
        target=context.target.name,
        queue=name,
        title=EndSessionText.END.render(name=name),
        unit="sessions",
        predicate=predicate,
        undo=Undo(possible=False, notes=(EndSessionText.ROLLED_BACK,)),
        consequences=() if sample is None else _describe_session(context, sample),
        consent=context.required_consent(),
        refused=why,
    )


def _describe_session(context: OperatorContext, sample: SessionSample) -> tuple[str, ...]:
    application = one_line(sample.application) or EndSessionText.NO_APPLICATION
    origin = EndSessionText.FROM_HOST.render(host=sample.host) if sample.host else ""
    since = "" if sample.state_s is None else EndSessionText.FOR_TIME.render(duration=duration(sample.state_s))
    lines = [
        EndSessionText.WHO.render(application=application, login=sample.login, origin=origin, database=sample.database),
        f"{sample.state}{since}",
    ]
    if sample.transaction_s is not None:
        lines[-1] += EndSessionText.TRANSACTION_AGE.render(duration=duration(sample.transaction_s))
    if sample.statement:
        lines.append(EndSessionText.LAST_STATEMENT.render(statement=one_line(context.redact(sample.statement), 120)))
    return tuple(lines)


def _describe_changes(sample: SessionSample) -> tuple[str, ...]:
    """Return the effect of the rollback on the session's changes; empty if the session has changed nothing."""
    if sample.log_bytes is not None:
        return (EndSessionText.LOG_WRITTEN.render(size=size(sample.log_bytes)),)
    if sample.wrote:
        return (EndSessionText.CHANGES_ROLLED_BACK,)
    return ()


def _describe_client_error(to_end: SessionToEnd) -> str:
    if to_end.method is EndMethod.CANCEL:
        return EndSessionText.CANCELLED
    if to_end.method is EndMethod.TERMINATE:
        return EndSessionText.CONNECTION_LOST
    return EndSessionText.CONNECTION_LOST_SQLSERVER


def _refusal_reason(sample: SessionSample, started_at: float | None, rights: end_sessions.SessionRights) -> str | None:
    name = EndSessionText.NAME.render(session=sample.session)
    if sample.session == rights.own or (
        sample.application.startswith(_QMON_PREFIX) and sample.application != _LOAD_APPLICATION
    ):
        return EndSessionText.OF_QMON.render(name=name, application=sample.application)
    if sample.started_us is None:
        return EndSessionText.START_UNSEEN.render(role=rights.role, name=name, grant=rights.grant)
    if sample.kind == _AUTOVACUUM:
        if not sample.statement or sample.statement.startswith("<"):
            return EndSessionText.AUTOVACUUM_UNSEEN.render(name=name, role=rights.role, grant=rights.grant)
        if "to prevent wraparound" in sample.statement:
            return EndSessionText.PREVENTS_WRAPAROUND.render(name=name)
    elif sample.kind != _CLIENT_BACKEND:
        return EndSessionText.NOT_A_CLIENT.render(name=name, kind=sample.kind or EndSessionText.PROCESS)
    if started_at is not None and abs(sample.started_us - started_at * 1e6) > _SAME_START_US:
        return EndSessionText.OTHER_SESSION.render(
            name=name, started_at=_time_text(sample.started_us), shown_at=_time_text(started_at * 1000000.0)
        )
    if sample.state == "rolling back":
        done = "" if sample.rolled_back is None else EndSessionText.PERCENT_DONE.render(percent=sample.rolled_back)
        return EndSessionText.ROLLING_BACK.render(name=name, done=done)
    if not sample.may_end:
        helps = EndSessionText.THIS_HELPS.render(grant=sample.grant) if sample.grant else EndSessionText.SUPERUSER_ONLY
        return EndSessionText.MAY_NOT_END.render(
            role=rights.role, name=name, login=sample.login or "the server", helps=helps
        )
    return None


def _describe_prepared(sql: Sql) -> str:
    found = end_sessions.read_prepared(sql)
    if not found:
        return EndSessionText.PREPARED_GONE
    oldest = found[0]
    since = (
        EndSessionText.AT_UNKNOWN_TIME
        if oldest.prepared_s is None
        else EndSessionText.AGO.render(duration=duration(oldest.prepared_s))
    )
    whose = (
        EndSessionText.OWNER_OR_SUPERUSER.render(owner=oldest.owner)
        if oldest.owner
        else "a login with ALTER ANY CONNECTION"
    )
    where = EndSessionText.IN_DATABASE.render(database=oldest.database) if oldest.database else ""
    more = EndSessionText.MORE_OPEN.render(count=len(found) - 1) if len(found) > 1 else ""
    return EndSessionText.PREPARED.render(since=since, who=whose, finish=oldest.finish, where=where, more=more)


def _time_text(microseconds: float) -> str:
    return f"{datetime.fromtimestamp(microseconds / 1e6, UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3] + " UTC"
