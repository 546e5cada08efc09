"""Verdicts about the movement of messages: paused, not popped, too slow, stuck, starved, not archived, ring full."""

from __future__ import annotations

from typing import Final

from qmon.model.figure import Severity
from qmon.model.formatting import count_text, duration, percent, rate, time_of_day
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import Side, pause_line
from qmon.model.probe_table import probes_for
from qmon.model.samples.client_samples import ProgramSessionSample
from qmon.model.samples.group_samples import GroupBlockerSample
from qmon.model.samples.message_samples import OwnerSample
from qmon.model.samples.polled_samples import WriterSample
from qmon.model.sessions.clients import ClientsSeen
from qmon.model.sessions.owners import Owners
from qmon.model.trend import Rise
from qmon.model.verdicts.rule import Condition, Rule, RuleInput, holds_always, is_uncounted, may_have_popped
from qmon.texts import Text


class FlowText(Text):
    """Proofs about the movement of messages."""

    NEVER_ARCHIVED = "~{done:,.0f} done messages not archived; no row was ever deleted from the table"
    LONGEST_BREAK = ", longest break before {usual}"
    NOT_ARCHIVED = "~{done:,.0f} done messages not archived; nothing archived for {silent}{before}"
    AGE = " ({age} old)"
    STARVED = (
        "priority {priority} is not popped: message {message}{age} has been first for at least "
        "{still}; other priorities are popped at {pops:,.1f}/s"
    )
    LATE_BY_OWN_TIMEOUT = "longer than their own timeout"
    LATE_BY_TIMEOUT = "more than {timeout}"
    LATE = "{count} in progress for {longer}"
    AT_LEAST = "at least "
    DEAD_OWNER = "{more}{count:,} with a dead owner{owner}"
    LIVE_OWNER = "{more}{count:,} with a live owner{owner}"
    UNKNOWN_OWNER = "{more}{count:,} with an unknown owner{owner}{why}"
    NO_OWNER = "{more}{count:,} without a recorded owner{owner}"
    MESSAGE_OF_OWNER = " ({whose}message {message}{since})"
    FOR = " for {age}"
    AND_MORE = " and {count:,} more"
    PREPARED_HOLDER = "the prepared transaction {transaction} has held them for {age}"
    SESSION_HOLDER = "session {session} ({text}) has held them for {age}"
    OLDEST_FOR = ", the oldest for {age}"
    MORE_BLOCKERS = " and {count:,} more"
    WAIT_FOR = "; they wait for {blockers}{more}"
    BLOCKED = "{more}{count:,.0f} blocked{oldest}{why}{waits}"
    HELD_BY = ", held by {holder}"
    LAST_LEFT = "; the last consumer left {age} ago"
    READY_BUT = "{ready:,.0f} ready, but {why}{gone}"
    IN_SETTING = "matches the consumers setting ({setting})"
    NO_LIBRARY_WORKER = "no worker of the library has reported for this queue"
    HAS_CALLED = "was seen calling {pop}"
    HAS_TAKEN = "was seen taking rows from {table}"
    NO_SESSION = "no connected session {consumer}"
    CONNECTED_SESSION = "connected session"
    OWNER_HAS_HAD = "{owner} has had "
    OWNER_HAS = "{owner} has "
    NONE_OF_THE_SESSIONS = "none of the {sessions} {consumer}"
    ONE_DOES_NOT_POP = "the connected consumer does not pop"
    NONE_POPS = "none of the {count:,} connected consumers pops"
    NOT_CLAIMING = "{ready:,.0f} ready, but {none}{one}"
    SESSION = "session {session}"
    WAITING = ", waiting for {kind}"
    RING_FULL = "{share} of the slots hold messages, so producers wait"
    OLDEST_OF_READY = "{count:,.0f} ready, the oldest for {age}"
    NONE_IN_PROGRESS = "{ready}, but none is in progress"
    NONE_POPPED = "{ready}, but none was popped for {age}"
    LOCK_UNKNOWN = "; it is unknown whether a session has locked it"
    MESSAGE = "message {message}"
    SAME_MESSAGE = "the same message"
    HEAD_STILL = "{ready:,.0f} ready, but {which}{age} has been first in the queue for {still}{unseen}"
    NO_POPS = "{ready:,.0f} ready, but no pops; push {push:,.1f}/s"
    AGES = ", the age of the oldest from {before} to {now}"
    READY_ROSE = "ready rose from {before:,.0f} to {now:,.0f}{ages}, within {over}"
    FALLS_BEHIND = "push {push:,.1f}/s, pop {pop:,.1f}/s: growing {net:,.1f}/s"
    ROLLBACKS = "; {rate:,.1f} rollbacks/s in this database"
    NO_PUSHES = "no pushes for {silent}, {before}/s before{rollbacks}"
    CONSUMERS_NEW = "{slower}; the consumers connected at {since} or later"
    PUSHES_FAIL = "within {time}, ~{failed:,.0f} pushes were rolled back and ~{pushed:,.0f} succeeded{rollbacks}"
    MANY_LATER = "~{later:,.0f} of {pushed:,.0f} messages pushed since {since} are due later"
    DUE_LATER = "{many}; before, {share} were"


def _paused_proof(context: RuleInput) -> str | None:
    return "; ".join(pause_line(pause) for pause in context.pauses) or None


def _paused_sides(*sides: Side) -> Condition:
    return lambda context: {pause.side for pause in context.pauses} == set(sides)


PAUSED = Rule(
    "paused",
    Severity.NOTICE,
    0.0,
    _paused_proof,
    keys={
        "p": _paused_sides(Side.PRODUCERS),
        "P": _paused_sides(Side.CONSUMERS),
        "p P": _paused_sides(Side.PRODUCERS, Side.CONSUMERS),
    },
    probes=("pauses",),
)


_SILENT_S: Final = 20.0

# A silence is usual if the baseline of this hour of the week has a low push rate: a median of at most this share of the
# rate before the silence.
_USUALLY_QUIET: Final = 0.1

# An archiver counts as stopped if it is silent for at least this many times its longest break so far …
_SILENCE_RATIO: Final = 3.0
# … and if the number of done messages is at least this multiple of the highest number at earlier runs.
_DONE_RATIO: Final = 2.0

# Minimum number of done messages if rows have been archived before.
_MIN_DONE: Final = 1_000

# Minimum number of done messages if no row was ever archived.
_MIN_DONE_NEVER_ARCHIVED: Final = 10_000

# Counts of done messages vary a little. They count as growing if they rose by at least this number and this share.
_MIN_GROWTH: Final = 100
_MIN_GROWTH_SHARE: Final = 0.01


def _behind_proof(context: RuleInput) -> str | None:
    """Return the proof that done messages are not archived.

    The proof holds until rows are deleted, even without pushes.
    """
    a = context.queue.archiving
    if a is None or a.silent_s < _SILENT_S or a.grown < max(_MIN_GROWTH, _MIN_GROWTH_SHARE * a.done):
        return None
    if a.usual_s is None or a.most is None:
        never = a.untouched and a.done >= _MIN_DONE_NEVER_ARCHIVED
        return FlowText.NEVER_ARCHIVED.render(done=a.done) if never else None
    if a.silent_s < _SILENCE_RATIO * a.usual_s or a.done < max(_MIN_DONE, _DONE_RATIO * a.most):
        return None
    before = FlowText.LONGEST_BREAK.render(usual=duration(a.usual_s)) if a.usual_s else ""
    return FlowText.NOT_ARCHIVED.render(done=a.done, silent=duration(a.silent_s), before=before)


BEHIND = Rule(
    "archive behind",
    Severity.WARNING,
    10.0,
    _behind_proof,
    probes=probes_for("archiving"),
    unread=is_uncounted,
)


_STILL_S: Final = 20.0

# Minimum number of times that the first messages of other priorities must have changed. One or two changes are normal
# while a message waits.
_MIN_OTHER_MOVES: Final = 5


def _starved_proof(context: RuleInput) -> str | None:
    low = context.queue.starved
    if (
        low is None
        or low.still_s < _STILL_S
        or low.others < _MIN_OTHER_MOVES
        or not context.pops
        or context.is_paused(Side.CONSUMERS)
    ):
        return None
    age = FlowText.AGE.render(age=duration(low.oldest_s)) if low.oldest_s is not None else ""
    return FlowText.STARVED.render(
        priority=low.priority, message=low.head_id, age=age, still=duration(low.still_s), pops=context.pops
    )


STARVED = Rule("priority starved", Severity.WARNING, 10.0, _starved_proof, probes=probes_for("starved"))


def _stuck_proof(context: RuleInput) -> str | None:
    owners = context.queue.owners
    if not context.stuck.value and not (owners is not None and owners.dead):
        return None
    if owners is not None and (text := _owners_text(owners)):
        if not context.stuck.value:
            return text
        return f"{_late_text(context)}: {text}"
    whose = _holders_text(context)
    return _late_text(context) + (f": {whose}" if whose else "")


def _late_text(context: RuleInput) -> str:
    own = context.layout is not None and context.layout.part is not None and context.layout.part.own_timeout
    longer = (
        FlowText.LATE_BY_OWN_TIMEOUT if own else FlowText.LATE_BY_TIMEOUT.render(timeout=duration(context.timeout_s))
    )
    return FlowText.LATE.render(count=_stuck_count_text(context), longer=longer)


def _stuck_count_text(context: RuleInput) -> str:
    return f"{FlowText.AT_LEAST if context.stuck.at_least else ''}{context.stuck.value or 0:,.0f}"


def _owners_text(owners: Owners) -> str:
    more = FlowText.AT_LEAST if owners.at_least else ""
    parts = []
    if owners.dead:
        parts.append(FlowText.DEAD_OWNER.render(more=more, count=owners.dead, owner=_owner_text(owners.dead_one)))
    if owners.alive:
        parts.append(FlowText.LIVE_OWNER.render(more=more, count=owners.alive, owner=_owner_text(owners.alive_one)))
    if owners.unknown:
        why = f": {owners.why}" if owners.why else ""
        parts.append(
            FlowText.UNKNOWN_OWNER.render(
                more=more, count=owners.unknown, owner=_owner_text(owners.unknown_one), why=why
            )
        )
    if owners.none and owners.none_one is not None:
        parts.append(FlowText.NO_OWNER.render(more=more, count=owners.none, owner=_owner_text(owners.none_one)))
    return "; ".join(parts)


def _owner_text(owner: OwnerSample | None) -> str:
    if owner is None:
        return ""
    has = FlowText.OWNER_HAS if owner.age_s is None else FlowText.OWNER_HAS_HAD
    whose = has.render(owner=owner.owner) if owner.owner else ""
    return FlowText.MESSAGE_OF_OWNER.render(whose=whose, message=owner.id, since=_since_text(owner))


def _since_text(owner: OwnerSample) -> str:
    return FlowText.FOR.render(age=duration(owner.age_s)) if owner.age_s is not None else ""


def _holders_text(context: RuleInput) -> str:
    """Return the session with the oldest open transaction, if a message is in progress only during a transaction."""
    if context.samples is None or context.snapshot is None or not context.samples.held:
        return ""
    xids = {held.xid for held in context.samples.held if held.running}
    whose = [
        w for w in context.snapshot.writers or () if w.xid in xids and (w.transaction_s or 0.0) > context.timeout_s
    ]
    if not whose:
        return ""
    oldest = max(whose, key=lambda waiter: waiter.transaction_s or 0.0)
    return _writer_text(oldest) + (FlowText.AND_MORE.render(count=len(whose) - 1) if len(whose) > 1 else "")


def _writer_text(writer: WriterSample) -> str:
    if writer.session == 0:
        return FlowText.PREPARED_HOLDER.render(
            transaction=writer.application, age=duration(writer.transaction_s or 0.0)
        )
    text = ", ".join(part for part in (writer.state, writer.application) if part)
    return FlowText.SESSION_HOLDER.render(session=writer.session, text=text, age=duration(writer.transaction_s or 0.0))


def _are_all_owners_alive(context: RuleInput) -> bool:
    """Return whether all owners are alive. After a requeue, their messages would then be processed twice."""
    owners = context.queue.owners
    return owners is not None and owners.alive > 0 and not (owners.dead or owners.unknown or owners.none)


STUCK = Rule(
    "stuck in progress",
    Severity.CRITICAL,
    0.0,
    _stuck_proof,
    keys={"2": _are_all_owners_alive, "r": holds_always},
    probes=("owners", "group_owners"),
)


# Maximum number of blockers in a proof.
_MAX_BLOCKERS: Final = 2


def _blocked_proof(context: RuleInput) -> str | None:
    """Return the proof that messages are blocked.

    Blocked messages are not a problem if other messages move and no message has been blocked for longer than the
    timeout.
    """
    if not context.blocked.value:
        return None
    waits_s = context.blocked_oldest.value
    if (context.active_count or context.outflow_rate) and waits_s is not None and waits_s <= context.timeout_s:
        return None
    sample = context.samples.blocked if context.samples is not None else None
    oldest = "" if waits_s is None else FlowText.OLDEST_FOR.render(age=duration(waits_s))
    why = "" if sample is None or not sample.why else f": {' or '.join(sample.why)}"
    names = [
        _blocker_text(each) for each in (sample.blockers if sample is not None else ()) if each.blocker is not None
    ]
    more = FlowText.MORE_BLOCKERS.render(count=len(names) - _MAX_BLOCKERS) if len(names) > _MAX_BLOCKERS else ""
    waits = FlowText.WAIT_FOR.render(blockers=", ".join(names[:_MAX_BLOCKERS]), more=more) if names else ""
    return FlowText.BLOCKED.render(
        more=FlowText.AT_LEAST if context.blocked.at_least else "",
        count=context.blocked.value,
        oldest=oldest,
        why=why,
        waits=waits,
    )


def _blocker_text(blocker: GroupBlockerSample) -> str:
    holder = "" if blocker.holder is None else FlowText.HELD_BY.render(holder=blocker.holder)
    return f"{blocker.blocker}{holder}" + (
        "" if blocker.held_s is None else FlowText.FOR.render(age=duration(blocker.held_s))
    )


BLOCKED = Rule(
    "blocked",
    Severity.WARNING,
    0.0,
    _blocked_proof,
    probes=("in_state", "group_states"),
    unread=lambda context: context.may_block and context.blocked.value is None,
)


# PostgreSQL may report the last pops of an idle session ten seconds late (`probes/counters.sql`). If all consumers have
# been quiet for this many seconds, a pop rate above 0 comes from such late reports.
_QUIET_S: Final = 4.0
_FOLLOWS: Final = ("no pops", "ring full", "consumers fall behind")


def _idle_consumers(context: RuleInput) -> ClientsSeen | None:
    """Return the consumers if messages are ready, no message was popped recently, and no message is being processed."""
    if (
        context.is_paused(Side.CONSUMERS)
        or not context.ready.value
        or context.outflow_rate is None
        or context.active_count
    ):
        return None
    consumers = context.queue.consumers
    if consumers is None or (context.outflow_rate > 0 and (consumers.quiet_s or 0.0) < _QUIET_S):
        return None
    return None if context.usual_standstill is not None else consumers


def _is_ordered(layout: Layout) -> bool:
    """Return whether pops follow the queue's order.

    A new first message then usually means that the previous one was popped.
    """
    return layout.traits.order in ("fifo", "due") and layout.priority is None


def _no_consumers_proof(context: RuleInput) -> str | None:
    consumers = _idle_consumers(context)
    if consumers is None or consumers.connected or not consumers.has_all_sessions or context.layout is None:
        return None
    gone = FlowText.LAST_LEFT.render(age=duration(consumers.left_s)) if consumers.left_s is not None else ""
    return FlowText.READY_BUT.render(
        ready=context.ready.value, why=_no_consumers_text(context.layout, consumers), gone=gone
    )


def _no_consumers_text(layout: Layout, consumers: ClientsSeen) -> str:
    if consumers.identified_by == "pattern":
        fields = (
            ("application", layout.consumers.application),
            ("login", layout.consumers.login),
            ("procedure", layout.consumers.procedure),
        )
        wanted = ", ".join(f"{name} {pattern}" for name, pattern in fields if pattern is not None)
        is_one = FlowText.IN_SETTING.render(setting=wanted)
    elif consumers.identified_by == "library":
        return FlowText.NO_LIBRARY_WORKER
    else:
        pop = layout.routine_for("pop") or layout.routine_for("pop_batch")
        is_one = (
            FlowText.HAS_CALLED.render(pop=pop)
            if consumers.identified_by == "routine"
            else FlowText.HAS_TAKEN.render(table=layout.table)
        )
    if consumers.others < 2:
        return FlowText.NO_SESSION.render(consumer=is_one)
    return FlowText.NONE_OF_THE_SESSIONS.render(
        sessions=count_text(consumers.others, FlowText.CONNECTED_SESSION), consumer=is_one
    )


def _not_claiming_proof(context: RuleInput) -> str | None:
    consumers = _idle_consumers(context)
    if consumers is None or not consumers.connected or context.ready.value is None:
        return None
    none: str = FlowText.ONE_DOES_NOT_POP
    if consumers.connected > 1:
        none = FlowText.NONE_POPS.render(count=consumers.connected)
    one = f": {_activity_text(consumers.quietest)}" if consumers.quietest is not None else ""
    return FlowText.NOT_CLAIMING.render(ready=context.ready.value, none=none, one=one)


def _activity_text(client: ProgramSessionSample) -> str:
    name = FlowText.SESSION.render(session=client.session) + (f" ({client.application})" if client.application else "")
    state = client.state or "connected"
    waits = FlowText.WAITING.render(kind=client.wait_kind) if client.wait_kind == "Lock" else ""
    return f"{name} {state}{waits}" + (
        FlowText.FOR.render(age=duration(client.quiet_s)) if client.quiet_s is not None else ""
    )


def _waits_for_lock(context: RuleInput) -> bool:
    one = context.queue.consumers.quietest if context.queue.consumers is not None else None
    return one is not None and one.wait_kind == "Lock"


def _are_consumers_unknown(context: RuleInput) -> bool:
    return context.queue.consumers is None


NO_CONSUMERS = Rule(
    "no consumers",
    Severity.CRITICAL,
    10.0,
    _no_consumers_proof,
    explains=_FOLLOWS,
    unread=_are_consumers_unknown,
    refuted=may_have_popped,
)
NOT_CLAIMING = Rule(
    "consumers not claiming",
    Severity.CRITICAL,
    10.0,
    _not_claiming_proof,
    explains=_FOLLOWS,
    keys={"4": _waits_for_lock},
    unread=_are_consumers_unknown,
    refuted=may_have_popped,
)


_FULL: Final = 0.999


def _ring_full_proof(context: RuleInput) -> str | None:
    if context.is_paused(Side.CONSUMERS) or context.is_paused(Side.PRODUCERS):
        return None
    if context.fill.value is None or context.fill.value < _FULL:
        return None
    return FlowText.RING_FULL.render(share=percent(context.fill.value))


# Without a pop rate, a message must have been ready for this many seconds while no message was popped.
_WAITS_S: Final = 20.0


def _not_taken_proof(context: RuleInput) -> str | None:
    """For a queue without rates, return the proof that no message was popped recently.

    Either no message is in progress, or all messages in progress have been there for a long time. This proof applies to
    queues in which a message stays visible until it is done.
    """
    waits, busy = context.oldest.value, context.in_progress.value
    if not context.ready.value or waits is None or waits < _WAITS_S or busy is None:
        return None
    ready = FlowText.OLDEST_OF_READY.render(count=context.ready.value, age=duration(waits))
    if not busy:
        return FlowText.NONE_IN_PROGRESS.render(ready=ready)
    owners = context.samples.diagnostics.owners if context.samples is not None else None
    ages = [None] if owners is None or len(owners) < busy else [owner.age_s for owner in owners]
    since = [age for age in ages if age is not None and age >= _WAITS_S]
    return FlowText.NONE_POPPED.render(ready=ready, age=duration(min(since))) if len(since) == len(ages) else None


# After this many seconds without a sign that messages leave the queue, a queue without rates is not called healthy.
STILL_S: Final = 60.0


def _head_stays_proof(context: RuleInput) -> str | None:
    """For a queue without rates, return the proof that the first message does not change and no transaction holds it.

    If locks are not visible, the first message must stay the same for at least the queue's timeout.
    """
    motion, q = context.queue.motion, context.samples
    if motion is None or motion.still_s is None or motion.still_s < STILL_S or not context.ready.value or q is None:
        return None
    if context.pops_unseen:  # messages behind a locked first one were popped, and the lock is gone
        return None
    held = q.head is None or any(each.running for each in (*(q.held or ()), *q.locked))
    if not _is_ordered(q.layout) or held or q.partial or q.elsewhere or context.active_count:
        return None
    unseen = ""
    if q.held is None:
        # The proof holds only if deleted rows are invisible and pops behind a locked first row lower the number of
        # messages.
        if q.held_counted or context.ready.at_least or motion.still_s < max(STILL_S, q.layout.timeout_s):
            return None
        unseen = FlowText.LOCK_UNKNOWN
    which = FlowText.MESSAGE.render(message=motion.head_id) if motion.head_id is not None else FlowText.SAME_MESSAGE
    age = FlowText.AGE.render(age=duration(context.oldest.value)) if context.oldest.value is not None else ""
    return FlowText.HEAD_STILL.render(
        ready=context.ready.value, which=which, age=age, still=duration(motion.still_s), unseen=unseen
    )


def _not_moving_proof(context: RuleInput) -> str | None:
    if context.is_paused(Side.CONSUMERS):
        return None
    if context.outflow_rate is None:
        in_group = context.layout is not None and context.layout.part is not None
        return _not_taken_proof(context) if in_group else _head_stays_proof(context)
    if not context.ready.value or context.outflow_rate > 0 or context.usual_standstill is not None:
        return None
    return FlowText.NO_POPS.render(ready=context.ready.value, push=context.push_rate.value or 0)


def _outrun_proof(context: RuleInput) -> str | None:
    if context.pauses:
        return None
    proof = _rise_text(context.queue.rise) if context.queue.rise is not None else _growth_text(context)
    if proof is not None and context.usual_backlog is not None:
        return None
    return f"{proof}; {context.queue.slower.text}" if proof is not None and context.queue.slower is not None else proof


def _rise_text(rise: Rise) -> str:
    age = rise.age_before_s
    ages = (
        FlowText.AGES.render(before=duration(age), now=duration(rise.wait_s)) if age is not None and rise.wait_s else ""
    )
    return FlowText.READY_ROSE.render(before=rise.before, now=rise.now, ages=ages, over=duration(rise.over_s))


def _growth_text(context: RuleInput) -> str | None:
    if context.net_rate is None or context.push_rate.value is None or context.pop_rate.value is None:
        return None
    if (
        not context.ready.value
        or context.ready.value < 100
        or context.net_rate <= max(0.5, 0.05 * context.push_rate.value)
    ):
        return None
    return FlowText.FALLS_BEHIND.render(push=context.push_rate.value, pop=context.pop_rate.value, net=context.net_rate)


# A slowdown is a verdict if each message takes at least this many times as long as before. Less may be another kind of
# message.
_MUCH_SLOWER: Final = 5.0

# The time of a slowdown is known to the minute.
_SLOWER_SINCE_S: Final = 60.0


def _slower_proof(context: RuleInput) -> str | None:
    """Return the proof that each message takes much longer, and when the consumers connected if that was then."""
    found = context.queue.slower
    if found is None or not found.is_sure or found.now_s < _MUCH_SLOWER * found.before_s:
        return None
    consumers = context.queue.consumers
    starts = [client.started_at for client in consumers.sessions] if consumers is not None else []
    known = [start for start in starts if start is not None]
    if not known or len(known) < len(starts) or min(known) < found.since_at - _SLOWER_SINCE_S:
        return found.text
    return FlowText.CONSUMERS_NEW.render(slower=found.text, since=time_of_day(min(known)))


def _no_pushes_proof(context: RuleInput) -> str | None:
    silence = context.queue.silence
    if silence is None or context.is_paused(Side.PRODUCERS) or (context.fill.value or 0.0) >= _FULL:
        return None
    usual = context.usual_pushes
    if usual is not None and usual.median <= _USUALLY_QUIET * silence.before_per_s:
        return None
    rollbacks = context.target.rollbacks
    rolled_back = FlowText.ROLLBACKS.render(rate=rollbacks) if rollbacks else ""
    return FlowText.NO_PUSHES.render(
        silent=duration(silence.silent_s), before=rate(silence.before_per_s), rollbacks=rolled_back
    )


def _pushes_fail_proof(context: RuleInput) -> str | None:
    found = context.queue.failed_pushes
    if found is None:
        return None
    rollbacks = context.target.rollbacks
    return FlowText.PUSHES_FAIL.render(
        time=duration(found.seconds),
        failed=found.failed,
        pushed=found.pushed,
        rollbacks=FlowText.ROLLBACKS.render(rate=rollbacks) if rollbacks else "",
    )


def _due_later_proof(context: RuleInput) -> str | None:
    found = context.queue.due_later
    if found is None:
        return None
    many = FlowText.MANY_LATER.render(later=found.later, pushed=found.pushed, since=time_of_day(found.since_at))
    return FlowText.DUE_LATER.render(many=many, share=percent(found.share_before))


RING_FULL = Rule("ring full", Severity.CRITICAL, 5.0, _ring_full_proof)
NO_POPS = Rule(
    "no pops",
    Severity.CRITICAL,
    10.0,
    _not_moving_proof,
    explains=("consumers fall behind",),
    refuted=may_have_popped,
)
PUSHES_FAIL = Rule(
    "pushes fail",
    Severity.WARNING,
    5.0,
    _pushes_fail_proof,
    explains=("no pushes",),
    probes=("counters", "table_counters", "sequences"),
    unread=is_uncounted,
)
NO_PUSHES = Rule("no pushes", Severity.WARNING, 0.0, _no_pushes_proof, probes=("counters",), unread=is_uncounted)
DUE_LATER = Rule(
    "due later than usual",
    Severity.WARNING,
    0.0,
    _due_later_proof,
    probes=("counters", "table_counters", "scheduled"),
    unread=is_uncounted,
)
SLOWER = Rule("messages take longer", Severity.WARNING, 5.0, _slower_proof, probes=("owners", "group_owners"))
OUTRUN = Rule("consumers fall behind", Severity.WARNING, 30.0, _outrun_proof)
