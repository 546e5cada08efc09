"""Verdicts about single messages: repeated failure, crashes, double delivery, ring loss."""

from __future__ import annotations

from typing import Final

from qmon.model.failures import fold_error
from qmon.model.figure import Severity
from qmon.model.formatting import duration, one_line, percent, time_of_day
from qmon.model.probe_table import probes_for
from qmon.model.samples.message_samples import DrawerSample
from qmon.model.verdicts.rule import Rule, RuleInput, holds_always
from qmon.texts import Text


class MessageVerdictText(Text):
    """Proofs about single messages."""

    ATTEMPTS = ", {count:,} attempts in total"
    GIVEN_BACK = "message {message} was popped and given back {failures:,} times in {time}{tries}"
    WITH_ERROR = "{given_back}; last error: {error}"
    CRASHES = "{count:,} consumers died one after the other, each with a message in progress, within {time}: {which}"
    ALWAYS_ONE = "always message {message}; the last consumer was {owner}"
    SEVERAL = "{count:,} different messages; the last consumer was {owner} with message {message}"
    ALSO_MORE = "; also {count:,} more"
    POPPED_TWICE = (
        "message {message} was popped by {second} while {first}, which popped it {age} ago, is still "
        "working on it{more}"
    )
    CLOCK_BEHIND = (
        "since {since}, {count:,} of the {total:,} newest messages read have push times {offset} behind the server's "
        "clock"
    )
    CLOCK_AHEAD = (
        "since {since}, {count:,} of the {total:,} newest messages read have push times {offset} ahead of the server's "
        "clock"
    )
    DUPLICATES = (
        "{copies:,} of the {total:,} newest messages read are equal, for example messages {first} and {second}; "
        "before, at most {share} were"
    )
    NUMBER_WITHOUT_MESSAGE = "number {number:,} has no message; a consumer took it at least {age} ago"
    NO_TRANSACTION = "{waited}; no open transaction has it"
    MAY_PUSH = "{waited}; {drawer} has taken a number and may still push it"
    SESSION = "session {session}"
    PREPARED = "a prepared transaction"
    PUSHED = ", pushed {age} ago"
    ONE_MESSAGE = "1 message was"
    MESSAGES = "{count:,} messages were"
    SLOTS_READ = " ({share} of the slots read)"
    MAY_POP = "; {drawer} may still pop them, otherwise consumers do when it ends"
    ORPHANS = "{count} taken by consumers but not popped: number {number:,}{age}{swept}{waits}"


_MIN_FAILURES: Final = 2

# Minimum seconds of watching. In a shorter time, a message of a fast queue may fail twice by chance.
_MIN_SEEN_S: Final = 2.0

# Maximum number of characters of an error in a proof.
_MAX_ERROR_CHARS: Final = 100


def _poison_proof(context: RuleInput) -> str | None:
    bad = context.queue.repeated
    if bad is None or bad.failures < _MIN_FAILURES or bad.seconds < _MIN_SEEN_S:
        return None
    tries = MessageVerdictText.ATTEMPTS.render(count=bad.attempts) if bad.attempts is not None else ""
    proof = MessageVerdictText.GIVEN_BACK.render(
        message=bad.id, failures=bad.failures, time=duration(bad.seconds), tries=tries
    )
    if not bad.error:
        return proof
    # An error may quote any part of the message, and alerts send proofs.
    error = one_line(fold_error(bad.error), _MAX_ERROR_CHARS)
    return MessageVerdictText.WITH_ERROR.render(given_back=proof, error=error)


def _crashes_proof(context: RuleInput) -> str | None:
    found = context.queue.crashes
    if found is None:
        return None
    if found.messages == 1:
        which = MessageVerdictText.ALWAYS_ONE.render(message=found.message, owner=found.owner)
    else:
        which = MessageVerdictText.SEVERAL.render(count=found.messages, owner=found.owner, message=found.message)
    return MessageVerdictText.CRASHES.render(count=found.count, time=duration(found.seconds), which=which)


def _is_always_one(context: RuleInput) -> bool:
    """Return whether the consumers died with the same message, so that this message may be the cause."""
    return context.queue.crashes is not None and context.queue.crashes.messages == 1


def _twice_proof(context: RuleInput) -> str | None:
    if not context.queue.twice:
        return None
    one = context.queue.twice[0]
    more = (
        MessageVerdictText.ALSO_MORE.render(count=len(context.queue.twice) - 1) if len(context.queue.twice) > 1 else ""
    )
    return MessageVerdictText.POPPED_TWICE.render(
        message=one.id, second=one.second, first=one.first, age=duration(one.seconds), more=more
    )


def _clock_proof(context: RuleInput) -> str | None:
    found = context.queue.wrong_clock
    if found is None:
        return None
    text = MessageVerdictText.CLOCK_BEHIND if found.behind_s > 0 else MessageVerdictText.CLOCK_AHEAD
    return text.render(
        count=found.messages,
        total=found.total,
        since=time_of_day(found.since_at),
        offset=duration(60 * round(abs(found.behind_s) / 60)),  # known to a few seconds
    )


def _duplicates_proof(context: RuleInput) -> str | None:
    found = context.queue.duplicates
    if found is None:
        return None
    return MessageVerdictText.DUPLICATES.render(
        copies=found.copies,
        total=found.total,
        first=found.ids[0],
        second=found.ids[1],
        share=percent(found.share_before),
    )


def _hole_proof(context: RuleInput) -> str | None:
    loss = context.queue.ring_loss
    if loss is None or loss.hole is None:
        return None
    waited = MessageVerdictText.NUMBER_WITHOUT_MESSAGE.render(number=loss.hole, age=duration(loss.hole_s))
    if loss.drawer is None:
        return MessageVerdictText.NO_TRANSACTION.render(waited=waited)
    return MessageVerdictText.MAY_PUSH.render(waited=waited, drawer=_drawer_text(loss.drawer))


def _drawer_text(drawer: DrawerSample) -> str:
    name = MessageVerdictText.SESSION.render(session=drawer.session) if drawer.session else MessageVerdictText.PREPARED
    more = ", ".join(part for part in (drawer.state, drawer.application) if part)
    return f"{name} ({more})" if more else name


def _orphans_proof(context: RuleInput) -> str | None:
    loss = context.queue.ring_loss
    if loss is None or not loss.orphans or loss.orphan is None:
        return None
    age = MessageVerdictText.PUSHED.render(age=duration(loss.orphan_s)) if loss.orphan_s is not None else ""
    count = (
        MessageVerdictText.ONE_MESSAGE if loss.orphans == 1 else MessageVerdictText.MESSAGES.render(count=loss.orphans)
    )
    swept = MessageVerdictText.SLOTS_READ.render(share=percent(loss.swept)) if loss.swept < 1 else ""
    who = loss.consumer
    waits = MessageVerdictText.MAY_POP.render(drawer=_drawer_text(who)) if who is not None else ""
    return MessageVerdictText.ORPHANS.render(count=count, number=loss.orphan, age=age, swept=swept, waits=waits)


_NEWEST: Final = ("newest",)
_SWEEP: Final = ("slot_sweep", "drawers")
POISON = Rule(
    "poison message at the head",
    Severity.CRITICAL,
    3.0,
    _poison_proof,
    explains=("no pops", "consumers not claiming"),
    keys={"2": holds_always},
    probes=probes_for("repeated"),
)
CRASHES = Rule(
    "consumers crash", Severity.CRITICAL, 0.0, _crashes_proof, keys={"2": _is_always_one}, probes=("owners",)
)
DELIVERED_TWICE = Rule("delivered twice", Severity.CRITICAL, 2.0, _twice_proof, probes=probes_for("twice"))
WRONG_CLOCK = Rule("wrong clock", Severity.WARNING, 0.0, _clock_proof, keys={"2": holds_always}, probes=_NEWEST)
DUPLICATES = Rule("duplicates", Severity.WARNING, 0.0, _duplicates_proof, keys={"2": holds_always}, probes=_NEWEST)
HOLE = Rule(
    "ring hole",
    Severity.CRITICAL,
    5.0,
    _hole_proof,
    explains=("no pops", "consumers not claiming", "ring full"),
    keys={"R": lambda context: context.queue.ring_loss is not None and context.queue.ring_loss.drawer is None},
    probes=_SWEEP,
)
ORPHANS = Rule(
    "ring orphans",
    Severity.WARNING,
    5.0,
    _orphans_proof,
    keys={"R": lambda context: context.queue.ring_loss is not None and context.queue.ring_loss.consumer is None},
    probes=_SWEEP,
)
