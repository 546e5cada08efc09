"""A plan, its progress and its end as text for people and as JSON for programs."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from qmon.cli.output import clean

if TYPE_CHECKING:
    from qmon.model.operations import OperationResult, Plan, PlanRow, Undo

_LABEL = 10
_CELLS = 110


def plan_text(plan: Plan) -> Iterator[str]:
    """The lines of a plan."""
    yield clean(plan.title)
    yield from _entry("target", plan.target)
    yield from _entry("which", plan.predicate)
    yield from _entry("count", f"{plan.count:,} {plan.unit if plan.count != 1 else plan.unit.removesuffix('s')}")
    yield from _entry("left out", ", ".join(f"{each.why} {each.count:,}" for each in plan.left_out) or "nothing")
    yield from _entry("effort", _effort(plan))
    yield from _entry("undo", undo_text(plan.undo))
    for name, told in (("risk", plan.risks), ("note", plan.consequences)):
        for index, line in enumerate(told):
            yield from _entry(name if not index else "", line)
    for index, row in enumerate(plan.first):
        yield from _entry("first" if not index else "", _row(row))
    if plan.count > len(plan.first) > 0:
        yield from _entry("", f"… and {plan.count - len(plan.first):,} more")
    for index, statement in enumerate(plan.sql):
        for number, line in enumerate(statement.strip().splitlines()):
            yield f"  {'sql' if not index and not number else '':<{_LABEL}}{clean(line)}"
    if plan.refused is not None:
        yield from _entry("refused", plan.refused)


def _entry(name: str, told: str) -> Iterator[str]:
    lines = textwrap.wrap(clean(told), _CELLS - _LABEL) or ([] if not name else ["–"])
    for index, line in enumerate(lines):
        yield f"  {name if not index else '':<{_LABEL}}{line}"


def _effort(plan: Plan) -> str:
    batches = f"batches of {plan.batch:,}" if plan.batch is not None and plan.batch < plan.count else ""
    time = "" if plan.seconds is None else f"about {plan.seconds:,.0f} s" if plan.seconds >= 1 else "less than a second"
    return ", ".join(part for part in (batches, time) if part) or "one step"


def undo_text(undo: Undo) -> str:
    """``undoable``, ``partly``, or that it cannot be undone, with what would not come back."""
    notes = "; ".join(undo.notes)
    if not undo.possible:
        return f"cannot be undone{': ' + notes if notes else ''}"
    until = f" until {moment(undo.until)}" if undo.until is not None else ""
    return f"partly undoable{until}: {notes}" if notes else f"undoable{until}"


def moment(at: float) -> str:
    """A moment in the time of this machine."""
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _row(row: PlanRow) -> str:
    age = "" if row.age_s is None else f"{row.age_s:,.0f} s"
    owner = " ".join(p for p in (row.owner or "", "" if row.owner_state == "none" else str(row.owner_state)) if p)
    tries = "" if row.attempts is None else f"attempts {row.attempts}"
    return "  ".join(
        part for part in (row.id, row.state.replace("_", " "), age, owner, tries, row.payload or "") if part
    )


def result_text(result: OperationResult, took_s: float) -> Iterator[str]:
    """The lines of an end; the first says it all."""
    counts = f"done {result.done:,}, skipped {result.skipped:,}, changed {result.changed:,}"
    if result.refused:
        counts += f", refused {result.refused:,}"
    audited = f"; operation {result.operation}" if result.operation else ""
    yield clean(f"{result.queue}: {result.kind} {result.state} in {took_s:,.1f} s: {counts}{audited}")
    for told in result.notes:
        yield clean(f"  {told}")


def as_object(plan: Plan, result: OperationResult | None) -> dict[str, Any]:
    """A plan and how it ended; ``result`` is null where nothing was begun."""
    return {
        "schema": 1,
        "plan": dataclasses.asdict(plan),
        "result": None if result is None else dataclasses.asdict(result),
    }
