"""Redrive: retries dead messages with new attempts and a rate limit, and stops if too many fail again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from qmon.engines.base import Value
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput
from qmon.model.layout.io import table_to_text
from qmon.model.layout.layout import Layout, Write
from qmon.model.operations import Choice, Kind, Nothing, Plan, RedriveLimits
from qmon.model.text import counted, number
from qmon.operate.actions.requeue import RequeueStrategy, undo_of, unfit
from qmon.operate.context import OnProgress, OperatorContext, Stopped
from qmon.operate.plan import allowed
from qmon.operate.plan.preview import estimated_s, first_rows
from qmon.operate.plan.rights import REQUEUE, queue_tables, unkept, why_not
from qmon.operate.plan.selection import Criteria, MessageQuery, check, named_names, needs_pushed, value_of
from qmon.operate.row_set import Mark, RowSet, ids_for
from qmon.operate.run.batches import Batches, Move
from qmon.operate.run.failures import FailureWatch, Look, Outcome
from qmon.operate.run.operation import Record, Running
from qmon.operate.run.pacing import largest_at
from qmon.operate.run.prepared import PreparedAction, refused
from qmon.operate.run.table_identity import read_place
from qmon.operate.sql import Sql
from qmon.operate.table import read_structure

_UNWATCHED: Final = "which of them fail again is not seen: nothing makes a message known afterwards"


def prepare_redrive(context: OperatorContext, layout: Layout, choice: Choice, limits: RedriveLimits) -> PreparedAction:
    """Select and freeze the messages to redrive. Raises ``BadInput`` for a choice that makes no sense, and server
    errors.
    """
    deny = partial(refused, context, Kind.REDRIVE, layout.queue, f"Redrive messages of {layout.queue}")
    if (why := allowed.why_not(layout, Kind.REDRIVE)) is not None or layout.state is None:
        return deny(why or "this table has no state column")
    choice = dead_alone(choice)
    check(layout, choice)
    check_limits(limits)
    if choice.aged:
        needs_pushed(layout)
    wanted = Criteria(("dead",), layout.enqueued_at, choice.older_than_s, None)
    again = () if layout.attempts is None else (Write("ready", layout.attempts, "value", 0),)
    with context.sql("redrive plan") as sql:
        why = why_not(context, sql, REQUEUE, layout.table)
        place = read_place(sql, layout.table)
        structure = read_structure(sql, layout.table, layout.state.column)
        if (never := unfit(context, structure)) is not None:
            return deny(never)
        strategy = RequeueStrategy(layout, layout.state, structure, wanted, place, again)
        if (never := unkept(sql, layout.table, strategy.kept)) is not None:
            return deny(never)
        called = structure.called_by(layout)
        watched = structure.known_by(called) and not set(called) & set(strategy.ready.columns)
        query = MessageQuery(sql, layout, structure, choice, wanted)
        chosen = query.choose()
        count = chosen.rows.count
        undo = undo_of(sql, strategy, chosen)
        plan = Plan(
            Kind.REDRIVE,
            context.target.name,
            layout.queue,
            title=f"Redrive {chosen.words} of {layout.queue}",
            count=count,
            predicate=chosen.predicate,
            sql=strategy.statements(sql),
            first=first_rows(context, query, chosen),
            left_out=chosen.left_out,
            batch=largest_at(limits.rate),
            seconds=seconds(estimated_s(sql, Kind.REDRIVE, layout, count), count, limits),
            undo=undo,
            consequences=(limit_words(limits) if watched else _UNWATCHED, *strategy.consequences()),
            risks=strategy.risks(chosen),
            consent=context.consent(count),
            refused=why or strategy.in_the_way(sql) or (None if count else Nothing.NO_MESSAGE),
        )
    frozen: dict[str, object] = {"clock": chosen.facts.clock, "rate": limits.rate, "failures": limits.failures}
    frozen |= strategy.shown()
    record = Record(table_to_text(layout.table), frozen, undoable=undo.possible, tables=queue_tables(layout))
    names = (
        dict(strategy.names) | named_names(called) | {"called": called, "state": structure.typed(layout.state.column)}
    )
    fresh = layout.attempts is not None and any(
        each.column == layout.attempts and each.what == "value" and each.value == 0 for each in strategy.ready.writes
    )
    look = partial(_look, layout=layout, called=called, names=names, fresh=fresh) if watched else None
    work = RedriveWork(chosen.rows, strategy.begin, strategy.named, limits, look)
    return PreparedAction(context, plan, work if count else None, record)


@dataclass(frozen=True, slots=True)
class RedriveWork:
    """Make the frozen messages ready and watch their outcomes.

    ``read_outcomes``: ``None`` if outcomes cannot be read.
    """

    rows: RowSet
    begin: Callable[[Sql, Running, FailureWatch], Move]
    named: Callable[[Sql, Mark], str]
    limits: RedriveLimits
    look: Callable[[Sql, Sequence[str]], Sequence[Outcome]] | None

    def __call__(self, sql: Sql, operation: Running, on_progress: OnProgress, stopped: Stopped) -> None:
        """Run until all are ready, ``stopped()`` is true, or too many have failed again."""
        sql.set_up("settle")
        look: Look | None = None if self.look is None else partial(self.look, sql)
        watch = FailureWatch(self.limits.failures, look)
        move = self.begin(sql, operation, watch)
        batches = Batches(
            operation, sql.connection, self.rows.count, on_progress, stopped, rate=self.limits.rate, watch=watch
        )
        batches.work(self.rows, move, partial(self.named, sql))
        operation.note(watch.summary(operation.total.done))


def dead_alone(choice: Choice) -> Choice:
    """Return the choice limited to dead messages. Raises ``BadInput`` if it asks for others."""
    if choice.state not in (None, "dead"):
        raise BadInput(f"a redrive is of dead messages, not of those that are {choice.state}: qmon requeue")
    if choice.owner is not None:
        raise BadInput("dead messages have no owner")
    return replace(choice, state="dead")


def check_limits(limits: RedriveLimits) -> None:
    """Raise ``BadInput`` for an invalid rate or number of failures."""
    if limits.rate is not None and not 0 < limits.rate <= 1e6:
        raise BadInput(f"a rate of {limits.rate:g} messages per second is none")
    if limits.failures is not None and limits.failures < 1:
        raise BadInput(f"{limits.failures} failures are none to stop at")


def limit_words(limits: RedriveLimits) -> str:
    """Describe for a plan how fast it runs, and when it stops early."""
    pace = (
        "as fast as batches that rest in between go"
        if limits.rate is None
        else f"{number(limits.rate)} per second at most"
    )
    if limits.failures is None:
        return f"{pace}, however many fail again"
    return f"{pace}; it stops once {counted(limits.failures, 'message')} failed again"


def seconds(estimated: float | None, count: int, limits: RedriveLimits) -> float | None:
    """Return the seconds for this many messages at this rate. ``estimated``: seconds without a limit."""
    if limits.rate is None:
        return estimated
    return max(estimated or 0.0, count / limits.rate)


def _look(
    sql: Sql, ids: Sequence[str], *, layout: Layout, called: Sequence[str], names: dict[str, Name], fresh: bool
) -> Sequence[Outcome]:
    """Read the outcomes of messages. ``fresh``: attempts were reset to 0, so they also show failures."""
    values: dict[str, Value] = {state: value_of(layout, state) for state in ("ready", "in_progress", "dead", "done")}
    given: dict[str, Value] = {"ids": ids_for(sql.engine.name, called, ids), "fresh": fresh}
    return sql.fetch(Outcome, "outcomes", names, values | given)
