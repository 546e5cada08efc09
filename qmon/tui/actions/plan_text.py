"""The texts of a plan: its messages, messages left out, batches, duration, the SQL, and whether it can be undone."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Final

from qmon.model import formatting
from qmon.model.operation_records import OperationKind, OperationResult, Plan, PlanRow
from qmon.operate.plan import plan_description
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.sanitize import clean
from qmon.tui.spans import Line, entry_lines
from qmon.tui.widgets import grid_table
from qmon.tui.widgets.grid_table import table_lines


class PlanDialogText(Text):
    """The texts of a plan that only the dialog shows."""

    PLANNED_AGO = "{age} ago"
    MORE_ROWS = "… and {count:,} more"
    IN_BATCHES = "{count} in batches of {batch:,}"


# The labels of the button.
VERBS: Final[dict[OperationKind, str]] = {
    OperationKind.REQUEUE: "Requeue",
    OperationKind.REDRIVE: "Redrive",
    OperationKind.PURGE: "Purge",
    OperationKind.PAUSE: "Pause",
    OperationKind.RESUME: "Resume",
    OperationKind.UNDO: "Undo",
    OperationKind.REPAIR: "Repair",
    OperationKind.END_SESSION: "End session",
    OperationKind.INSTALL_GATE: "Install gate",
    OperationKind.REMOVE_GATE: "Remove gate",
    OperationKind.EMPTY_TRASH: "Empty trash",
}

COLUMNS: Final = (
    grid_table.GridColumn("id", "ID", least=6, most=36, shrinks_to=12, sortable=False),
    grid_table.GridColumn("state", "STATE", rank=4, most=12, sortable=False),
    grid_table.GridColumn("age", "AGE", True, 1, least=7, most=10, sortable=False),
    grid_table.GridColumn("owner", "OWNER", rank=2, most=32, shrinks_to=12, sortable=False),
    grid_table.GridColumn("attempts", "ATTEMPTS", True, 3, most=9, sortable=False),
    grid_table.GridColumn("payload", "PAYLOAD", rank=5, least=12, grows=True, sortable=False),
)


_ERROR: Final = grid_table.GridColumn("error", "ERROR", rank=2, most=48, shrinks_to=14, sortable=False)


# A plan older than this many seconds shows its age, because the times in its text were computed during planning.
_OLD_S: Final = 10.0


def plan_lines(plan: Plan, cells: int, *, sql: bool, planned_s: float = 0.0) -> list[Line]:
    """Return the complete text of a plan, which the user must confirm.

    ``sql``: add the statements at the end. ``planned_s``: seconds since planning.
    """
    lines = entry_lines("which", plan.predicate, cells)
    lines += (
        entry_lines("planned", PlanDialogText.PLANNED_AGO.render(age=formatting.duration(planned_s)), cells, "muted")
        if planned_s >= _OLD_S
        else []
    )
    lines += left_out_lines(plan, cells) or entry_lines("left out", "nothing", cells, "muted")
    lines += entry_lines("effort", effort_text(plan), cells)
    undo = plan_description.undo_text(plan.undo, figures.moment_text)
    lines += entry_lines("undo", undo, cells, "text" if plan.undo.possible else "accent")
    for name, notes, color in (("risk", plan.risks, "accent"), ("note", plan.consequences, "text")):
        for index, line in enumerate(notes):
            lines += entry_lines(name if index == 0 else "", f"▲ {line}" if name == "risk" else line, cells, color)
    if plan.first:
        failed = any(row.error is not None for row in plan.first)
        shown = tuple(_ERROR if failed and each.key == "owner" else each for each in COLUMNS)
        lines += [(), *table_lines(shown, [_row(row, planned_s, failed=failed) for row in plan.first], cells)]
        if plan.count > len(plan.first):
            lines.append(((f" {PlanDialogText.MORE_ROWS.render(count=plan.count - len(plan.first))}", "muted"),))
    if plan.sql and sql:
        lines += [(), *sql_lines(plan.sql, cells)]
    return lines


def left_out_lines(plan: Plan, cells: int) -> list[Line]:
    """Return the numbers of messages that are left out: ``3 owner alive · 12 locked``."""
    return entry_lines("left out", " · ".join(each.text for each in plan.left_out), cells)


def effort_text(plan: Plan) -> str:
    """Return ``1,204 messages in batches of 500, about 2 s``."""
    parts = [plan_description.count_text(plan)]
    if plan.batch is not None and plan.count > plan.batch:
        parts[0] = PlanDialogText.IN_BATCHES.render(count=parts[0], batch=plan.batch)
    if plan.seconds is not None:
        parts.append(plan_description.duration_text(plan.seconds))
    return ", ".join(parts)


def can_undo(plan: Plan | None, result: OperationResult) -> bool:
    """Return True if the operation can be undone now."""
    return plan is not None and plan.undo.possible and bool(result.operation) and result.done > 0


def sql_lines(statements: Iterable[str], cells: int) -> list[Line]:
    """Return the statements of the plan, with long lines broken."""
    lines: list[Line] = []
    for index, statement in enumerate(statements):
        if index:
            lines.append(())
        for line in statement.rstrip().splitlines():
            pieces = textwrap.wrap(
                clean(line.expandtabs(4)), max(20, cells - 2), drop_whitespace=False, subsequent_indent="    "
            )
            lines += [((f" {piece}", "muted"),) for piece in pieces or [""]]
    return lines


def _row(row: PlanRow, planned_s: float, *, failed: bool) -> grid_table.GridRow:
    """Build the row of a message.

    ``failed``: show the error instead of the owner, because failed messages have no owner.
    """
    who = " ".join(part for part in (row.owner or "", _owner_state(row)) if part)
    owner = row.error if failed else who
    return grid_table.GridRow(
        row.id,
        (
            (clean(row.id), "text"),
            (clean(row.state.replace("_", " ")), "muted"),
            grid_table.text_cell(None if row.age_s is None else formatting.duration(row.age_s + planned_s)),
            grid_table.text_cell(clean(owner) if owner else None),
            grid_table.text_cell(None if row.attempts is None else formatting.count(row.attempts)),
            grid_table.text_cell(None if row.payload is None else clean(row.payload), "muted"),
        ),
    )


def _owner_state(row: PlanRow) -> str:
    return "" if row.owner_state.value == "none" else row.owner_state.value
