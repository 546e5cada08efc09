"""Verdicts about single messages: repeated failure, double delivery, ring loss."""

from __future__ import annotations

from typing import Final

from qmon.model.figure import Severity
from qmon.model.samples.messages import DrawerSample
from qmon.model.text import duration
from qmon.model.verdicts.rule import Rule, RuleInput, always

_FAILURES: Final = 2

# Minimum seconds of watching: on a fast queue a message may fail twice by chance in less.
_SEEN_S: Final = 2.0


def _poison(s: RuleInput) -> str | None:
    bad = s.queue.repeated
    if bad is None or bad.failures < _FAILURES or bad.seconds < _SEEN_S:
        return None
    tries = f", {bad.attempts:,} attempts in all" if bad.attempts is not None else ""
    return f"message {bad.id} was popped and given back {bad.failures:,} times in {duration(bad.seconds)}{tries}"


def _twice(s: RuleInput) -> str | None:
    if not s.queue.twice:
        return None
    one = s.queue.twice[0]
    more = f"; and {len(s.queue.twice) - 1:,} more messages" if len(s.queue.twice) > 1 else ""
    return (
        f"message {one.id} was popped by {one.second} while {one.first}, who popped it {duration(one.seconds)} ago, "
        f"still works on it{more}"
    )


def _hole(s: RuleInput) -> str | None:
    loss = s.queue.ring_loss
    if loss is None or loss.hole is None:
        return None
    waited = f"number {loss.hole:,} has no message; a popper drew it at least {duration(loss.hole_s)} ago"
    if loss.drawer is None:
        return f"{waited}: no open transaction has it"
    return f"{waited}: {_named(loss.drawer)} has drawn a number and may yet push it"


def _named(who: DrawerSample) -> str:
    name = f"session {who.session}" if who.session else "a prepared transaction"
    more = ", ".join(part for part in (who.state, who.application) if part)
    return f"{name} ({more})" if more else name


def _orphans(s: RuleInput) -> str | None:
    loss = s.queue.ring_loss
    if loss is None or not loss.orphans or loss.orphan is None:
        return None
    age = f", pushed {duration(loss.orphan_s)} ago" if loss.orphan_s is not None else ""
    count = "1 message was" if loss.orphans == 1 else f"{loss.orphans:,} messages were"
    swept = f" ({loss.swept:.0%} of the slots read)" if loss.swept < 1 else ""
    who = loss.popper
    waits = f"; poppers take them when {_named(who)} has ended, which may yet pop them" if who is not None else ""
    return f"{count} drawn by poppers and not popped: number {loss.orphan:,}{age}{swept}{waits}"


_ROWS: Final = ("owners", "tried")
_SWEEP: Final = ("slot_sweep", "drawers")
POISON = Rule(
    "poison message at the head",
    Severity.CRITICAL,
    3.0,
    _poison,
    explains=("no pops", "poppers not claiming"),
    keys={"2": always},
    probes=_ROWS,
)
DELIVERED_TWICE = Rule("delivered twice", Severity.CRITICAL, 2.0, _twice, probes=(*_ROWS, "clients"))
HOLE = Rule(
    "ring hole",
    Severity.CRITICAL,
    5.0,
    _hole,
    explains=("no pops", "poppers not claiming", "ring full"),
    keys={"R": lambda s: s.queue.ring_loss is not None and s.queue.ring_loss.drawer is None},
    probes=_SWEEP,
)
ORPHANS = Rule(
    "ring orphans",
    Severity.WARNING,
    5.0,
    _orphans,
    keys={"R": lambda s: s.queue.ring_loss is not None and s.queue.ring_loss.popper is None},
    probes=_SWEEP,
)
