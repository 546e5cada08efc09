"""Deadlocks again and again on the queue's tables."""

from __future__ import annotations

import re
from typing import Final

from qmon.model.figure import Severity
from qmon.model.layout.layout import Layout
from qmon.model.samples.deadlocks import Circle, CircleSample
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import RuleInput

FEWEST: Final = 2
"""One a minute happens, and is popped again."""
LATELY_S: Final = 6.0
"""The last was no longer ago."""
_SHOWN: Final = 70
_SAVEPOINT: Final = re.compile(r"^SAVEPOINT \w+ ?; ?", re.IGNORECASE)
"""An ODBC driver puts one before each statement."""
_VERBS: Final = ("push", "push_batch", "pop", "pop_batch", "complete", "complete_batch", "fail", "requeue", "archive")


def _deadlocks(s: RuleInput) -> str | None:
    found = s.target.deadlocks
    if found is None or found.count < FEWEST or found.last_s is None or found.last_s > LATELY_S:
        return None
    if s.layout is None or s.snapshot is None:
        return None
    said = f"{found.count} deadlocks in the last minute"
    mine = [circle for circle in found.circles if _about(circle, s, s.layout)]
    if mine:
        waiting = " and ".join(_one(member) for member in mine[-1].members[:3])
        return f"{said}; seen just before one, waiting for each other: {waiting}"
    if found.circles or len(s.snapshot.queues) > 1:
        return None  # which queue they are about is not known, or it is another one
    return f"{said}; their statements are in the server's log"


def _about(circle: Circle, s: RuleInput, layout: Layout) -> bool:
    samples = s.samples
    tables = {c.table_id for c in (samples.counters, samples.data_counters) if c is not None} if samples else set()
    if any(member.table_id in tables for member in circle.members):
        return True
    if any(member.table_id is not None for member in circle.members):
        return False
    routines = (layout.routine(verb) for verb in _VERBS)
    names = {name.name for name in (layout.table, layout.data_table, *routines) if name is not None}
    words = [re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE) for name in names]
    return any(word.search(member.statement) for member in circle.members for word in words)


def _one(member: CircleSample) -> str:
    statement = _SAVEPOINT.sub("", " ".join(member.statement.split()))
    short = statement if len(statement) <= _SHOWN else f"{statement[: _SHOWN - 1]}…"
    who = f" ({member.application})" if member.application else ""
    return f"session {member.session}{who}: {short}"


DEADLOCKS = Rule("deadlocks", Severity.WARNING, 0.0, _deadlocks, "3")
