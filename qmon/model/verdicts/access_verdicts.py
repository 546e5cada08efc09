"""Verdicts about a queue or target that cannot be reached, read or used.

A queue cannot be used if a session locks all its rows.
"""

from __future__ import annotations

from typing import Final

from qmon.model.figure import Severity, Verdict
from qmon.model.formatting import time_of_day
from qmon.model.operation_records import Side
from qmon.model.probe_table import probes_for
from qmon.model.verdicts.rule import Rule, RuleInput, may_have_popped
from qmon.model.waits.horizon_holders import holder_name, long_holder
from qmon.texts import Text


class AccessVerdictText(Text):
    """Proofs about the access to the server."""

    NO_CONNECTION = "no connection"
    LAST_SEEN = "{text}; last seen at {time}"


UNREACHABLE: Final = "unreachable"


def unreachable_verdict(reason: str) -> Verdict:
    """Return the verdict about a target that cannot be reached. ``reason``: the error while connecting."""
    return Verdict(
        UNREACHABLE, reason or AccessVerdictText.NO_CONNECTION, Severity.CRITICAL, cause=AccessVerdictText.NO_CONNECTION
    )


def _locked_proof(context: RuleInput) -> str | None:
    moves = bool(context.pops) or (context.pops is None and not context.failures)
    return None if moves or context.is_paused(Side.CONSUMERS) or context.locked is None else context.locked.proof


def _is_waited_for(context: RuleInput) -> bool:
    return context.locked is not None and context.locked.waited_for


def _holds_horizon(context: RuleInput) -> bool:
    """Return whether the session that locks the queue also holds the horizon.

    The key for the horizon then ends this session.
    """
    holder = long_holder(context.snapshot.horizon) if context.snapshot is not None else None
    return holder is not None and context.locked is not None and holder_name(holder) == context.locked.holder


LOCKED = Rule(
    "everything locked",
    Severity.CRITICAL,
    2.0,
    _locked_proof,
    explains=("no pops", "no consumers", "consumers not claiming", "ring full", "consumers fall behind"),
    cause=lambda context: context.locked.holder if context.locked is not None else "",
    keys={"4": _is_waited_for, "3": _holds_horizon},
    probes=probes_for("locked"),
    unread=lambda context: context.snapshot is None or context.snapshot.blocking is None,
    refuted=may_have_popped,
)


CANNOT_SEE_CODE: Final = "cannot see"


def _cannot_see_proof(context: RuleInput) -> str | None:
    """Return the proof that the queue is gone or that our role may not read its depth.

    A queue that qmon only guessed may disappear, for example because its table became a partition of another table.
    """
    guess = context.layout is not None and context.layout.is_guess
    found = next((f for f in context.failures if f.gone and (f.grant or not guess)), None)
    if found is None and context.ready.value is None:
        found = next((f for f in context.failures if f.grant), None)
    if found is None:
        return None
    if context.last_seen_at is None:
        return found.text
    return AccessVerdictText.LAST_SEEN.render(text=found.text, time=time_of_day(context.last_seen_at))


CANNOT_SEE = Rule(CANNOT_SEE_CODE, Severity.CRITICAL, 0.0, _cannot_see_proof)
