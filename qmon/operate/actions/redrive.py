"""Redrives (retries) dead messages: resets their attempts, limits the rate, and stops if too many fail again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from qmon.engines.base import Value
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput
from qmon.model.formatting import count_text, number
from qmon.model.layout.layout import Layout, RequeueWrite
from qmon.model.operation_records import Choice, OperationKind, RedriveLimits
from qmon.operate.actions.requeue import plan_table_requeue
from qmon.operate.context import OnProgress, OperatorContext, StopRequested
from qmon.operate.plan import allowed_actions
from qmon.operate.plan.selection import (
    Criteria,
    check_choice,
    check_push_time,
    id_names,
    state_text,
    state_value,
)
from qmon.operate.row_set import Mark, RowSet, ids_for
from qmon.operate.run.batches import Batches, MoveBatch
from qmon.operate.run.failure_watch import FailureWatch, Outcome, ReadOutcomes
from qmon.operate.run.pacing import largest_batch_for
from qmon.operate.run.running_operation import PreparedAction, RunningOperation, refused_action
from qmon.operate.sql import Sql
from qmon.texts import Text


class RedriveText(Text):
    """Texts of plans that redrive messages."""

    FAILURES_UNSEEN = "qmon cannot see which messages fail again, because it cannot identify a message after its retry"
    TITLE_ALL = "Redrive messages of {queue}"
    NO_STATE = "this table has no state column"
    TITLE = "Redrive {messages} of {queue}"
    NOT_DEAD = "a redrive retries only dead messages, not messages that are {state}: use qmon requeue"
    NO_OWNER = "dead messages have no owner"
    RATE_RANGE = "the rate must be greater than 0 and at most 1,000,000 messages per second, not {rate:g}"
    FAILURES_RANGE = "the number of failures to stop at must be at least 1, not {failures}"
    NO_RATE = "without a rate limit, in batches with pauses"
    AT_RATE = "at most {rate} per second"
    NEVER_STOPS = "{pace}; the redrive does not stop if messages fail again"
    STOPS = "{pace}; the redrive stops once {messages} have failed again"


def prepare_redrive(context: OperatorContext, layout: Layout, choice: Choice, limits: RedriveLimits) -> PreparedAction:
    """Select and freeze the messages to redrive.

    Raises server errors, and ``BadInput`` for a choice that makes no sense.
    """
    deny = partial(
        refused_action, context, OperationKind.REDRIVE, layout.queue, RedriveText.TITLE_ALL.render(queue=layout.queue)
    )
    if (why := allowed_actions.why_not_allowed(layout, OperationKind.REDRIVE)) is not None or layout.state is None:
        return deny(why or RedriveText.NO_STATE)
    choice = dead_only(choice)
    check_choice(layout, choice)
    check_limits(limits)
    if choice.has_age_limit:
        check_push_time(layout)
    wanted = Criteria(("dead",), layout.enqueued_at, choice.older_than_s, None)
    again = () if layout.attempts is None else (RequeueWrite("ready", layout.attempts, "value", 0),)
    planned = plan_table_requeue(
        context, layout, layout.state, OperationKind.REDRIVE, RedriveText.TITLE, choice, wanted, again
    )
    if isinstance(planned, str):
        return deny(planned)
    plan, requeue, structure = planned.plan, planned.requeue, planned.requeue.structure
    called = structure.id_columns(layout)
    watched = structure.is_identified_by(called) and not set(called) & set(requeue.ready.columns)
    plan = replace(
        plan,
        batch=largest_batch_for(limits.rate),
        seconds=seconds_at_rate(plan.seconds, plan.count, limits),
        consequences=(limits_text(limits) if watched else RedriveText.FAILURES_UNSEEN, *plan.consequences),
    )
    record = planned.record_with({"rate": limits.rate, "failures": limits.failures})
    names = (
        dict(requeue.names)
        | id_names(called)
        | {"called": called, "state": structure.typed_column(layout.state.column)}
    )
    fresh = layout.attempts is not None and any(
        each.column == layout.attempts and each.what == "value" and each.value == 0 for each in requeue.ready.writes
    )
    look = partial(_read_outcomes, layout=layout, called=called, names=names, fresh=fresh) if watched else None
    work = RedriveWork(planned.chosen.rows, requeue.create_mover, requeue.read_message_name, limits, look)
    return PreparedAction(context, plan, work if plan.count else None, record)


@dataclass(frozen=True, slots=True)
class RedriveWork:
    """Make the frozen messages ready and watch their outcomes.

    ``read_outcomes``: ``None`` if outcomes cannot be read.
    """

    rows: RowSet
    create_mover: Callable[[Sql, RunningOperation, FailureWatch], MoveBatch]
    read_message_name: Callable[[Sql, Mark], str]
    limits: RedriveLimits
    read_outcomes: Callable[[Sql, Sequence[str]], Sequence[Outcome]] | None

    def __call__(self, sql: Sql, operation: RunningOperation, on_progress: OnProgress, stopped: StopRequested) -> None:
        """Run until all messages are ready, ``stopped()`` is true, or too many messages have failed again."""
        sql.set_up_session("settle")
        look: ReadOutcomes | None = None if self.read_outcomes is None else partial(self.read_outcomes, sql)
        watch = FailureWatch(self.limits.failures, look)
        move = self.create_mover(sql, operation, watch)
        batches = Batches(
            operation, sql.connection, self.rows.count, on_progress, stopped, rate=self.limits.rate, watch=watch
        )
        batches.move_all(self.rows, move, partial(self.read_message_name, sql))
        operation.add_note(watch.summary_text(operation.total.done))


def dead_only(choice: Choice) -> Choice:
    """Return the choice limited to dead messages. Raises ``BadInput`` if the choice names another state."""
    if choice.state not in (None, "dead"):
        raise BadInput(RedriveText.NOT_DEAD.render(state=state_text(choice.state)))
    if choice.owner is not None:
        raise BadInput(RedriveText.NO_OWNER)
    return replace(choice, state="dead")


def check_limits(limits: RedriveLimits) -> None:
    """Raise ``BadInput`` for an invalid rate or number of failures."""
    if limits.rate is not None and not 0 < limits.rate <= 1e6:
        raise BadInput(RedriveText.RATE_RANGE.render(rate=limits.rate))
    if limits.failures is not None and limits.failures < 1:
        raise BadInput(RedriveText.FAILURES_RANGE.render(failures=limits.failures))


def limits_text(limits: RedriveLimits) -> str:
    """Describe how fast the redrive of a plan runs, and when the redrive stops early."""
    pace = RedriveText.NO_RATE if limits.rate is None else RedriveText.AT_RATE.render(rate=number(limits.rate))
    if limits.failures is None:
        return RedriveText.NEVER_STOPS.render(pace=pace)
    return RedriveText.STOPS.render(pace=pace, messages=count_text(limits.failures, "message"))


def seconds_at_rate(estimated: float | None, count: int, limits: RedriveLimits) -> float | None:
    """Return the seconds for this many messages at this rate. ``estimated``: seconds without a limit."""
    if limits.rate is None:
        return estimated
    return max(estimated or 0.0, count / limits.rate)


def _read_outcomes(
    sql: Sql, ids: Sequence[str], *, layout: Layout, called: Sequence[str], names: dict[str, Name], fresh: bool
) -> Sequence[Outcome]:
    """Read the outcomes of messages.

    ``fresh``: attempts were reset to 0, so the attempt counter also shows failures.
    """
    values: dict[str, Value] = {state: state_value(layout, state) for state in ("ready", "in_progress", "dead", "done")}
    given: dict[str, Value] = {"ids": ids_for(sql.engine.name, called, ids), "fresh": fresh}
    return sql.fetch(Outcome, "outcomes", names, values | given)
