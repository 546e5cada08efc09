"""Verdicts about the server under a queue: vacuum, page latches, the log, deadlocks, statistics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from qmon.model.figure import Severity
from qmon.model.formatting import duration, milliseconds, percent, short_statement, size
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.rates.queue_use import IndexUse, QueueUse
from qmon.model.samples.deadlock_samples import Circle, CircleSample
from qmon.model.samples.horizon_samples import HorizonSample, VersionStoreSample
from qmon.model.samples.usage_samples import StatisticsSample
from qmon.model.samples.wait_samples import LatchSample
from qmon.model.snapshot import QueueSamples
from qmon.model.verdicts.rule import Rule, RuleInput, holds_always, is_uncounted
from qmon.model.waits.horizon_holders import holder_name, holder_text, long_holder
from qmon.model.waits.meanings import LOG_WAITS, PAGE_LATCHES
from qmon.model.waits.wait_rates import WaitRate
from qmon.texts import Text


class ServerVerdictText(Text):
    """Proofs about the server."""

    SERVER_LOG = "the server's log"
    EVENT_SESSION = "the event session system_health"
    STATISTICS_UPDATED_OFTEN = "the statistics of {table} were updated {times} times in the last 20 s"
    STATISTICS_NEVER_UPDATED = "statistics never updated"
    STATISTICS_UPDATED = "statistics updated {age} ago"
    NO_ROWS = "no rows"
    ROWS = "{rows:,} rows"
    PLANS_ASSUME = "plans assume {believed} in {table}, which has {rows:,} ({when}): run {command}"
    QUEUE_TABLE = "the queue's table"
    DEADLOCKS = "{count:,} deadlocks in the last minute"
    DEADLOCKED_SESSIONS = "{text}; these sessions waited for each other just before one: {sessions}"
    DEADLOCK_REPORTS = "{text}; their statements are in {place}"
    DEADLOCK_SESSION = "session {session}{who}: {statement}"
    COMMITS_WAIT = "{sessions:.1f} of {busy:.1f} active sessions wait for the log ({names})"
    PER_COMMIT = "{time} per commit"
    COMMITS = "{rate:,.0f} commits/s"
    MESSAGES_PER_COMMIT = "{messages:.1f} messages per commit; batches of {batch} would allow {rate:,.0f} messages/s"
    PAGES_WAIT = "{sessions:.1f} of {busy:.1f} active sessions wait for a page of {place} ({names})"
    INDEX = "index {index} of {table}"
    MOST_FOR_PAGE = ", most sessions for page {page}"
    HOT_PLACE = "{place}, which has {share} of these waits{page}{sequential}"
    SEQUENTIAL_KEY = "; OPTIMIZE_FOR_SEQUENTIAL_KEY is {state}"
    MOST_FOR = ", most for page {page}"
    TABLE_OR_INDEXES = "{table} or its index{plural} {names}"
    DEAD_ROWS = "{count:,} dead row{plural}"
    ROWS_BEFORE = ", {count:,.1f} before"
    VACUUM_HELD_BACK_PER_POP = "{holder} keeps vacuum from removing {dead}: {rows:,.0f} rows touched per pop{before}"
    VACUUM_HELD_BACK = "{holder} keeps vacuum from removing {dead}"
    OF_ALL_DATABASES = " of all databases"
    VERSIONS_KEPT = "{holder} keeps {size} of row versions{whose}"
    READS_PER_POP = "{kept}: {reads:,.0f} logical reads per pop, {before:,.1f} before"
    PER_POPPED_MESSAGE = "{rows:,.0f} per popped message"
    NO_MESSAGE_POPPED = "and no message is popped"
    GHOSTS_SKIPPED = "scans skip {rate:,.0f} ghost records/s on this server, {each}; this queue makes {made:,.0f}/s"


# Statistics matter only if the table has at least this many rows. With fewer rows any plan is good enough.
STALE_ROWS: Final = 10_000
STALE_TIMES: Final = 10.0

# If statistics are updated this often in 20 seconds, the updates cost more than they gain.
ANALYZED_OFTEN: Final = 4


# By engine: the statement that updates statistics, and the place where the server keeps the statements of deadlocks.
_REFRESH: Final = {"postgres": "ANALYZE", "sqlserver": "UPDATE STATISTICS"}
DEADLOCK_REPORTS: Final = {"postgres": ServerVerdictText.SERVER_LOG, "sqlserver": ServerVerdictText.EVENT_SESSION}

# Probes that show which tables belong to the queue.
_TOTALS: Final = ("counters", "table_counters")


def _statistics_proof(context: RuleInput) -> str | None:
    use = context.queue.use
    if use is not None and use.analyzed >= ANALYZED_OFTEN:
        return ServerVerdictText.STATISTICS_UPDATED_OFTEN.render(table=_table_text(context, 0), times=use.analyzed)
    if context.layout is None or context.layout.routines or context.samples is None or context.snapshot is None:
        return None  # the statements of installed designs do not depend on statistics
    tables = [c.table_id for c in (context.samples.counters, context.samples.data_counters) if c is not None]
    for sample in context.snapshot.statistics or ():
        if sample.table_id in tables and _is_stale(sample):
            when: str = ServerVerdictText.STATISTICS_NEVER_UPDATED
            if sample.updated_at is not None:
                when = ServerVerdictText.STATISTICS_UPDATED.render(
                    age=duration(context.snapshot.sampled_at - sample.updated_at)
                )
            believed = (
                ServerVerdictText.NO_ROWS
                if sample.estimated_rows is None
                else ServerVerdictText.ROWS.render(rows=sample.estimated_rows)
            )
            name = _table_text(context, tables.index(sample.table_id))
            helps = _REFRESH[context.snapshot.engine]
            return ServerVerdictText.PLANS_ASSUME.render(
                believed=believed, table=name, rows=sample.rows, when=when, command=helps
            )
    return None


def _is_stale(sample: StatisticsSample) -> bool:
    known, rows = sample.estimated_rows or 0, sample.rows
    most, least = max(known, rows), max(1, min(known, rows))
    return most >= STALE_ROWS and most >= STALE_TIMES * least and sample.modified > 0


def _table_text(context: RuleInput, place: int) -> str:
    layout = context.layout
    named: ObjectName | None = None
    if layout is not None:
        named = layout.table if place == 0 else layout.data_table
    return str(named) if named is not None else ServerVerdictText.QUEUE_TABLE


# The hold time allows for the server's own maintenance: PostgreSQL's autovacuum runs once a minute.
STATISTICS = Rule(
    "statistics", Severity.NOTICE, 75.0, _statistics_proof, probes=("statistics", "uses", *_TOTALS), unread=is_uncounted
)


# Minimum number of deadlocks in a minute. After a single deadlock, the program retries and no harm is done.
MIN_DEADLOCKS: Final = 2

# Maximum seconds since the last deadlock.
RECENT_S: Final = 6.0
_VERBS: Final = ("push", "push_batch", "pop", "pop_batch", "complete", "complete_batch", "fail", "requeue", "archive")


def _deadlocks_proof(context: RuleInput) -> str | None:
    found = context.target.deadlocks
    if found is None or found.count < MIN_DEADLOCKS or found.last_s is None or found.last_s > RECENT_S:
        return None
    if context.layout is None or context.snapshot is None:
        return None
    text = ServerVerdictText.DEADLOCKS.render(count=found.count)
    mine = [circle for circle in found.circles if is_about(circle, context.samples, context.layout)]
    if mine:
        return ServerVerdictText.DEADLOCKED_SESSIONS.render(text=text, sessions=circle_text(mine[-1]))
    if found.circles or len(context.snapshot.queues) > 1:
        return None  # the deadlocks are on another queue, or the queue is unknown
    return ServerVerdictText.DEADLOCK_REPORTS.render(text=text, place=DEADLOCK_REPORTS[context.snapshot.engine])


def is_about(circle: Circle, samples: QueueSamples | None, layout: Layout) -> bool:
    """Return whether sessions of the circle wait for a table of this queue or name it in their statements."""
    tables = {c.table_id for c in (samples.counters, samples.data_counters) if c is not None} if samples else set()
    if any(member.table_id in tables for member in circle.members):
        return True
    if any(member.table_id is not None for member in circle.members):
        return False
    routines = (layout.routine_for(verb) for verb in _VERBS)
    names = {name.name for name in (layout.table, layout.data_table, *routines) if name is not None}
    words = [re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE) for name in names]
    return any(word.search(member.statement) for member in circle.members for word in words)


def circle_text(circle: Circle) -> str:
    """Return up to three sessions of a circle with their statements, on one line."""
    return " and ".join(_member_text(member) for member in circle.members[:3])


def _member_text(member: CircleSample) -> str:
    who = f" ({member.application})" if member.application else ""
    return ServerVerdictText.DEADLOCK_SESSION.render(
        session=member.session, who=who, statement=short_statement(member.statement)
    )


DEADLOCKS = Rule(
    "deadlocks",
    Severity.WARNING,
    0.0,
    _deadlocks_proof,
    keys={"4": holds_always},
    probes=("deadlock_graphs", "circles", *_TOTALS),
)


# Minimum share of active sessions that wait for the log.
LOG_SHARE: Final = 0.5

# If a commit waits this many seconds for the log, the disk is slow, even if the commit contains many messages. A
# healthy disk needs a few milliseconds, even for many commits at a time.
SLOW_COMMIT_S: Final = 0.02
_MIN_SESSIONS: Final = 0.8

# Commits limit the rate if the messages moved (pushed, popped, completed) per commit are in this range.
_MESSAGES_PER_COMMIT: Final = (0.3, 2.0)

# Minimum share of active sessions that wait only for the log, if the disk is not slow.
_MIN_CEILING_SHARE: Final = 0.8
_BATCH: Final = 10


def _log_proof(context: RuleInput) -> str | None:
    waiting, commits = context.target.waiting, context.target.commits
    moved = (context.push_rate.value or 0.0) + (context.pops or 0.0) + (context.completes or 0.0)
    if waiting is None or moved <= 0:
        return None
    log = waiting.rates_for(LOG_WAITS)
    sessions = sum(rate.sessions for rate in log)
    if sessions < _MIN_SESSIONS or sessions < LOG_SHARE * waiting.busy:
        return None
    counted = [rate.each_s for rate in log if rate.each_s is not None]
    each = max(counted) if counted else sessions / commits if commits else None
    slow = each is not None and each >= SLOW_COMMIT_S
    a_commit = moved / commits if commits else None
    at_ceiling = (
        a_commit is not None
        and _MESSAGES_PER_COMMIT[0] <= a_commit <= _MESSAGES_PER_COMMIT[1]
        and sessions >= _MIN_CEILING_SHARE * waiting.busy
    )
    if not slow and not at_ceiling:
        return None
    names = ", ".join(rate.name for rate in log[:3])
    proof = ServerVerdictText.COMMITS_WAIT.render(sessions=sessions, busy=waiting.busy, names=names)
    limits = []
    if each is not None:
        limits.append(ServerVerdictText.PER_COMMIT.render(time=milliseconds(each * 1000)))
    if commits is not None:
        limits.append(ServerVerdictText.COMMITS.render(rate=commits))
    if commits is not None and a_commit is not None and at_ceiling:
        limits.append(
            ServerVerdictText.MESSAGES_PER_COMMIT.render(messages=a_commit, batch=_BATCH, rate=_BATCH * commits)
        )
    return f"{proof}: {', '.join(limits)}" if limits else proof


def _are_waits_unread(context: RuleInput) -> bool:
    return context.target.waiting is None


LOG = Rule(
    "log-bound",
    Severity.WARNING,
    8.0,
    _log_proof,
    cause=lambda _: "the log",
    keys={"3": holds_always},
    probes=("wait_totals", "server_counters"),
    unread=_are_waits_unread,
)


# Minimum share of active sessions that wait for a page in memory.
LATCH_SHARE: Final = 0.25
LATCH_SESSIONS: Final = 2.0


def _latch_proof(context: RuleInput) -> str | None:
    waiting, seen = context.target.waiting, context.snapshot.latches if context.snapshot is not None else None
    if waiting is None or not seen or context.samples is None or context.layout is None:
        return None
    rates = waiting.rates_for(PAGE_LATCHES)
    sessions = sum(rate.sessions for rate in rates)
    if sessions < LATCH_SESSIONS or sessions < LATCH_SHARE * waiting.busy:
        return None
    tables = {c.table_id for c in (context.samples.counters, context.samples.data_counters) if c is not None}
    mine = [each for each in seen if each.table_id in tables]
    names = ", ".join(rate.name for rate in rates[:2])
    told = {each.session for each in seen if each.table_id is not None}
    if 2 * len(told) < len({each.session for each in seen}):
        place = _hot_index_text(context, rates, seen)
        if not place:
            return None
    elif 2 * len({each.session for each in mine}) < len(told):
        return None  # most of the sessions work on something else
    else:
        place = _hot_page_text(context, mine)
    return ServerVerdictText.PAGES_WAIT.render(sessions=sessions, busy=waiting.busy, place=place, names=names)


def _hot_index_text(context: RuleInput, rates: Sequence[WaitRate], latches: Sequence[LatchSample]) -> str:
    """Return the queue's index with the most page waits, or an empty text if most page waits are on other tables.

    This function is for servers that do not report the page's index, but count page waits per index.
    """
    every = sum(rate.per_s or 0.0 for rate in rates)
    parts = context.queue.use.parts if context.queue.use is not None else ()
    own = sum(part.latch_waits or 0.0 for part in parts)
    if not every or 2 * own < every:
        return ""
    most = max(parts, key=lambda part: part.latch_waits or 0.0)
    table = _table_text(context, 0)
    place = table if most.role == "table" else ServerVerdictText.INDEX.render(index=most.name, table=table)
    share = min(1.0, (most.latch_waits or 0.0) / every)
    page = Counter(each.page for each in latches if each.page).most_common(1)
    hot = ServerVerdictText.MOST_FOR_PAGE.render(page=page[0][0]) if page else ""
    return ServerVerdictText.HOT_PLACE.render(place=place, share=percent(share), page=hot, sequential=_sequential(most))


def _sequential(part: IndexUse | None) -> str:
    if part is None or part.sequential is None:
        return ""
    return ServerVerdictText.SEQUENTIAL_KEY.render(state="on" if part.sequential else "off")


def _hot_page_text(context: RuleInput, latches: Sequence[LatchSample]) -> str:
    """Return the index and page if the server reports them, else all indexes, sorted by pages read."""
    table = str(context.layout.table) if context.layout is not None else ""
    parts = context.queue.use.parts if context.queue.use is not None else ()
    known = Counter((each.index_id, each.page) for each in latches if each.index_id is not None)
    if known:
        (index, page), _ = known.most_common(1)[0]
        part = next((part for part in parts if part.id == index), None)
        place = ServerVerdictText.INDEX.render(index=part.name, table=table) if part is not None and index else table
        return f"{place}{ServerVerdictText.MOST_FOR.render(page=page) if page else ''}{_sequential(part)}"
    indexes = sorted((p for p in parts if p.role != "table"), key=lambda part: -(part.pages or 0.0))
    if not indexes:
        return table
    names = ", ".join(part.name for part in indexes[:3])
    return ServerVerdictText.TABLE_OR_INDEXES.render(table=table, plural="" if len(indexes) == 1 else "es", names=names)


LATCH = Rule(
    "latch-bound",
    Severity.WARNING,
    8.0,
    _latch_proof,
    keys={"3": holds_always},
    probes=("latches", "waits", "wait_totals", *_TOTALS),
    unread=lambda context: _are_waits_unread(context) or is_uncounted(context),
)


# Minimum rows touched per pop, as a multiple of the rows per pop before the holder started.
MIN_ROWS_RATIO: Final = 3.0

# Fewer rows touched per pop are not reported.
MIN_ROWS: Final = 10.0

# This many rows touched per pop are too many, even if there are no values from before the holder started.
MANY_ROWS: Final = 50.0
_DEAD: Final = 10_000
_DEAD_S: Final = 60.0

# Fewer pages read per pop are the normal cost of a few indexes and are not reported (SQL Server).
MIN_READS: Final = 50.0

# Minimum ghost records skipped per second (SQL Server). Fewer may come from qmon's own scans alone.
MANY_GHOSTS: Final = 1_000.0

# A queue is the cause of skipped ghosts if it makes at least this share of the ghosts of all watched queues.
GHOSTS_SHARE: Final = 0.5

# Bytes of row versions that slow down the whole server (SQL Server).
LARGE_BYTES: Final = 2**30


def _horizon_proof(context: RuleInput) -> str | None:
    holder = long_holder(context.snapshot.horizon) if context.snapshot is not None else None
    use = context.queue.use
    if holder is None or use is None:
        return None
    if use.dead is None and context.snapshot is not None and context.snapshot.version_store is not None:
        return _versions_proof(holder, context.snapshot.version_store, use, _ghosts(context))
    dead = ServerVerdictText.DEAD_ROWS.render(count=use.dead or 0, plural="" if use.dead == 1 else "s")
    if _is_slow(use):
        then = ServerVerdictText.ROWS_BEFORE.render(count=use.before) if use.before is not None else ""
        return ServerVerdictText.VACUUM_HELD_BACK_PER_POP.render(
            holder=holder_text(holder), dead=dead, rows=use.rows_per_pop.value or 0, before=then
        )
    many = (use.dead or 0) >= max(_DEAD, 2.0 * (context.ready.value or 0.0))
    if many and (holder.held_s is None or holder.held_s >= _DEAD_S):
        return ServerVerdictText.VACUUM_HELD_BACK.render(holder=holder_text(holder), dead=dead)
    return None


def _versions_proof(holder: HorizonSample, store: VersionStoreSample, use: QueueUse, ghosts: str | None) -> str | None:
    """Return the proof for a server that keeps old rows in a version store. ``ghosts``: the result of ``_ghosts``."""
    whose = ServerVerdictText.OF_ALL_DATABASES if store.whole_server else ""
    keeps = ServerVerdictText.VERSIONS_KEPT.render(holder=holder_text(holder), size=size(store.total), whose=whose)
    reads = use.touched_per_pop.value
    if reads is not None and use.before is not None and reads >= max(MIN_READS, MIN_ROWS_RATIO * use.before):
        return ServerVerdictText.READS_PER_POP.render(kept=keeps, reads=reads, before=use.before)
    if ghosts:
        return f"{keeps}: {ghosts}"
    return keeps if store.total >= LARGE_BYTES and (holder.held_s is None or holder.held_s >= _DEAD_S) else None


def _ghosts(context: RuleInput) -> str | None:
    """Return how many ghosts scans skip per popped message, if there are many ghosts and most belong to this queue.

    The server counts skipped ghosts for all tables together, but new ghosts per index. The queue must therefore make at
    least half of the new ghosts of all watched queues. Pops that are rolled back also make ghosts, so there may be
    ghosts even if no message is popped.
    """
    found, pops = context.target.ghosts, context.pops
    made = context.queue.use.ghosts_per_s if context.queue.use is not None else None
    if found is None or not made or pops is None or found.skipped < max(MANY_GHOSTS, MANY_ROWS * pops):
        return None
    if not pops and not context.ready.value:
        return None
    if made < GHOSTS_SHARE * found.made:
        return None
    each = (
        ServerVerdictText.PER_POPPED_MESSAGE.render(rows=found.skipped / pops)
        if pops
        else ServerVerdictText.NO_MESSAGE_POPPED
    )
    return ServerVerdictText.GHOSTS_SKIPPED.render(rate=found.skipped, each=each, made=made)


def _is_slow(use: QueueUse) -> bool:
    rows = use.rows_per_pop.value
    if rows is None or rows < MIN_ROWS or not use.dead:
        return False
    return rows >= MANY_ROWS if use.before is None else rows >= MIN_ROWS_RATIO * max(use.before, 1.0)


def _holder_name(context: RuleInput) -> str:
    holder = long_holder(context.snapshot.horizon) if context.snapshot is not None else None
    return holder_name(holder) if holder is not None else ""


CLEANUP_BEHIND = Rule(
    "cleanup behind",
    Severity.WARNING,
    8.0,
    _ghosts,
    keys={"3": holds_always},
    probes=("server_counters", "table_counters"),
    unread=is_uncounted,
)


HORIZON = Rule(
    "cleanup held back",
    Severity.WARNING,
    4.0,
    _horizon_proof,
    explains=(CLEANUP_BEHIND.code,),
    cause=_holder_name,
    keys={"3": holds_always},
    probes=("uses", "version_store", "procedures"),
    unread=lambda context: context.snapshot is None or context.snapshot.horizon is None or context.queue.use is None,
)
