"""Verdicts about the movement of messages: paused, not popped, too slow, stuck, starved, not archived, ring full."""

from __future__ import annotations

from typing import Final

from qmon.model.figure import Severity
from qmon.model.layout.layout import Layout
from qmon.model.operations import Side, pause_line
from qmon.model.rates.trend import Rise
from qmon.model.samples.clients import ClientSample
from qmon.model.samples.groups import GroupBlockerSample
from qmon.model.samples.messages import OwnerSample
from qmon.model.samples.polled import WriterSample
from qmon.model.sessions.clients import ClientsSeen
from qmon.model.sessions.owners import Owners
from qmon.model.text import counted, duration, percent, rate, time_of_day
from qmon.model.verdicts.rule import Condition, Rule, RuleInput, always, may_have_popped, uncounted


def _paused(s: RuleInput) -> str | None:
    return "; ".join(pause_line(pause) for pause in s.pauses) or None


def _sides(*sides: Side) -> Condition:
    return lambda s: {pause.side for pause in s.pauses} == set(sides)


PAUSED = Rule(
    "paused",
    Severity.NOTICE,
    0.0,
    _paused,
    keys={"p": _sides(Side.PUSHERS), "P": _sides(Side.POPPERS), "p P": _sides(Side.PUSHERS, Side.POPPERS)},
    probes=("pauses",),
)


_SILENT_S: Final = 20.0

# An archiver counts as stopped if it has been silent for this many times its longest break so far …
_OFTEN: Final = 3.0
# … and this many times more messages are done than the most seen at earlier runs.
_MORE: Final = 2.0

# Minimum number of done messages if rows have been archived before.
_KNOWN: Final = 1_000

# Minimum number of done messages if none were ever archived.
_NEVER: Final = 10_000

# Done messages count as growing if both this number and this share were added: their counts vary a little.
_GROWN: Final = 100
_GROWN_SHARE: Final = 0.01


def _behind(s: RuleInput) -> str | None:
    """Return the proof that done messages are not archived. It lasts until rows are deleted, even without pushes."""
    a = s.queue.archiving
    if a is None or a.silent_s < _SILENT_S or a.grown < max(_GROWN, _GROWN_SHARE * a.done):
        return None
    if a.usual_s is None or a.most is None:
        never = a.untouched and a.done >= _NEVER
        return f"~{a.done:,.0f} done and not archived; no row of the table was ever deleted" if never else None
    if a.silent_s < _OFTEN * a.usual_s or a.done < max(_KNOWN, _MORE * a.most):
        return None
    before = f", at most {duration(a.usual_s)} before" if a.usual_s else ""
    return f"~{a.done:,.0f} done and not archived; nothing was archived for {duration(a.silent_s)}{before}"


BEHIND = Rule(
    "archive behind",
    Severity.WARNING,
    10.0,
    _behind,
    probes=("counters", "table_counters", "head", "progress"),
    unread=uncounted,
)


_STILL_S: Final = 20.0

# Minimum moves of the heads of other priorities: one or two messages may be popped while another waits its turn.
_OTHERS: Final = 5


def _starved(s: RuleInput) -> str | None:
    low = s.queue.starved
    if low is None or low.still_s < _STILL_S or low.others < _OTHERS or not s.pops or s.paused(Side.POPPERS):
        return None
    age = f", {duration(low.oldest_s)} old," if low.oldest_s is not None else ""
    return (
        f"priority {low.priority}: message {low.head_id}{age} has been its head for {duration(low.still_s)} or longer "
        f"while messages of other priorities are popped, {s.pops:,.1f}/s"
    )


STARVED = Rule("priority starved", Severity.WARNING, 10.0, _starved, probes=("priorities",))


def _stuck(s: RuleInput) -> str | None:
    owners = s.queue.owners
    if not s.stuck.value and not (owners is not None and owners.dead):
        return None
    if owners is not None and (text := _by_owner(owners)):
        if not s.stuck.value:
            return text
        return f"{_late(s)}: {text}"
    whose = _holders(s)
    return _late(s) + (f": {whose}" if whose else "")


def _late(s: RuleInput) -> str:
    own = s.layout is not None and s.layout.part is not None and s.layout.part.own_timeout
    longer = "longer than each may take" if own else f"more than {duration(s.timeout_s)}"
    return f"{_count(s)} in progress for {longer}"


def _count(s: RuleInput) -> str:
    return f"{'at least ' if s.stuck.at_least else ''}{s.stuck.value or 0:,.0f}"


def _by_owner(owners: Owners) -> str:
    more = "at least " if owners.at_least else ""
    parts = []
    if owners.dead:
        parts.append(f"{more}{owners.dead:,} with a dead owner{_one(owners.dead_one)}")
    if owners.alive:
        parts.append(f"{more}{owners.alive:,} with a live owner{_one(owners.alive_one)}")
    if owners.unknown:
        why = f": {owners.why}" if owners.why else ""
        parts.append(f"{more}{owners.unknown:,} with an unknown owner{_one(owners.unknown_one)}{why}")
    if owners.none and owners.none_one is not None:
        parts.append(f"nothing says who has them, such as message {owners.none_one.id}{_since(owners.none_one)}")
    return "; ".join(parts)


def _one(owner: OwnerSample | None) -> str:
    if owner is None:
        return ""
    has = "has had" if owner.age_s is not None else "has"
    whose = f"{owner.owner} {has} " if owner.owner else ""
    return f" ({whose}message {owner.id}{_since(owner)})"


def _since(owner: OwnerSample) -> str:
    return f" for {duration(owner.age_s)}" if owner.age_s is not None else ""


def _holders(s: RuleInput) -> str:
    """Return the session with the oldest open transaction, if messages are in progress only while one is open."""
    if s.samples is None or s.snapshot is None or not s.samples.held:
        return ""
    xids = {held.xid for held in s.samples.held if held.running}
    whose = [w for w in s.snapshot.writers or () if w.xid in xids and (w.transaction_s or 0.0) > s.timeout_s]
    if not whose:
        return ""
    oldest = max(whose, key=lambda w: w.transaction_s or 0.0)
    return _session(oldest) + (f" and {len(whose) - 1} more" if len(whose) > 1 else "")


def _session(writer: WriterSample) -> str:
    if writer.session == 0:
        return (
            f"the prepared transaction {writer.application} has held them for {duration(writer.transaction_s or 0.0)}"
        )
    text = ", ".join(part for part in (writer.state, writer.application) if part)
    return f"session {writer.session} ({text}) has held them for {duration(writer.transaction_s or 0.0)}"


def _owners_live(s: RuleInput) -> bool:
    """Return whether all owners are alive. If requeued now, their messages would be processed twice."""
    owners = s.queue.owners
    return owners is not None and owners.alive > 0 and not (owners.dead or owners.unknown or owners.none)


STUCK = Rule(
    "stuck in progress",
    Severity.CRITICAL,
    0.0,
    _stuck,
    keys={"2": _owners_live, "r": always},
    probes=("owners", "group_owners"),
)


# Maximum number of blockers in a proof.
_BLOCKERS: Final = 2


def _blocked(s: RuleInput) -> str | None:
    """Return the proof that messages are blocked.

    It is no problem if other messages move and none is blocked for longer than a message may be in progress.
    """
    if not s.blocked.value:
        return None
    waits_s = s.blocked_oldest.value
    if (s.at_work or s.moved) and waits_s is not None and waits_s <= s.timeout_s:
        return None
    sample = s.samples.blocked if s.samples is not None else None
    oldest = "" if waits_s is None else f", the oldest for {duration(waits_s)}"
    why = "" if sample is None or not sample.why else f": {' or '.join(sample.why)}"
    names = [_blocker(each) for each in (sample.blockers if sample is not None else ()) if each.blocker is not None]
    more = f" and {len(names) - _BLOCKERS:,} more" if len(names) > _BLOCKERS else ""
    waits = f"; they wait for {', '.join(names[:_BLOCKERS])}{more}" if names else ""
    return f"{'at least ' if s.blocked.at_least else ''}{s.blocked.value:,.0f} blocked{oldest}{why}{waits}"


def _blocker(found: GroupBlockerSample) -> str:
    holder = "" if found.holder is None else f", held by {found.holder}"
    return f"{found.blocker}{holder}" + ("" if found.held_s is None else f" for {duration(found.held_s)}")


BLOCKED = Rule(
    "blocked",
    Severity.WARNING,
    0.0,
    _blocked,
    probes=("in_state", "group_states"),
    unread=lambda s: s.may_block and s.blocked.value is None,
)


# PostgreSQL reports the last pops of a session that became idle up to ten seconds late (`probes/counters.sql`).
# Sessions idle for this long have not popped since.
_QUIET_S: Final = 4.0
_FOLLOWS: Final = ("no pops", "ring full", "pushers outrun poppers")


def _unclaimed(s: RuleInput) -> ClientsSeen | None:
    """Return the consumers if messages are ready, none was popped recently, and none is being worked on."""
    if s.paused(Side.POPPERS) or not s.ready.value or s.moved is None or s.at_work:
        return None
    poppers = s.queue.poppers
    return None if s.moved > 0 and (poppers is None or (poppers.quiet_s or 0.0) < _QUIET_S) else poppers


def _in_order(layout: Layout) -> bool:
    """Return whether a different first message usually means that the previous one has left."""
    return layout.traits.order in ("fifo", "due") and layout.priority is None


def _no_poppers(s: RuleInput) -> str | None:
    poppers = _unclaimed(s)
    if poppers is None or poppers.connected or not poppers.whole or s.layout is None:
        return None
    gone = f"; the last one left {duration(poppers.left_s)} ago" if poppers.left_s is not None else ""
    return f"{s.ready.value:,.0f} ready and {_nobody(s.layout, poppers)}{gone}"


def _nobody(layout: Layout, poppers: ClientsSeen) -> str:
    if poppers.by == "pattern":
        fields = (
            ("application", layout.poppers.application),
            ("login", layout.poppers.login),
            ("procedure", layout.poppers.procedure),
        )
        wanted = ", ".join(f"{name} {pattern}" for name, pattern in fields if pattern is not None)
        is_one = f"is a popper ({wanted})"
    elif poppers.by == "library":
        return "no worker that serves it has reported"
    else:
        pop = layout.routine("pop") or layout.routine("pop_batch")
        is_one = "was seen to " + (f"call {pop}" if poppers.by == "routine" else f"take rows of {layout.table}")
    if not poppers.others:
        return f"no session is connected that {is_one}"
    return f"none of the {counted(poppers.others, 'session')} connected {is_one}"


def _not_claiming(s: RuleInput) -> str | None:
    poppers = _unclaimed(s)
    if poppers is None or not poppers.connected or s.ready.value is None:
        return None
    count = "1 popper is" if poppers.connected == 1 else f"{poppers.connected:,} poppers are"
    one = f": {_doing(poppers.one)}" if poppers.one is not None else ""
    return f"{count} connected, not one pops while {s.ready.value:,.0f} are ready{one}"


def _doing(client: ClientSample) -> str:
    name = f"session {client.session}" + (f" ({client.application})" if client.application else "")
    state = client.state or "connected"
    waits = f", waiting for {client.wait_kind}" if client.wait_kind == "Lock" else ""
    return f"{name} {state}{waits}" + (f" for {duration(client.quiet_s)}" if client.quiet_s is not None else "")


def _waits_for_lock(s: RuleInput) -> bool:
    one = s.queue.poppers.one if s.queue.poppers is not None else None
    return one is not None and one.wait_kind == "Lock"


def _poppers_unseen(s: RuleInput) -> bool:
    return s.queue.poppers is None


NO_POPPERS = Rule(
    "no poppers",
    Severity.CRITICAL,
    10.0,
    _no_poppers,
    explains=_FOLLOWS,
    unread=_poppers_unseen,
    refuted=may_have_popped,
)
NOT_CLAIMING = Rule(
    "poppers not claiming",
    Severity.CRITICAL,
    10.0,
    _not_claiming,
    explains=_FOLLOWS,
    keys={"4": _waits_for_lock},
    unread=_poppers_unseen,
    refuted=may_have_popped,
)


_FULL: Final = 0.999


def _ring_full(s: RuleInput) -> str | None:
    if s.paused(Side.POPPERS) or s.paused(Side.PUSHERS):
        return None
    if s.fill.value is None or s.fill.value < _FULL:
        return None
    return f"{percent(s.fill.value)} of the slots hold messages, pushers wait"


# Seconds that a message must have been ready while none was popped, if there is no pop rate.
_WAITS_S: Final = 20.0


def _not_taken(s: RuleInput) -> str | None:
    """Return the proof without rates: no message is in progress, or all have been for long.

    It applies to queues whose messages are visible until they are done.
    """
    waits, busy = s.oldest.value, s.in_progress.value
    if not s.ready.value or waits is None or waits < _WAITS_S or busy is None:
        return None
    ready = f"{s.ready.value:,.0f} ready, the oldest for {duration(waits)}"
    if not busy:
        return f"{ready}, and none is in progress"
    owners = s.samples.diagnostics.owners if s.samples is not None else None
    ages = [None] if owners is None or len(owners) < busy else [owner.age_s for owner in owners]
    since = [age for age in ages if age is not None and age >= _WAITS_S]
    return f"{ready}, and none was taken for {duration(min(since))}" if len(since) == len(ages) else None


# Seconds without any sign that messages leave the queue. After that, a queue without rates is no longer called healthy.
STILL_S: Final = 60.0


def _head_stays(s: RuleInput) -> str | None:
    """Return the proof without rates: the message to be popped next stays at the head, and no transaction has it."""
    motion, q = s.queue.motion, s.samples
    if motion is None or motion.still_s is None or motion.still_s < STILL_S or not s.ready.value or q is None:
        return None
    held = q.head is None or q.held is None or any(each.running for each in (*q.held, *q.locked))
    if not _in_order(q.layout) or held or q.partial or q.elsewhere or s.at_work:
        return None
    which = f"message {motion.head_id}" if motion.head_id is not None else "the same message"
    age = f", {duration(s.oldest.value)} old," if s.oldest.value is not None else ""
    return f"{s.ready.value:,.0f} ready, and {which}{age} has been the first of them for {duration(motion.still_s)}"


def _not_moving(s: RuleInput) -> str | None:
    if s.paused(Side.POPPERS):
        return None
    if s.moved is None:
        in_group = s.layout is not None and s.layout.part is not None
        return _not_taken(s) if in_group else _head_stays(s)
    if not s.ready.value or s.moved > 0:
        return None
    return f"{s.ready.value:,.0f} ready and not one pop, while {s.push_rate.value or 0:,.1f}/s are pushed"


def _outrun(s: RuleInput) -> str | None:
    if s.pauses:
        return None
    proof = _risen(s.queue.rise) if s.queue.rise is not None else _growing(s)
    return f"{proof}; {s.queue.slower.words}" if proof is not None and s.queue.slower is not None else proof


def _risen(rise: Rise) -> str:
    age = rise.age_before_s
    ages = f", the oldest from {duration(age)} to {duration(rise.wait_s)}" if age is not None and rise.wait_s else ""
    return f"ready rose from {rise.before:,.0f} to {rise.now:,.0f}{ages} in {duration(rise.over_s)}"


def _growing(s: RuleInput) -> str | None:
    if s.net_rate is None or s.push_rate.value is None or s.pop_rate.value is None:
        return None
    if not s.ready.value or s.ready.value < 100 or s.net_rate <= max(0.5, 0.05 * s.push_rate.value):
        return None
    return f"push {s.push_rate.value:,.1f}/s, pop {s.pop_rate.value:,.1f}/s: growing {s.net_rate:,.1f}/s"


def _no_pushes(s: RuleInput) -> str | None:
    silence = s.queue.silence
    if silence is None or s.paused(Side.PUSHERS) or (s.fill.value or 0.0) >= _FULL:
        return None
    rollbacks = s.target.rollbacks
    rolled_back = f"; {rollbacks:,.1f} rollbacks/s in this database" if rollbacks else ""
    return f"no push for {duration(silence.silent_s)}, {rate(silence.before_per_s)}/s before{rolled_back}"


def _due_later(s: RuleInput) -> str | None:
    found = s.queue.due_later
    if found is None:
        return None
    many = f"~{found.later:,.0f} of the {found.pushed:,.0f} messages since {time_of_day(found.since_at)} are due later"
    return f"{many}; of those before, {percent(found.share_before)}"


RING_FULL = Rule("ring full", Severity.CRITICAL, 5.0, _ring_full)
NO_POPS = Rule(
    "no pops", Severity.CRITICAL, 10.0, _not_moving, explains=("pushers outrun poppers",), refuted=may_have_popped
)
NO_PUSHES = Rule("no pushes", Severity.WARNING, 0.0, _no_pushes, probes=("counters",), unread=uncounted)
DUE_LATER = Rule(
    "due later than usual",
    Severity.WARNING,
    0.0,
    _due_later,
    probes=("counters", "table_counters", "scheduled"),
    unread=uncounted,
)
OUTRUN = Rule("pushers outrun poppers", Severity.WARNING, 30.0, _outrun)
