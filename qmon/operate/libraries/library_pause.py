"""Pauses and resumes the workers of a library's queue with the library's own pause."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from qmon.engines.sql import queries
from qmon.model.layout.layout import Layout
from qmon.model.layout.layout_io import table_to_text
from qmon.model.operation_records import OperationKind, Plan, Progress, Side, Undo
from qmon.operate.context import OnProgress, OperatorContext, StopRequested
from qmon.operate.plan import allowed_actions
from qmon.operate.plan.library_queue import LibraryQueue, library_queue_for
from qmon.operate.plan.required_rights import missing_rights, why_not_permitted
from qmon.operate.run.running_operation import OperationRecord, PreparedAction, RunningOperation, refused_action
from qmon.operate.sql import Sql
from qmon.texts import Text


class LibraryPauseText(Text):
    """Texts of plans that pause or resume queues of a library."""

    PAUSE = "Pause the {side} of {queue}"
    RESUME = "Resume the {side} of {queue}"
    NOT_A_LIBRARY = "{queue} is not a library queue"
    SEVERAL_QUEUES = "{queue} is a table with several queues; name one of these queues"
    NO_QUEUE_YET = "{library} has no queue {queue!r} yet: no worker has popped a message"
    UNCHANGED = "the {side} of {queue} are {state}"
    UNTIL_RESUMED = "{title} until you resume them?"
    SIDE = "the {side} of {queue}"
    RESUME_ENDS = "resume ends the pause"
    STOPS_AGAIN = "pause stops the {side} again"
    NO_END = "the pause does not end by itself: you must resume the {side}"


@dataclass(frozen=True, slots=True)
class _ChangedQueueRow:
    queue: str


@dataclass(frozen=True, slots=True)
class _PauseState:
    paused: bool


def prepare_library_pause(context: OperatorContext, layout: Layout, side: Side) -> PreparedAction:
    """Plan to pause the consumers. The pause lasts until an operator resumes the consumers."""
    return _prepare_action(context, layout, side, OperationKind.PAUSE)


def prepare_library_resume(context: OperatorContext, layout: Layout, side: Side) -> PreparedAction:
    """Plan to resume the consumers, even if another program paused them."""
    return _prepare_action(context, layout, side, OperationKind.RESUME)


def is_queue_paused_by_library(sql: Sql, layout: Layout) -> bool:
    """Return whether the library's own pause stops the consumers of this queue."""
    queue = library_queue_for(layout)
    return queue is not None and bool(_read_pause_if_supported(sql, queue))


def _read_pause_if_supported(sql: Sql, queue: LibraryQueue) -> bool | None:
    """Read whether the library pauses the queue. Return ``None`` if the library cannot pause the queue.

    Some libraries have no pause. Other libraries can only pause a queue after a worker has popped a message.
    """
    if (statement := queue.statement_name("paused")) is None:
        return None
    found = sql.fetch(_PauseState, statement, queue.names_for(sql, statement), {"queue": queue.value})
    return found[0].paused if found else None


def _prepare_action(context: OperatorContext, layout: Layout, side: Side, kind: OperationKind) -> PreparedAction:
    pauses = kind is OperationKind.PAUSE
    title = (
        LibraryPauseText.PAUSE.render(side=side, queue=layout.queue)
        if pauses
        else LibraryPauseText.RESUME.render(side=side, queue=layout.queue)
    )
    deny = partial(refused_action, context, kind, layout.queue, f"{title}?")
    queue = library_queue_for(layout)
    statement = None if queue is None else queue.statement_name("pause" if pauses else "resume")
    if (why := allowed_actions.why_not_allowed(layout, kind, side)) is not None or queue is None or statement is None:
        return deny(why or LibraryPauseText.NOT_A_LIBRARY.render(queue=layout.queue))
    if queue.value is None:
        return deny(LibraryPauseText.SEVERAL_QUEUES.render(queue=layout.queue))
    with context.open_sql("pause" if pauses else "resume") as sql:
        paused, already = _read_pause_if_supported(sql, queue), None
        if paused is None:
            already = LibraryPauseText.NO_QUEUE_YET.render(library=queue.group.library, queue=queue.value)
        elif paused is pauses:
            already = LibraryPauseText.UNCHANGED.render(
                side=side, queue=layout.queue, state="already paused" if pauses else "not paused"
            )
        plan = Plan(
            kind,
            context.target.name,
            layout.queue,
            title=LibraryPauseText.UNTIL_RESUMED.render(title=title) if pauses else f"{title}?",
            count=1,
            unit="pause",
            predicate=LibraryPauseText.SIDE.render(side=side, queue=layout.queue),
            sql=(sql.statement(statement, queue.names_for(sql, statement)).text,),
            seconds=0.1,
            undo=Undo(
                possible=False,
                notes=(LibraryPauseText.RESUME_ENDS if pauses else LibraryPauseText.STOPS_AGAIN.render(side=side),),
            ),
            consequences=(queries.load_query(sql.engine.name, statement, sql.connection.version).purpose,),
            risks=(LibraryPauseText.NO_END.render(side=side),) if pauses else (),
            consent=context.required_consent(),
            refused=why_not_permitted(context, sql)
            or missing_rights(sql, queue.needed_privileges(sql, statement))
            or already,
        )
    record = OperationRecord(table_to_text(layout.table), {"side": str(side), "statement": statement})
    return PreparedAction(context, plan, _SetPause(queue, statement), record)


@dataclass(frozen=True, slots=True)
class _SetPause:
    """Pause or resume in one transaction."""

    queue: LibraryQueue
    statement: str

    def __call__(self, sql: Sql, operation: RunningOperation, on_progress: OnProgress, stopped: StopRequested) -> None:
        with operation.batch() as tally:
            names = self.queue.names_for(sql, self.statement)
            done = len(sql.fetch(_ChangedQueueRow, self.statement, names, {"queue": self.queue.value}))
            tally.done, tally.changed = done, 1 - done
        on_progress(Progress(1, done=done, changed=1 - done))
