"""Builds the plan of an action on the chosen messages of a group's queue, and the work that carries it out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from qmon.model.layout.layout import Layout
from qmon.model.operation_records import LeftOut, Nothing, OperationKind, Plan, RedriveLimits, Undo
from qmon.operate.actions.redrive import RedriveWork, limits_text, seconds_at_rate
from qmon.operate.context import OperatorContext
from qmon.operate.libraries.chosen_messages import ChosenMessages, ChosenRow, name_row
from qmon.operate.plan.preview import estimate_seconds
from qmon.operate.row_set import RowSet
from qmon.operate.run.batches import BatchWork, MoveBatch
from qmon.operate.run.pacing import largest_batch_for
from qmon.operate.run.running_operation import Work
from qmon.operate.sql import Sql
from qmon.texts import Text


class LibraryPlanText(Text):
    """The title of a plan."""

    TITLE = "{kind} {messages} of {queue}"


def build_plan(
    context: OperatorContext,
    sql: Sql,
    layout: Layout,
    kind: OperationKind,
    rows: ChosenMessages,
    chosen: Sequence[ChosenRow],
    limits: RedriveLimits | None,
    *,
    left_out: tuple[LeftOut, ...],
    change: tuple[str, ...],
    effects: tuple[str, ...],
    undo: Undo,
    copied: tuple[str, ...],
    refused: str | None,
) -> Plan:
    """Return the plan for the chosen messages.

    Args:
        context: the operator.
        sql: runs the statements of the plan.
        layout: the queue.
        kind: the action.
        rows: the choice.
        chosen: the messages.
        limits: the limits of a redrive, or ``None``.
        left_out: the messages that are not chosen, with reasons.
        change: the statements that change messages, after they are locked.
        effects: what these statements do, in words.
        undo: whether the action can be undone.
        copied: the risks of the copies for the undo.
        refused: why the action is not allowed, or ``None``.
    """
    count = len(chosen)
    takes_s = estimate_seconds(sql, kind, layout, count)
    return Plan(
        kind,
        context.target.name,
        layout.queue,
        title=LibraryPlanText.TITLE.render(
            kind=str(kind).capitalize(), messages=rows.counts_text(chosen), queue=layout.queue
        ),
        count=count,
        predicate=rows.predicate_text(),
        sql=(rows.lock_text(sql), *change),
        first=rows.read_first_rows(context, sql, chosen),
        left_out=left_out,
        batch=largest_batch_for(None if limits is None else limits.rate),
        seconds=takes_s if limits is None else seconds_at_rate(takes_s, count, limits),
        undo=undo,
        consequences=(*(() if limits is None else (limits_text(limits),)), *effects),
        risks=(*rows.describe_risks(chosen), *copied),
        consent=context.required_consent(count),
        refused=refused or (None if count else Nothing.NO_MESSAGE),
    )


def work_for(
    marks: RowSet, create_mover: Callable[..., MoveBatch], rows: ChosenMessages, limits: RedriveLimits | None
) -> Work:
    """Return the work that changes these messages in batches, with ``limits`` at a limited rate."""
    if limits is None:
        return BatchWork(marks, create_mover, name_row)
    return RedriveWork(marks, create_mover, name_row, limits, rows.read_outcomes)
