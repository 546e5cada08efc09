"""Pauses and resumes the producers or consumers of a queue, and verifies that the pause works."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from qmon.errors import BadInput
from qmon.model.formatting import date_and_time, duration, format_duration, one_line
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import (
    DEFAULT_PAUSE_S,
    OperationKind,
    Plan,
    Progress,
    Side,
    Undo,
    pause_subject,
    reason_suffix,
)
from qmon.model.samples.polled_samples import PauseSample
from qmon.operate.actions import gate, pause_check, pause_switch
from qmon.operate.actions.pause_switch import PauseMeans, SwitchState
from qmon.operate.context import OnProgress, OperatorContext, StopRequested
from qmon.operate.plan import allowed_actions
from qmon.operate.plan.required_rights import why_not_permitted
from qmon.operate.run.running_operation import OperationRecord, PreparedAction, RunningOperation, refused_action
from qmon.operate.sql import Sql
from qmon.texts import Text


class PauseText(Text):
    """Texts of plans and results of a pause."""

    NO_PUSH_SWITCH = (
        "push has no pause switch: qmon did not install this queue, or an older version of qmon did; install a gate on"
        " the table, or reinstall the queue"
    )
    NO_POP_SWITCH = "pop has no pause switch: qmon can only pause consumers of queues that qmon installed"
    DURATION_RANGE = "a pause lasts from 1s to 24h, not {duration}; a running pause can be extended"
    TITLE = "Pause the {side} of {queue}?"
    TITLE_FOR = "Pause the {side} of {queue} for {duration}?"
    UNTIL = "the {side} of {subject}, until {until}"
    RESUME_EARLIER = "resume ends the pause earlier; otherwise, the pause ends by itself"
    NOT_PAUSED = "the {side} of {queue} are not paused"
    RESUME = "Resume the {side} of {queue}?"
    SIDE = "the {side} of {subject}"
    STOPS_AGAIN = "pause stops the {side} again"
    PAUSED_BY = "paused {author}"
    WERE_PAUSED = "the {side} were paused"
    CHECKING = "checking whether the pause works"
    PAUSED_UNTIL = "paused until {until}"
    MORE = " and {count:,} more"
    GATE_BROKEN = (
        "the gate does not stop an INSERT into {partition}{more}; qmon has ended the pause: remove the gate and"
        " install the gate again"
    )
    OPEN_SESSIONS = "sessions that began writing before the pause and are still open: {sessions}"
    GATE_DISABLED = "this table has a gate, but the gate is disabled: remove the gate and install it again"
    GRANT_MISSING = "your role may not set {object}; ask the owner for: GRANT UPDATE on {object}"
    UNRECORDED = "until {until}; the database does not record who paused the {side}"
    ALREADY_PAUSED = "the {side} are already paused, {who}; your pause sets a new end and records your name"
    SINCE_UNTIL = "since {since}, until {until}"
    AUTHOR = "by {by} {since_until}{reason}"
    OF_QUEUE = " of a message of this queue"
    INSERT_FAILS = (
        "every INSERT and COPY{part} into the table fails with {code} and the whole transaction is rolled back, unless"
        " the session has set qmon.pause_wait_ms to wait"
    )
    PUSH_FAILS = (
        "every {what} fails with {code}, or waits if its session has set qmon.pause_wait_ms; no sequence number is lost"
    )
    OTHERS_CONTINUE = "complete, fail and archive continue; repairs and undos are not paused"
    DIRECT_NOT_PAUSED = "statements that use the table directly are not paused"


MIN_PAUSE_S: Final = 1.0
MAX_PAUSE_S: Final = 86_400.0
_NO_SWITCH_TEXTS: Final = {
    Side.PRODUCERS: PauseText.NO_PUSH_SWITCH,
    Side.CONSUMERS: PauseText.NO_POP_SWITCH,
}


def prepare_pause(
    context: OperatorContext, layout: Layout, side: Side, for_s: float = DEFAULT_PAUSE_S
) -> PreparedAction:
    """Plan to pause the producers or consumers for ``for_s`` seconds. The pause ends by itself.

    Pausing a paused side sets a new end. Raises ``BadInput`` for less than a second or more than a day.
    """
    if not MIN_PAUSE_S <= for_s <= MAX_PAUSE_S:
        raise BadInput(PauseText.DURATION_RANGE.render(duration=format_duration(for_s)))
    if (why_never := allowed_actions.why_not_allowed(layout, OperationKind.PAUSE, side)) is not None:
        return refused_action(
            context, OperationKind.PAUSE, layout.queue, PauseText.TITLE.render(side=side, queue=layout.queue), why_never
        )
    with context.open_sql("pause") as sql:
        means = pause_switch.find_means(sql, layout, side)
        held, why = _read_switch(context, sql, means, side)
        now_ms = held.now_ms if held is not None else int(datetime.now(UTC).timestamp() * 1000)
        known = _recorded_pause(sql, layout, side) if held is not None and held.is_paused else None
        plan = Plan(
            OperationKind.PAUSE,
            context.target.name,
            layout.queue,
            title=PauseText.TITLE_FOR.render(side=side, queue=layout.queue, duration=duration(for_s)),
            count=0 if means is None else 1,
            unit="switch",
            predicate=PauseText.UNTIL.render(
                side=side, subject=pause_subject(layout), until=date_and_time(now_ms / 1000 + for_s)
            ),
            sql=() if means is None else (pause_switch.set_until_text(sql, means),),
            seconds=0.1,
            undo=Undo(possible=False, notes=(PauseText.RESUME_EARLIER,)),
            consequences=_describe_effects(layout, side, means),
            risks=(*_describe_active_pause(held, known, side), *_describe_limits(sql, layout, means)),
            consent=context.required_consent(),
            refused=why,
        )
    return _prepared_action(context, layout, plan, means, for_s)


def prepare_resume(context: OperatorContext, layout: Layout, side: Side) -> PreparedAction:
    """Plan to resume paused producers or consumers at once."""
    with context.open_sql("resume") as sql:
        means = pause_switch.find_means(sql, layout, side)
        held, why = _read_switch(context, sql, means, side)
        if held is not None and not held.is_paused:
            why = why or PauseText.NOT_PAUSED.render(side=side, queue=layout.queue)
        known = _recorded_pause(sql, layout, side)
        plan = Plan(
            OperationKind.RESUME,
            context.target.name,
            layout.queue,
            title=PauseText.RESUME.render(side=side, queue=layout.queue),
            count=1 if held is not None and held.is_paused else 0,
            unit="pause",
            predicate=PauseText.SIDE.render(side=side, subject=pause_subject(layout)),
            sql=() if means is None else (pause_switch.set_until_text(sql, means),),
            seconds=0.1,
            undo=Undo(possible=False, notes=(PauseText.STOPS_AGAIN.render(side=side),)),
            consequences=() if known is None else (PauseText.PAUSED_BY.render(author=_describe_author(known)),),
            refused=why,
        )
    return _prepared_action(context, layout, plan, means, None)


def _prepared_action(
    context: OperatorContext, layout: Layout, plan: Plan, means: PauseMeans | None, for_s: float | None
) -> PreparedAction:
    if means is None:
        return PreparedAction(context, plan)
    record = OperationRecord(pause_subject(layout), {"side": str(means.side), "way": means.way, "for_s": for_s})
    work = _SetSwitch(layout, context.who, means, for_s)
    return PreparedAction(context, plan, work, record, ensure=pause_switch.ensure_pause_tables)


@dataclass(frozen=True, slots=True)
class _SetSwitch:
    """Pause for ``for_s`` seconds, or resume if ``for_s`` is ``None``.

    After pausing, check that the pause works. The check ends early if ``stopped()`` is true.
    """

    layout: Layout
    who: str
    means: PauseMeans
    for_s: float | None

    def __call__(self, sql: Sql, operation: RunningOperation, on_progress: OnProgress, stopped: StopRequested) -> None:
        means = self.means
        with operation.batch() as tally:
            # On SQL Server, the switch is a row. One transaction sets the switch and writes the record.
            at_once = sql.engine.name == "sqlserver"
            until_ms = self._record_pause(sql, operation.reason, set_now=at_once)
            tally.done = 1
        if self.for_s is not None and not at_once:
            with operation.immediate_step(PauseText.WERE_PAUSED.render(side=means.side)):
                pause_switch.set_until(sql, means, until_ms)
        on_progress(Progress(1, done=1, note=PauseText.CHECKING))
        if self.for_s is not None:
            operation.add_note(PauseText.PAUSED_UNTIL.render(until=date_and_time(until_ms / 1000)))
            for note in self._prove_pause(sql, stopped):
                operation.add_note(note)

    def _prove_pause(self, sql: Sql, stopped: StopRequested) -> tuple[str, ...]:
        """Check that the pause works and return the result as lines.

        If a gate does not stop inserts, end the pause and raise ``BadInput``.
        """
        side = self.means.side
        if self.means.way == "switch":
            return (
                pause_check.watch_pause(pause_check.ArrivalCounter(sql, self.layout, side), stopped).result_text(side),
            )
        table = self.layout.table
        tried = pause_check.try_gate(
            sql, table, gate.gate_row_values(self.layout), each_row=gate.gate_fires_for_each_row(sql, self.layout)
        )
        if tried.passed:
            self._lift_pause(sql)
            more = PauseText.MORE.render(count=len(tried.passed) - 1) if len(tried.passed) > 1 else ""
            raise BadInput(PauseText.GATE_BROKEN.render(partition=tried.passed[0], more=more))
        writing = pause_check.wait_for_writers(sql, table, stopped)
        open_ = PauseText.OPEN_SESSIONS.render(sessions=", ".join(writing))
        return (tried.result_text(), *((open_,) if writing else ()))

    def _lift_pause(self, sql: Sql) -> None:
        # Reset the switch first, because the routines and gates check it. If deleting the record fails, no program
        # stays paused.
        pause_switch.set_until(sql, self.means, 0)
        sql.execute("action/pause/lift", {}, self._names)

    @property
    def _names(self) -> dict[str, str | int]:
        return {"about": pause_subject(self.layout), "side": str(self.means.side), "by": self.who}

    def _record_pause(self, sql: Sql, reason: str, *, set_now: bool) -> int:
        """Record the pause inside a transaction. Return its end in milliseconds since the epoch."""
        means = self.means
        now_ms = pause_switch.read_switch(sql, means).now_ms
        if self.for_s is None:
            self._lift_pause(sql)
            return 0
        until_ms = now_ms + round(self.for_s * 1000)
        values = self._names | {"queue": self.layout.queue, "until_ms": until_ms, "reason": reason, "way": means.way}
        sql.execute("action/pause/record", {"switch": means.object.parts}, values)
        if set_now:
            pause_switch.set_until(sql, means, until_ms)
        return until_ms


def _read_switch(
    context: OperatorContext, sql: Sql, means: PauseMeans | None, side: Side
) -> tuple[SwitchState | None, str | None]:
    """Read the state of the switch, and why it cannot be set. The reason is ``None`` if the switch can be set."""
    if means is None:
        return None, _NO_SWITCH_TEXTS[side]
    if not means.enabled:
        return None, PauseText.GATE_DISABLED
    held = pause_switch.read_switch(sql, means)
    if (why := why_not_permitted(context, sql)) is not None:
        return held, why
    if not held.may_set:
        return held, PauseText.GRANT_MISSING.render(object=means.object)
    return held, pause_switch.why_not_recorded(sql)


def _recorded_pause(sql: Sql, layout: Layout, side: Side) -> PauseSample | None:
    about = pause_subject(layout)
    return next((each for each in pause_switch.read_pauses(sql) if each.about == about and each.side == side), None)


def _describe_active_pause(switch: SwitchState | None, recorded: PauseSample | None, side: Side) -> tuple[str, ...]:
    if switch is None or not switch.is_paused or switch.until_ms is None:
        return ()
    who = (
        _describe_author(recorded)
        if recorded is not None
        else PauseText.UNRECORDED.render(until=date_and_time(switch.until_ms / 1000), side=side)
    )
    return (PauseText.ALREADY_PAUSED.render(side=side, who=who),)


def _describe_author(pause: PauseSample) -> str:
    since_until = PauseText.SINCE_UNTIL.render(since=date_and_time(pause.since_at), until=date_and_time(pause.until_at))
    return PauseText.AUTHOR.render(
        by=one_line(pause.by), since_until=since_until, reason=reason_suffix(one_line(pause.reason, 200))
    )


def _describe_effects(layout: Layout, side: Side, means: PauseMeans | None) -> tuple[str, ...]:
    what, code = ("push", "QM001") if side is Side.PRODUCERS else ("pop", "QM002")
    if means is not None and means.way == "gate":
        part = gate.gate_row_values(layout) and PauseText.OF_QUEUE
        return (PauseText.INSERT_FAILS.render(part=part or "", code=code),)
    return (
        (PauseText.PUSH_FAILS.render(what=what, code=code)),
        PauseText.OTHERS_CONTINUE,
    )


def _describe_limits(sql: Sql, layout: Layout, means: PauseMeans | None) -> tuple[str, ...]:
    if means is None:
        return ()
    if means.way == "gate":
        postgres = sql.engine.name == "postgres"
        return (
            gate.gate_limits(layout, rows=gate.gate_fires_for_each_row(sql, layout))
            if postgres
            else (gate.GateText.RETURNS_FAIL,)
        )
    return (PauseText.DIRECT_NOT_PAUSED,)
