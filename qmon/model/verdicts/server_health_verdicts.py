"""Verdicts about server health: the log, replicas, tempdb, limits, plans, failover."""

from __future__ import annotations

from typing import Final

from qmon.model.figure import Severity
from qmon.model.formatting import count_text, duration, number, percent, size
from qmon.model.samples.server_state_samples import (
    LimitsSample,
    LogSample,
    ReplicationSample,
    ServerState,
    TempSpaceSample,
)
from qmon.model.statement_use import StatementUse, statement_uses
from qmon.model.verdicts.rule import Condition, Rule, RuleInput, holds_always
from qmon.texts import Text


class ServerHealthText(Text):
    """Proofs about the health of the server."""

    LOG_BACKUP = "back up the log to free it"
    ACTIVE_TRANSACTION = "it is free when the oldest transaction ends"
    AVAILABILITY_REPLICA = "a secondary has not received or redone it yet"
    DATABASE_MIRRORING = "the mirror has not received it yet"
    REPLICATION = "replication or change data capture has not read it yet"
    BACKUP_OR_RESTORE = "it is free when the running backup or restore ends"
    CHECKPOINT = "it is free after the next checkpoint"
    MEMORY_CHECKPOINT = "it is free after the next checkpoint of memory-optimized tables"
    SNAPSHOT_CREATION = "a database snapshot is being created"
    LOG_USED = "{share} of the log is used ({used} of {most})"
    LOG_FREE = "{text}; nothing holds it"
    LOG_HELD = "{text}, held by {holder}{freed}"
    LAST_BACKUP = ", last backup {age} ago"
    OLDEST_WRITER = ", oldest writer in this database: session {session} for {age}"
    NOT_SYNCHRONIZING = "not synchronizing"
    SUSPENDED = "suspended ({reason})"
    NOT_SENT = "not sent"
    NOT_REDONE = "not redone"
    SYNCHRONOUS = "{replica} (synchronous)"
    ASYNCHRONOUS = "{replica} (asynchronous)"
    A_SECONDARY = "a secondary"
    ALSO = "; also {others}"
    REPLICA_NOT_SYNCHRONIZED = "{replica} is {why}{missing}{more}; a failover to it would lose the missing changes"
    REPLICA_BEHIND = "{replica} is {age} behind{missing}"
    ROW_VERSIONS = "row versions"
    SORTS_AND_JOINS = "sorts and joins"
    TEMPORARY_TABLES = "temporary tables"
    TEMPDB_SESSION = "; session {session} holds {size}"
    TEMPDB_USED = "{share} of tempdb is used ({used} of {most}): {parts}{who}"
    PROCESSOR_TIME = "processor time"
    READS_AND_WRITES = "reads and writes"
    LOG_WRITES = "log writes"
    POOL = "the elastic pool{pool}"
    DATABASE = "the database"
    LIMIT_REACHED = "{parts} of the limit of {limited}; the server slows statements down"
    KEPT_AWAKE = (
        "only qmon is connected to this serverless database ({objective}); qmon's polls keep the database from pausing"
        " and are billed"
    )
    OF_PROCEDURE = " of {routine}"
    CREATED = " (created {age} ago)"
    PAGES_NOW = "{pages} pages per call with plan {plan}{made}"
    PAGES_BEFORE = "{pages} in the days before with plan {plan}"
    PLAN_WORSE = "statement {statement}{where} reads {now}; {before}"
    FAILED_OVER = "failed over {age} ago from {before} to {now}; counters started at 0 again"


# If the log uses this share of its maximum size, the next write may fail.
FULL: Final = 0.95
FILLING: Final = 0.8

# Meaning of SQL Server's `log_reuse_wait_desc` (documentation of `sys.databases`).
FREED_BY: Final = {
    "LOG_BACKUP": ServerHealthText.LOG_BACKUP,
    "ACTIVE_TRANSACTION": ServerHealthText.ACTIVE_TRANSACTION,
    "AVAILABILITY_REPLICA": ServerHealthText.AVAILABILITY_REPLICA,
    "DATABASE_MIRRORING": ServerHealthText.DATABASE_MIRRORING,
    "REPLICATION": ServerHealthText.REPLICATION,
    "ACTIVE_BACKUP_OR_RESTORE": ServerHealthText.BACKUP_OR_RESTORE,
    "CHECKPOINT": ServerHealthText.CHECKPOINT,
    "OLDEST_PAGE": ServerHealthText.CHECKPOINT,
    "XTP_CHECKPOINT": ServerHealthText.MEMORY_CHECKPOINT,
    "DATABASE_SNAPSHOT_CREATION": ServerHealthText.SNAPSHOT_CREATION,
}


def _server_state(context: RuleInput) -> ServerState | None:
    return context.snapshot.server_state if context.snapshot is not None else None


def _is_unread(probe: str) -> Condition:
    """Return a condition that is true if this probe has not returned anything."""
    return lambda context: (state := _server_state(context)) is None or probe not in state.read_at


def log_share_used(log: LogSample) -> float | None:
    """Return the used share of the log's maximum size, 0 to 1, or ``None`` if the maximum is unlimited or unknown."""
    return log.used / log.most if log.used is not None and log.most else None


def _log_proof(context: RuleInput, least: float) -> str | None:
    """Return the proof that at least this share of the log is used."""
    state = _server_state(context)
    log = state.log if state is not None else None
    used = log_share_used(log) if log is not None else None
    if log is None or used is None or used < least:
        return None
    text = ServerHealthText.LOG_USED.render(share=percent(used), used=size(log.used or 0), most=size(log.most or 0))
    if not log.held_by:
        return ServerHealthText.LOG_FREE.render(text=text)
    return ServerHealthText.LOG_HELD.render(text=text, holder=log.held_by, freed=_freed_by_text(context, log))


def _freed_by_text(context: RuleInput, log: LogSample) -> str:
    """Return what would free the log, and the session that holds the log if the session is known."""
    words = FREED_BY.get(log.held_by, "")
    known = ""
    if log.held_by == "LOG_BACKUP" and log.saved_s is not None:
        known = ServerHealthText.LAST_BACKUP.render(age=duration(log.saved_s))
    elif log.held_by == "ACTIVE_TRANSACTION":
        known = _oldest_writer_text(context)
    return f": {words}{known}" if words else ""


def _oldest_writer_text(context: RuleInput) -> str:
    writers = context.snapshot.writers if context.snapshot is not None else None
    oldest = max(writers or (), key=lambda writer: writer.transaction_s or 0.0, default=None)
    if oldest is None or oldest.transaction_s is None:
        return ""
    return ServerHealthText.OLDEST_WRITER.render(session=oldest.session, age=duration(oldest.transaction_s))


LOG_FULL = Rule(
    "log full",
    Severity.CRITICAL,
    0.0,
    lambda context: _log_proof(context, FULL),
    explains=("log filling",),
    cause=lambda _: "the log",
    keys={"3": holds_always},
    probes=("log",),
    unread=_is_unread("log"),
    of_target=True,
)
LOG_FILLING = Rule(
    "log filling",
    Severity.WARNING,
    0.0,
    lambda context: _log_proof(context, FILLING),
    cause=lambda _: "the log",
    keys={"3": holds_always},
    probes=("log",),
    unread=_is_unread("log"),
    of_target=True,
)


# A replica is reported if its commits lag by at least this many seconds.
BEHIND_S: Final = 60.0
_NOT_SYNCHRONIZING: Final = ServerHealthText.NOT_SYNCHRONIZING


def stopped_reason(copy: ReplicationSample) -> str:
    """Return why a replica receives nothing.

    The text is empty if the replica receives data or if its state is unknown.
    """
    if copy.suspended:
        return ServerHealthText.SUSPENDED.render(reason=copy.suspended)
    if copy.connected is False:
        return "disconnected"
    return _NOT_SYNCHRONIZING if copy.state == _NOT_SYNCHRONIZING else ""


def missing_log_text(copy: ReplicationSample) -> str:
    """Return the log that a replica lacks: ``120 MB not sent, 800 MB not redone``."""
    known = ((copy.unsent, ServerHealthText.NOT_SENT), (copy.unredone, ServerHealthText.NOT_REDONE))
    return ", ".join(f"{size(value)} {what}" for value, what in known if value)


def replica_text(copy: ReplicationSample) -> str:
    """Return the name of a replica and whether commits wait for it."""
    name = copy.name or ServerHealthText.A_SECONDARY
    return (
        name
        if copy.synchronous is None
        else (ServerHealthText.SYNCHRONOUS if copy.synchronous else ServerHealthText.ASYNCHRONOUS).render(replica=name)
    )


def _stopped_replicas(context: RuleInput) -> tuple[tuple[ReplicationSample, str], ...]:
    state = _server_state(context)
    return tuple((copy, why) for copy in state.replicas if (why := stopped_reason(copy))) if state is not None else ()


def _not_synchronizing_proof(context: RuleInput) -> str | None:
    found = _stopped_replicas(context)
    if not found:
        return None
    (copy, why), *others = found
    missing = f"; {missing_log_text(copy)}" if missing_log_text(copy) else ""
    more = ServerHealthText.ALSO.render(others=count_text(len(others), "other")) if others else ""
    return ServerHealthText.REPLICA_NOT_SYNCHRONIZED.render(
        replica=replica_text(copy), why=why, missing=missing, more=more
    )


def _first_stopped(context: RuleInput) -> str:
    found = _stopped_replicas(context)
    return found[0][0].name if found else ""


NOT_SYNCHRONIZING = Rule(
    "replica not synchronizing",
    Severity.WARNING,
    20.0,
    _not_synchronizing_proof,
    explains=("replica behind",),
    cause=_first_stopped,
    keys={"3": holds_always},
    probes=("replication",),
    unread=_is_unread("replication"),
    of_target=True,
)


def _most_behind(context: RuleInput) -> ReplicationSample | None:
    state = _server_state(context)
    late = [copy for copy in state.replicas if (copy.behind_s or 0.0) >= BEHIND_S] if state is not None else []
    return max(late, key=lambda copy: copy.behind_s or 0.0, default=None)


def _behind_proof(context: RuleInput) -> str | None:
    copy = _most_behind(context)
    if copy is None:
        return None
    missing = f": {missing_log_text(copy)}" if missing_log_text(copy) else ""
    return ServerHealthText.REPLICA_BEHIND.render(
        replica=replica_text(copy), age=duration(copy.behind_s or 0.0), missing=missing
    )


def _name_behind(context: RuleInput) -> str:
    copy = _most_behind(context)
    return copy.name if copy is not None else ""


REPLICA_BEHIND = Rule(
    "replica behind",
    Severity.NOTICE,
    20.0,
    _behind_proof,
    cause=_name_behind,
    keys={"3": holds_always},
    probes=("replication",),
    unread=_is_unread("replication"),
    of_target=True,
)


# If tempdb uses this share of its maximum size, the next sort or row version may fail.
TEMP_FILLING_AT: Final = 0.9


def temp_share_used(sample: TempSpaceSample) -> float | None:
    """Return the used share of tempdb's maximum size, 0 to 1, or ``None`` if the size is unknown."""
    return sample.used / sample.most if sample.used is not None and sample.most else None


def _temp_filling_proof(context: RuleInput) -> str | None:
    state = _server_state(context)
    found = state.temp_space if state is not None else None
    used = temp_share_used(found) if found is not None else None
    if state is None or found is None or used is None or used < TEMP_FILLING_AT:
        return None
    parts = (
        (found.versions, ServerHealthText.ROW_VERSIONS),
        (found.internal, ServerHealthText.SORTS_AND_JOINS),
        (found.objects, ServerHealthText.TEMPORARY_TABLES),
    )
    told = ", ".join(f"{size(value)} {what}" for value, what in parts if value)
    most = state.temp_sessions[0] if state.temp_sessions else None
    who = (
        ServerHealthText.TEMPDB_SESSION.render(session=most.session, size=size(most.total_bytes))
        if most is not None
        else ""
    )
    return ServerHealthText.TEMPDB_USED.render(
        share=percent(used), used=size(found.used or 0), most=size(found.most or 0), parts=told, who=who
    )


TEMP_FILLING = Rule(
    "tempdb filling",
    Severity.WARNING,
    0.0,
    _temp_filling_proof,
    cause=lambda _: "tempdb",
    keys={"3": holds_always},
    probes=("temp_space",),
    unread=_is_unread("temp_space"),
    of_target=True,
)


AT_LIMIT_AT: Final = 0.95

# Names of the fields of `LimitsSample`. Memory is not included, because the cache uses all memory.
LIMITED: Final = {
    "cpu": ServerHealthText.PROCESSOR_TIME,
    "data_io": ServerHealthText.READS_AND_WRITES,
    "log_write": ServerHealthText.LOG_WRITES,
    "workers": "workers",
    "sessions": "sessions",
    "storage": "storage",
}


def limits_reached(limits: LimitsSample | None) -> tuple[str, ...]:
    """Return the limits that are reached, each with the used share, fullest first."""
    shares = [(getattr(limits, field), what) for field, what in LIMITED.items()] if limits is not None else []
    full = sorted(((share, what) for share, what in shares if share is not None and share >= AT_LIMIT_AT), reverse=True)
    return tuple(f"{what} {percent(share)}" for share, what in full)


def _at_limit_proof(context: RuleInput) -> str | None:
    state = _server_state(context)
    if state is None:
        return None
    objective = state.service.objective if state.service is not None and not state.service.pooled else ""
    pool = ServerHealthText.POOL.render(
        pool=f" {state.service.pool}" if state.service is not None and state.service.pool else ""
    )
    for full, of in (
        (limits_reached(state.limits), objective or ServerHealthText.DATABASE),
        (limits_reached(state.pool_limits), pool),
    ):
        if full:
            return ServerHealthText.LIMIT_REACHED.render(parts=", ".join(full), limited=of)
    return None


AT_LIMIT = Rule(
    "at its limit",
    Severity.WARNING,
    45.0,
    _at_limit_proof,
    cause=lambda _: "the service's limits",
    keys={"3": holds_always},
    probes=("limits", "pool_limits"),
    unread=_is_unread("limits"),
    of_target=True,
)


# Minimum seconds without connections after which a serverless database may pause.
ALONE_S: Final = 900.0


def _kept_awake_proof(context: RuleInput) -> str | None:
    state = _server_state(context)
    if context.snapshot is None or state is None or state.service is None or not state.service.serverless:
        return None
    if context.snapshot.server.sessions or not context.snapshot.server.sees_sessions:
        return None  # other sessions also keep the database awake, or our role cannot see other sessions
    return ServerHealthText.KEPT_AWAKE.render(objective=state.service.objective)


KEPT_AWAKE = Rule(
    "kept awake",
    Severity.NOTICE,
    ALONE_S,
    _kept_awake_proof,
    cause=lambda _: "qmon",
    keys={"q": holds_always},
    probes=("service",),
    unread=_is_unread("service"),
    of_target=True,
)


def _regressed_use(context: RuleInput) -> StatementUse | None:
    """Return the statement of the queue whose plan got worst, or ``None`` if no plan got worse."""
    mine = context.target.plans.get(context.layout.queue) if context.layout is not None else None
    use = next(iter(statement_uses(mine.plans)), None) if mine is not None else None
    return use if use is not None and use.is_regressed else None


def _regressed_proof(context: RuleInput) -> str | None:
    use = _regressed_use(context)
    if use is None or use.plan_before is None:
        return None
    where = ServerHealthText.OF_PROCEDURE.render(routine=use.plan.routine) if use.plan.routine else ""
    made = "" if use.plan.age_s is None else ServerHealthText.CREATED.render(age=duration(use.plan.age_s))
    now = ServerHealthText.PAGES_NOW.render(pages=number(use.reads or 0.0), plan=use.plan.plan_id, made=made)
    before = ServerHealthText.PAGES_BEFORE.render(pages=number(use.reads_before or 0.0), plan=use.plan_before.plan_id)
    return ServerHealthText.PLAN_WORSE.render(statement=use.plan.statement_id, where=where, now=now, before=before)


def _are_plans_unread(context: RuleInput) -> bool:
    return context.layout is not None and context.layout.queue not in context.target.plans


PLAN_REGRESSED = Rule(
    "plan regressed",
    Severity.WARNING,
    0.0,
    _regressed_proof,
    keys={"3": holds_always},
    probes=("plans", "plan_history"),
    unread=_are_plans_unread,
)


def _failed_over_proof(context: RuleInput) -> str | None:
    seen = context.target.failed_over
    if seen is None or context.snapshot is None:
        return None
    since = duration(max(0.0, context.snapshot.sampled_at - seen.at))
    return ServerHealthText.FAILED_OVER.render(age=since, before=seen.before, now=seen.now)


FAILED_OVER = Rule(
    "failed over",
    Severity.WARNING,
    0.0,
    _failed_over_proof,
    cause=lambda context: context.target.failed_over.now if context.target.failed_over is not None else "",
    keys={"7": holds_always},
    of_target=True,
)
