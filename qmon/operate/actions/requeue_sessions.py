"""Requeues messages of queues whose pop deletes the row.

In such a queue, an open transaction locks each message in progress. Ending the transaction's session rolls back the
pop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from qmon.engines.sql.queries import Name
from qmon.errors import BadInput
from qmon.model.formatting import count_text, duration, one_line, size
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import (
    MAX_PLAN_ROWS,
    Choice,
    LeftOut,
    OperationKind,
    OwnerState,
    Plan,
    PlanRow,
    Undo,
)
from qmon.operate.actions import end_sessions
from qmon.operate.actions.end_sessions import EndSessions, SessionToEnd
from qmon.operate.context import OperatorContext
from qmon.operate.plan import preview
from qmon.operate.plan.required_rights import why_not_permitted
from qmon.operate.plan.selection import state_text
from qmon.operate.run.running_operation import PreparedAction
from qmon.operate.sql import Sql
from qmon.texts import Text


class RequeueSessionsText(Text):
    """Texts of plans that end the sessions which hold messages."""

    OTHERS_HIDDEN = (
        "this database has optimized locking, so the server may hide locks: other sessions may also hold messages of"
        " this queue, and the sessions in the plan may hold more messages"
    )
    KEEPS_MESSAGES = "a {design} keeps popped messages; qmon ends sessions only for queues whose pop deletes messages"
    NOT_IN_PROGRESS = "only messages in progress are requeued, not messages that are {state}"
    NO_FILTER = "sessions hold the messages in progress; a text or a maximum age cannot select sessions"
    HOLDERS_HIDDEN = (
        "this database has optimized locking, so the server does not show which session holds a message, and a"
        " producer looks like a consumer; on screen 4, end the session that you know to be stuck"
    )
    PREPARED = "prepared transactions, which have no session (ROLLBACK PREPARED ends them)"
    MAY_BE_PRODUCERS = (
        "sessions that lock the table but may be producers: qmon cannot prove that they hold one of the rows that it"
        " read"
    )
    RUNNING = "sessions that are running a statement: owner alive"
    START_UNSEEN = "sessions whose start your role may not see"
    OVER_LIMIT = "over the limit"
    SUPERUSER_ONLY = "only a superuser may end it"
    THIS_HELPS = "this helps: {grant}"
    MAY_NOT_END = "your role may not end session {session} of {login}; {helps}"
    UNSEEN = "{role} may not see what other sessions do; this helps: {grant}"
    NO_TRANSACTION = "no transaction has held messages of {queue} for more than {duration}"
    NONE_CHOSEN = "none of the {transactions} that hold a lock on {queue} was chosen"
    PREDICATE = "transactions that hold rows of {table} and began more than {duration} ago: "
    SESSION = "session {session}"
    STAY = "messages that return to the queue stay there"
    SESSIONS_ENDED = "the sessions ended while they were being read; plan again"
    OWNER = "{application} ({session})"
    FOR_TIME = " for {duration}"
    HOLDS = "holds {rows}"
    HOLDS_NONE = "holds none of the rows that were read"
    LOG = ", {size} of log to roll back"
    NO_APPLICATION = "no application name"
    DESCRIPTION = "session {session} ({who}, login {login}): {state}{since}, {holds}{log}"
    MORE = "and {count:,} more"
    READY_AGAIN = "{messages} will be ready again after the rollback"
    CANNOT_COMMIT = (
        "a consumer that is still working on such a message can no longer commit; its work outside the database may be"
        " done twice"
    )
    TITLE_ONE = "End 1 session of {queue} to requeue its messages?"
    TITLE = "End {sessions} of {queue} to requeue their messages?"


# Number of rows at each end of the queue in which qmon searches for the id of a transaction.
MAX_ROWS_READ: Final = 1_000
_MAX_VISIBLE: Final = 5_000

# Maximum number of rows and locks that are compared on SQL Server.
_MAX_LOCKS: Final = 50_000
_MAX_SHOWN: Final = 5

# Number of transaction ids before they wrap around.
_XID_COUNT: Final = 1 << 32


@dataclass(frozen=True, slots=True)
class LockingTransaction:
    """An open transaction that holds a write lock on the table; see ``action/sessions/holders``."""

    session: int
    started_us: int | None
    transaction_us: int | None
    transaction_s: float | None
    login: str
    application: str
    state: str
    xids: str
    rows: int | None
    log_bytes: int | None


@dataclass(frozen=True, slots=True)
class HeldRow:
    """A row that a transaction has deleted or locked."""

    xid: str
    id: str | None
    age_s: float | None
    payload: str | None


@dataclass(frozen=True, slots=True)
class HeldLock:
    """An exclusive row lock of a session. ``tree``: the index or heap. ``place``: the name of the lock."""

    session: int
    tree: int
    place: str


@dataclass(frozen=True, slots=True)
class VisibleLock:
    """The lock name of a visible row."""

    place: str


@dataclass(frozen=True, slots=True)
class _HiddenRows:
    hidden: bool


@dataclass(frozen=True, slots=True)
class _HolderRows:
    """A session that holds rows.

    ``rows``: the first rows that the session is proven to hold. ``count``: the number of all such rows.
    """

    holder: LockingTransaction
    rows: tuple[HeldRow, ...]
    count: int

    @property
    def state(self) -> OwnerState:
        """Alive while a statement is running, unknown while the transaction is idle."""
        return OwnerState.ALIVE if self.holder.state == "active" else OwnerState.UNKNOWN


def prepare_requeue_sessions(context: OperatorContext, layout: Layout, choice: Choice) -> PreparedAction:
    """Plan to end the sessions whose transactions hold messages of this queue longer than its timeout.

    On PostgreSQL, a session is proven to hold messages if rows contain the id of its transaction. The first and last
    1,000 rows in pop order are checked. On SQL Server, the session must hold locks on rows that are not visible. A
    session that only holds the table lock is left out unless ``choice.owner_states`` contains ``UNKNOWN``. A session
    with a running statement is left out unless ``choice.owner_states`` contains ``ALIVE``. ``choice.ids`` and
    ``choice.owner`` (an application name or a session number) narrow the choice. Raises ``BadInput`` if pops of the
    queue do not delete messages, or if the choice makes no sense for such a queue.
    """
    if not layout.deletes_on_pop:
        raise BadInput(RequeueSessionsText.KEEPS_MESSAGES.render(design=layout.design))
    if choice.state not in (None, "in_progress"):
        raise BadInput(RequeueSessionsText.NOT_IN_PROGRESS.render(state=state_text(choice.state)))
    if choice.has_text_filter or choice.newer_than_s is not None:
        raise BadInput(RequeueSessionsText.NO_FILTER)
    timeout = layout.timeout_s if choice.older_than_s is None else choice.older_than_s
    with context.open_sql(str(OperationKind.REQUEUE)) as sql:
        seen = end_sessions.read_rights(sql)
        names = {"table": layout.table.parts}
        found = [
            each
            for each in _assign_rows(
                context, sql, layout, sql.fetch(LockingTransaction, "action/sessions/holders", names)
            )
            if each.holder.transaction_s is None or each.holder.transaction_s >= timeout
        ]
        hidden = bool(found) and seen.sees and not layout.routines and _is_hidden(sql)
        if hidden and not any(each.count for each in found):
            raise BadInput(RequeueSessionsText.HOLDERS_HIDDEN)
        chosen, left_out = _choose_holders(found, choice)
        refused = why_not_permitted(context, sql) or (
            None if chosen else _why_nothing_chosen(layout, seen, found, timeout)
        )
        to_end, denied = _sessions_to_end(context, sql, chosen)
        plan = _plan(
            context, layout, sql, chosen, to_end, (*left_out, *_left_out_for_rights(denied)), timeout, refused or denied
        )
        if hidden and to_end:
            plan = replace(plan, risks=(*plan.risks, RequeueSessionsText.OTHERS_HIDDEN))
        work = EndSessions(to_end)
        return PreparedAction(context, plan, work if to_end else None, work.record)


def _is_hidden(sql: Sql) -> bool:
    """Return whether the server hides which transaction holds a row."""
    name = "action/sessions/hidden_rows"
    return sql.has_statement(name) and sql.fetch(_HiddenRows, name, {})[0].hidden


def _assign_rows(
    context: OperatorContext, sql: Sql, layout: Layout, holders: Sequence[LockingTransaction]
) -> list[_HolderRows]:
    """Return each holder with the rows that the holder is proven to hold."""
    if not holders:
        return []
    if context.engine.name == "sqlserver":
        taken = _read_popped_counts(sql, layout)
        return [_HolderRows(each, (), taken.get(each.session, 0)) for each in holders]
    order = layout.due_at or layout.id
    name = "action/sessions/held_rows" if order else "action/sessions/held_rows_any"
    names = {
        "table": layout.table.parts,
        "order": order,
        "id": layout.id,
        "enqueued_at": layout.time_column(layout.enqueued_at),
        "payload": layout.payload,
        "sized": preview.read_sized_column(sql, layout.table, layout.payload),
    }
    held = sql.fetch(HeldRow, name, names, {"limit": MAX_ROWS_READ})
    held.sort(key=lambda row: -(row.age_s or 0.0))
    whose = {xid: _find_holder(xid, holders) for xid in {row.xid for row in held}}
    mine = {each.session: tuple(row for row in held if whose[row.xid] is each) for each in holders}
    return [_HolderRows(each, mine[each.session], len(mine[each.session])) for each in holders]


def _read_popped_counts(sql: Sql, layout: Layout) -> dict[int, int]:
    """Return the proven number of popped rows of each session.

    SQL Server only shows locks, and an uncommitted push locks its row in the same way as a pop. The difference is that
    pushed rows are visible. Only the newest rows are read. If no column orders the pushes, new rows may be anywhere in
    the table, and the result is proven only if all rows were read.
    """
    table: dict[str, Name] = {"table": layout.table.parts}
    held = sql.fetch(HeldLock, "action/sessions/held_locks", table, {"limit": _MAX_LOCKS})
    pushed_last = layout.id is not None and layout.due_at is None
    name = "action/sessions/seen_locks" if pushed_last else "action/sessions/seen_locks_any"
    seen = {each.place for each in sql.fetch(VisibleLock, name, table | {"order": layout.id}, {"limit": _MAX_VISIBLE})}
    if len(held) >= _MAX_LOCKS or (len(seen) >= _MAX_VISIBLE and not pushed_last):
        return {}
    trees: dict[int, dict[int, set[str]]] = {}
    for each in held:
        trees.setdefault(each.session, {}).setdefault(each.tree, set()).add(each.place)
    # The server chose the index for reading the rows. In other indexes, the lock names of rows are unknown, so locks on
    # other indexes do not count.
    return {
        session: min(len(places - seen) for places in of_trees.values())
        for session, of_trees in trees.items()
        if max(len(places) for places in of_trees.values()) < _MAX_VISIBLE
    }


def _find_holder(xid: str, holders: Sequence[LockingTransaction]) -> LockingTransaction | None:
    """Return the transaction that an id belongs to.

    The server does not list the id of a released savepoint. The savepoint's owner is proven only if exactly one of the
    holders began before it.
    """
    own = [each for each in holders if xid in each.xids.split(",")]
    if own:
        return own[0]
    before = [
        each
        for each in holders
        if any((int(xid) - int(other)) % _XID_COUNT < _XID_COUNT // 2 for other in _split_xids(each.xids))
    ]
    return before[0] if len(before) == 1 else None


def _split_xids(xids: str) -> list[str]:
    return xids.split(",") if xids else []


def _choose_holders(holders: Iterable[_HolderRows], choice: Choice) -> tuple[list[_HolderRows], tuple[LeftOut, ...]]:
    chosen: list[_HolderRows] = []
    why: Counter[str] = Counter()
    for each in holders:
        holder = each.holder
        if choice.owner is not None and choice.owner not in (holder.application, str(holder.session)):
            continue
        if choice.ids and not any(row.id in choice.ids for row in each.rows):
            continue
        if holder.session == 0:
            why[RequeueSessionsText.PREPARED] += 1
        elif each.count == 0 and OwnerState.UNKNOWN not in choice.owner_states:
            why[(RequeueSessionsText.MAY_BE_PRODUCERS)] += 1
        elif each.state is OwnerState.ALIVE and OwnerState.ALIVE not in choice.owner_states:
            why[RequeueSessionsText.RUNNING] += 1
        elif holder.started_us is None:
            why[RequeueSessionsText.START_UNSEEN] += 1
        elif choice.limit is not None and len(chosen) >= choice.limit:
            why[RequeueSessionsText.OVER_LIMIT] += 1
        else:
            chosen.append(each)
    return chosen, tuple(LeftOut(reason, count) for reason, count in why.items())


def _sessions_to_end(
    context: OperatorContext, sql: Sql, chosen: Iterable[_HolderRows]
) -> tuple[tuple[SessionToEnd, ...], str | None]:
    """Return the sessions that are unchanged and that our role may end.

    If there are no such sessions, also return why our role may not end one of the sessions.
    """
    out: list[SessionToEnd] = []
    denied = None
    for each in chosen:
        holder = each.holder
        now = end_sessions.read_session(sql, holder.session)
        if now is None or now.started_us is None or now.started_us != holder.started_us:
            continue
        if now.transaction_us != holder.transaction_us:
            continue
        if not now.may_end:
            helps = (
                RequeueSessionsText.THIS_HELPS.render(grant=now.grant)
                if now.grant
                else RequeueSessionsText.SUPERUSER_ONLY
            )
            denied = RequeueSessionsText.MAY_NOT_END.render(session=now.session, login=now.login, helps=helps)
            continue
        way = end_sessions.end_method_for(context.engine.name, now.state)
        out.append(SessionToEnd(now.session, now.started_us, now.transaction_us, way))
    return tuple(out), denied if not out else None


def _left_out_for_rights(denied: str | None) -> tuple[LeftOut, ...]:
    return (LeftOut(denied, 1),) if denied else ()


def _why_nothing_chosen(
    layout: Layout, rights: end_sessions.SessionRights, holders: Sequence[_HolderRows], timeout: float
) -> str:
    if not rights.sees:
        return RequeueSessionsText.UNSEEN.render(role=rights.role, grant=rights.grant)
    if not holders:
        return RequeueSessionsText.NO_TRANSACTION.render(queue=layout.queue, duration=duration(timeout))
    return RequeueSessionsText.NONE_CHOSEN.render(
        transactions=count_text(len(holders), "transaction"), queue=layout.queue
    )


def _plan(
    context: OperatorContext,
    layout: Layout,
    sql: Sql,
    chosen: list[_HolderRows],
    to_end: tuple[SessionToEnd, ...],
    left_out: tuple[LeftOut, ...],
    timeout: float,
    refused: str | None,
) -> Plan:
    numbers = {each.session for each in to_end}
    ended = [each for each in chosen if each.holder.session in numbers]
    rows = sum(each.count for each in ended)
    statements = tuple(dict.fromkeys(end_sessions.end_statement(sql, each) for each in to_end))
    return Plan(
        kind=OperationKind.REQUEUE,
        target=context.target.name,
        queue=layout.queue,
        title=_title(layout.queue, len(to_end)),
        count=len(to_end),
        unit="session" if len(to_end) == 1 else "sessions",
        predicate=RequeueSessionsText.PREDICATE.render(table=layout.table, duration=duration(timeout))
        + (
            ", ".join(RequeueSessionsText.SESSION.render(session=each.session) for each in to_end[:_MAX_SHOWN])
            or "none"
        )
        + (", …" if len(to_end) > _MAX_SHOWN else ""),
        sql=statements,
        first=_first_rows(ended, preview.payload_shower(context, sql, layout.table, layout.payload)),
        left_out=left_out,
        undo=Undo(possible=False, notes=(RequeueSessionsText.STAY,)),
        consequences=(*_describe_sessions(ended), *_describe_ready(rows)) if to_end else (),
        risks=tuple(_risks()) if to_end else (),
        consent=context.required_consent(),
        refused=refused or (None if to_end else RequeueSessionsText.SESSIONS_ENDED),
    )


def _first_rows(ended: list[_HolderRows], show: preview.ShowPayload) -> tuple[PlanRow, ...]:
    out: list[PlanRow] = []
    for each in ended:
        who = RequeueSessionsText.OWNER.render(
            application=one_line(each.holder.application) or each.holder.login, session=each.holder.session
        )
        for row in each.rows[: MAX_PLAN_ROWS - len(out)]:
            payload = show(row.payload)
            out.append(
                PlanRow(row.id or "–", "in_progress", row.age_s, who, each.state, None, payload and one_line(payload))
            )
    return tuple(out)


def _describe_sessions(ended: list[_HolderRows]) -> Iterable[str]:
    for each in ended[:_MAX_SHOWN]:
        holder = each.holder
        since = (
            ""
            if holder.transaction_s is None
            else RequeueSessionsText.FOR_TIME.render(duration=duration(holder.transaction_s))
        )
        holds = (
            RequeueSessionsText.HOLDS.render(rows=count_text(each.count, "row"))
            if each.count
            else RequeueSessionsText.HOLDS_NONE
        )
        log = "" if holder.log_bytes is None else RequeueSessionsText.LOG.render(size=size(holder.log_bytes))
        who = one_line(holder.application) or RequeueSessionsText.NO_APPLICATION
        yield RequeueSessionsText.DESCRIPTION.render(
            session=holder.session, who=who, login=holder.login, state=holder.state, since=since, holds=holds, log=log
        )
    if len(ended) > _MAX_SHOWN:
        yield RequeueSessionsText.MORE.render(count=len(ended) - _MAX_SHOWN)


def _describe_ready(rows: int) -> Iterable[str]:
    if rows:
        yield RequeueSessionsText.READY_AGAIN.render(messages=count_text(rows, "message"))


def _risks() -> Iterable[str]:
    yield (RequeueSessionsText.CANNOT_COMMIT)


def _title(queue: str, sessions: int) -> str:
    if sessions == 1:
        return RequeueSessionsText.TITLE_ONE.render(queue=queue)
    return RequeueSessionsText.TITLE.render(
        sessions=count_text(sessions, "session") if sessions else "sessions", queue=queue
    )
