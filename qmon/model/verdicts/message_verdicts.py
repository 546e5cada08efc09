"""Verdicts about single messages: repeated failure, double delivery, ring loss."""

from __future__ import annotations

from typing import Final

from qmon.model.figure import Severity
from qmon.model.formatting import duration
from qmon.model.samples.message_samples import DrawerSample
from qmon.model.verdicts.rule import Rule, RuleInput, holds_always

_MIN_FAILURES: Final = 2

# Minimum seconds of watching. In a shorter time, a message of a fast queue may fail twice by chance.
_MIN_SEEN_S: Final = 2.0


def _poison_proof(context: RuleInput) -> str | None:
    bad = context.queue.repeated
    if bad is None or bad.failures < _MIN_FAILURES or bad.seconds < _MIN_SEEN_S:
        return None
    tries = f", {bad.attempts:,} attempts in total" if bad.attempts is not None else ""
    return f"message {bad.id} was popped and given back {bad.failures:,} times in {duration(bad.seconds)}{tries}"


def _twice_proof(context: RuleInput) -> str | None:
    if not context.queue.twice:
        return None
    one = context.queue.twice[0]
    more = f"; also {len(context.queue.twice) - 1:,} more" if len(context.queue.twice) > 1 else ""
    return (
        f"message {one.id} was popped by {one.second} while {one.first}, which popped it {duration(one.seconds)} ago, "
        f"is still working on it{more}"
    )


def _hole_proof(context: RuleInput) -> str | None:
    loss = context.queue.ring_loss
    if loss is None or loss.hole is None:
        return None
    waited = f"number {loss.hole:,} has no message; a consumer took it at least {duration(loss.hole_s)} ago"
    if loss.drawer is None:
        return f"{waited}; no open transaction has it"
    return f"{waited}; {_drawer_text(loss.drawer)} has taken a number and may still push it"


def _drawer_text(drawer: DrawerSample) -> str:
    name = f"session {drawer.session}" if drawer.session else "a prepared transaction"
    more = ", ".join(part for part in (drawer.state, drawer.application) if part)
    return f"{name} ({more})" if more else name


def _orphans_proof(context: RuleInput) -> str | None:
    loss = context.queue.ring_loss
    if loss is None or not loss.orphans or loss.orphan is None:
        return None
    age = f", pushed {duration(loss.orphan_s)} ago" if loss.orphan_s is not None else ""
    count = "1 message was" if loss.orphans == 1 else f"{loss.orphans:,} messages were"
    swept = f" ({loss.swept:.0%} of the slots read)" if loss.swept < 1 else ""
    who = loss.consumer
    waits = f"; {_drawer_text(who)} may still pop them, otherwise consumers do when it ends" if who is not None else ""
    return f"{count} taken by consumers but not popped: number {loss.orphan:,}{age}{swept}{waits}"


_ROWS: Final = ("owners", "tried")
_SWEEP: Final = ("slot_sweep", "drawers")
POISON = Rule(
    "poison message at the head",
    Severity.CRITICAL,
    3.0,
    _poison_proof,
    explains=("no pops", "consumers not claiming"),
    keys={"2": holds_always},
    probes=_ROWS,
)
DELIVERED_TWICE = Rule("delivered twice", Severity.CRITICAL, 2.0, _twice_proof, probes=(*_ROWS, "clients"))
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
