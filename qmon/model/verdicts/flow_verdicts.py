"""Verdicts about the movement of messages: paused, not popped, too slow, stuck, starved, not archived, ring full."""

from __future__ import annotations

from typing import Final

from qmon.model.figure import Severity
from qmon.model.formatting import count_text, duration, percent, rate, time_of_day
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import Side, pause_line
from qmon.model.samples.client_samples import ClientSample
from qmon.model.samples.group_samples import GroupBlockerSample
from qmon.model.samples.message_samples import OwnerSample
from qmon.model.samples.polled_samples import WriterSample
from qmon.model.sessions.clients import ClientsSeen
from qmon.model.sessions.owners import Owners
from qmon.model.trend import Rise
from qmon.model.verdicts.rule import Condition, Rule, RuleInput, holds_always, is_uncounted, may_have_popped


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
        return f"~{a.done:,.0f} done messages not archived; no row was ever deleted from the table" if never else None
    if a.silent_s < _SILENCE_RATIO * a.usual_s or a.done < max(_MIN_DONE, _DONE_RATIO * a.most):
        return None
    before = f", longest break before {duration(a.usual_s)}" if a.usual_s else ""
    return f"~{a.done:,.0f} done messages not archived; nothing archived for {duration(a.silent_s)}{before}"


BEHIND = Rule(
    "archive behind",
    Severity.WARNING,
    10.0,
    _behind_proof,
    probes=("counters", "table_counters", "head", "progress"),
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
    age = f" ({duration(low.oldest_s)} old)" if low.oldest_s is not None else ""
    return (
        f"priority {low.priority} is not popped: message {low.head_id}{age} has been first for at least "
        f"{duration(low.still_s)}; other priorities are popped at {context.pops:,.1f}/s"
    )


STARVED = Rule("priority starved", Severity.WARNING, 10.0, _starved_proof, probes=("priorities",))


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
    longer = "longer than their own timeout" if own else f"more than {duration(context.timeout_s)}"
    return f"{_stuck_count_text(context)} in progress for {longer}"


def _stuck_count_text(context: RuleInput) -> str:
    return f"{'at least ' if context.stuck.at_least else ''}{context.stuck.value or 0:,.0f}"


def _owners_text(owners: Owners) -> str:
    more = "at least " if owners.at_least else ""
    parts = []
    if owners.dead:
        parts.append(f"{more}{owners.dead:,} with a dead owner{_owner_text(owners.dead_one)}")
    if owners.alive:
        parts.append(f"{more}{owners.alive:,} with a live owner{_owner_text(owners.alive_one)}")
    if owners.unknown:
        why = f": {owners.why}" if owners.why else ""
        parts.append(f"{more}{owners.unknown:,} with an unknown owner{_owner_text(owners.unknown_one)}{why}")
    if owners.none and owners.none_one is not None:
        parts.append(f"{more}{owners.none:,} without a recorded owner{_owner_text(owners.none_one)}")
    return "; ".join(parts)


def _owner_text(owner: OwnerSample | None) -> str:
    if owner is None:
        return ""
    has = "has had" if owner.age_s is not None else "has"
    whose = f"{owner.owner} {has} " if owner.owner else ""
    return f" ({whose}message {owner.id}{_since_text(owner)})"


def _since_text(owner: OwnerSample) -> str:
    return f" for {duration(owner.age_s)}" if owner.age_s is not None else ""


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
    return _writer_text(oldest) + (f" and {len(whose) - 1} more" if len(whose) > 1 else "")


def _writer_text(writer: WriterSample) -> str:
    if writer.session == 0:
        return (
            f"the prepared transaction {writer.application} has held them for {duration(writer.transaction_s or 0.0)}"
        )
    text = ", ".join(part for part in (writer.state, writer.application) if part)
    return f"session {writer.session} ({text}) has held them for {duration(writer.transaction_s or 0.0)}"


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
    if (context.at_work or context.moved) and waits_s is not None and waits_s <= context.timeout_s:
        return None
    sample = context.samples.blocked if context.samples is not None else None
    oldest = "" if waits_s is None else f", the oldest for {duration(waits_s)}"
    why = "" if sample is None or not sample.why else f": {' or '.join(sample.why)}"
    names = [
        _blocker_text(each) for each in (sample.blockers if sample is not None else ()) if each.blocker is not None
    ]
    more = f" and {len(names) - _MAX_BLOCKERS:,} more" if len(names) > _MAX_BLOCKERS else ""
    waits = f"; they wait for {', '.join(names[:_MAX_BLOCKERS])}{more}" if names else ""
    return f"{'at least ' if context.blocked.at_least else ''}{context.blocked.value:,.0f} blocked{oldest}{why}{waits}"


def _blocker_text(blocker: GroupBlockerSample) -> str:
    holder = "" if blocker.holder is None else f", held by {blocker.holder}"
    return f"{blocker.blocker}{holder}" + ("" if blocker.held_s is None else f" for {duration(blocker.held_s)}")


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
    if context.is_paused(Side.CONSUMERS) or not context.ready.value or context.moved is None or context.at_work:
        return None
    consumers = context.queue.consumers
    return None if context.moved > 0 and (consumers is None or (consumers.quiet_s or 0.0) < _QUIET_S) else consumers


def _is_ordered(layout: Layout) -> bool:
    """Return whether pops follow the queue's order.

    A new first message then usually means that the previous one was popped.
    """
    return layout.traits.order in ("fifo", "due") and layout.priority is None


def _no_consumers_proof(context: RuleInput) -> str | None:
    consumers = _idle_consumers(context)
    if consumers is None or consumers.connected or not consumers.whole or context.layout is None:
        return None
    gone = f"; the last consumer left {duration(consumers.left_s)} ago" if consumers.left_s is not None else ""
    return f"{context.ready.value:,.0f} ready, but {_no_consumers_text(context.layout, consumers)}{gone}"


def _no_consumers_text(layout: Layout, consumers: ClientsSeen) -> str:
    if consumers.by == "pattern":
        fields = (
            ("application", layout.consumers.application),
            ("login", layout.consumers.login),
            ("procedure", layout.consumers.procedure),
        )
        wanted = ", ".join(f"{name} {pattern}" for name, pattern in fields if pattern is not None)
        is_one = f"matches the consumers setting ({wanted})"
    elif consumers.by == "library":
        return "no worker of the library has reported for this queue"
    else:
        pop = layout.routine_for("pop") or layout.routine_for("pop_batch")
        is_one = f"has called {pop}" if consumers.by == "routine" else f"has taken rows from {layout.table}"
    if not consumers.others:
        return f"no connected session {is_one}"
    return f"none of the {count_text(consumers.others, 'connected session')} {is_one}"


def _not_claiming_proof(context: RuleInput) -> str | None:
    consumers = _idle_consumers(context)
    if consumers is None or not consumers.connected or context.ready.value is None:
        return None
    none = "the connected consumer does not pop"
    if consumers.connected > 1:
        none = f"none of the {consumers.connected:,} connected consumers pops"
    one = f": {_activity_text(consumers.one)}" if consumers.one is not None else ""
    return f"{context.ready.value:,.0f} ready, but {none}{one}"


def _activity_text(client: ClientSample) -> str:
    name = f"session {client.session}" + (f" ({client.application})" if client.application else "")
    state = client.state or "connected"
    waits = f", waiting for {client.wait_kind}" if client.wait_kind == "Lock" else ""
    return f"{name} {state}{waits}" + (f" for {duration(client.quiet_s)}" if client.quiet_s is not None else "")


def _waits_for_lock(context: RuleInput) -> bool:
    one = context.queue.consumers.one if context.queue.consumers is not None else None
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
    return f"{percent(context.fill.value)} of the slots hold messages, so producers wait"


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
    ready = f"{context.ready.value:,.0f} ready, the oldest for {duration(waits)}"
    if not busy:
        return f"{ready}, but none is in progress"
    owners = context.samples.diagnostics.owners if context.samples is not None else None
    ages = [None] if owners is None or len(owners) < busy else [owner.age_s for owner in owners]
    since = [age for age in ages if age is not None and age >= _WAITS_S]
    return f"{ready}, but none was popped for {duration(min(since))}" if len(since) == len(ages) else None


# After this many seconds without a sign that messages leave the queue, a queue without rates is not called healthy.
STILL_S: Final = 60.0


def _head_stays_proof(context: RuleInput) -> str | None:
    """For a queue without rates, return the proof that the first message does not change and no transaction holds it.

    If locks are not visible, the first message must stay the same for at least the queue's timeout.
    """
    motion, q = context.queue.motion, context.samples
    if motion is None or motion.still_s is None or motion.still_s < STILL_S or not context.ready.value or q is None:
        return None
    held = q.head is None or any(each.running for each in (*(q.held or ()), *q.locked))
    if not _is_ordered(q.layout) or held or q.partial or q.elsewhere or context.at_work:
        return None
    unseen = ""
    if q.held is None:
        # The proof holds only if deleted rows are invisible and pops behind a locked first row lower the number of
        # messages.
        if q.held_counted or context.ready.at_least or motion.still_s < max(STILL_S, q.layout.timeout_s):
            return None
        unseen = "; it is unknown whether a session has locked it"
    which = f"message {motion.head_id}" if motion.head_id is not None else "the same message"
    age = f" ({duration(context.oldest.value)} old)" if context.oldest.value is not None else ""
    return (
        f"{context.ready.value:,.0f} ready, but {which}{age} has been first in the queue for"
        f" {duration(motion.still_s)}{unseen}"
    )


def _not_moving_proof(context: RuleInput) -> str | None:
    if context.is_paused(Side.CONSUMERS):
        return None
    if context.moved is None:
        in_group = context.layout is not None and context.layout.part is not None
        return _not_taken_proof(context) if in_group else _head_stays_proof(context)
    if not context.ready.value or context.moved > 0:
        return None
    return f"{context.ready.value:,.0f} ready, but no pops; push {context.push_rate.value or 0:,.1f}/s"


def _outrun_proof(context: RuleInput) -> str | None:
    if context.pauses:
        return None
    proof = _rise_text(context.queue.rise) if context.queue.rise is not None else _growth_text(context)
    return f"{proof}; {context.queue.slower.text}" if proof is not None and context.queue.slower is not None else proof


def _rise_text(rise: Rise) -> str:
    age = rise.age_before_s
    ages = (
        f", the age of the oldest from {duration(age)} to {duration(rise.wait_s)}"
        if age is not None and rise.wait_s
        else ""
    )
    return f"ready rose from {rise.before:,.0f} to {rise.now:,.0f}{ages}, within {duration(rise.over_s)}"


def _growth_text(context: RuleInput) -> str | None:
    if context.net_rate is None or context.push_rate.value is None or context.pop_rate.value is None:
        return None
    if (
        not context.ready.value
        or context.ready.value < 100
        or context.net_rate <= max(0.5, 0.05 * context.push_rate.value)
    ):
        return None
    return (
        f"push {context.push_rate.value:,.1f}/s, pop {context.pop_rate.value:,.1f}/s: growing {context.net_rate:,.1f}/s"
    )


def _no_pushes_proof(context: RuleInput) -> str | None:
    silence = context.queue.silence
    if silence is None or context.is_paused(Side.PRODUCERS) or (context.fill.value or 0.0) >= _FULL:
        return None
    usual = context.usual_pushes
    if usual is not None and usual.median <= _USUALLY_QUIET * silence.before_per_s:
        return None
    rollbacks = context.target.rollbacks
    rolled_back = f"; {rollbacks:,.1f} rollbacks/s in this database" if rollbacks else ""
    return f"no pushes for {duration(silence.silent_s)}, {rate(silence.before_per_s)}/s before{rolled_back}"


def _due_later_proof(context: RuleInput) -> str | None:
    found = context.queue.due_later
    if found is None:
        return None
    many = (
        f"~{found.later:,.0f} of {found.pushed:,.0f} messages pushed since {time_of_day(found.since_at)} are due later"
    )
    return f"{many}; before, {percent(found.share_before)} were"


RING_FULL = Rule("ring full", Severity.CRITICAL, 5.0, _ring_full_proof)
NO_POPS = Rule(
    "no pops",
    Severity.CRITICAL,
    10.0,
    _not_moving_proof,
    explains=("consumers fall behind",),
    refuted=may_have_popped,
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
OUTRUN = Rule("consumers fall behind", Severity.WARNING, 30.0, _outrun_proof)
