"""Pauses and resumes the producers or consumers of a queue, and verifies that the pause works."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from qmon.errors import BadInput
from qmon.model.layout.layout import Layout
from qmon.model.operations import DEFAULT_PAUSE_S, Kind, Pause, Plan, Progress, Side, Undo, because, paused_as
from qmon.model.text import duration, format_duration, moment, one_line
from qmon.operate.actions import gate, pause_check, pause_switch
from qmon.operate.actions.pause_switch import HeldPause, Means
from qmon.operate.context import OnProgress, OperatorContext, Stopped
from qmon.operate.plan import allowed
from qmon.operate.plan.rights import why_not
from qmon.operate.run.operation import Record, Running
from qmon.operate.run.prepared import PreparedAction, refused
from qmon.operate.sql import Sql

MIN_PAUSE_S: Final = 1.0
MAX_PAUSE_S: Final = 86_400.0
_NONE: Final = {
    Side.PUSHERS: "push does not ask a switch here: qmon has not installed this queue, or an older qmon has;"
    " install a gate on the table, or the queue anew",
    Side.POPPERS: "pop does not ask a switch here: only the poppers of queues that qmon has installed can be paused",
}


def prepare_pause(
    context: OperatorContext, layout: Layout, side: Side, for_s: float = DEFAULT_PAUSE_S
) -> PreparedAction:
    """Plan to pause the producers or consumers for ``for_s`` seconds. The pause ends by itself.

    Pausing a paused side sets a new end. Raises ``BadInput`` for less than a second or more than a day.
    """
    if not MIN_PAUSE_S <= for_s <= MAX_PAUSE_S:
        raise BadInput(f"a pause lasts from 1s to 24h, not {format_duration(for_s)}; it can be extended before it ends")
    if (why_never := allowed.why_not(layout, Kind.PAUSE, side)) is not None:
        return refused(context, Kind.PAUSE, layout.queue, f"Pause the {side} of {layout.queue}?", why_never)
    with context.sql("pause") as sql:
        means = pause_switch.find(sql, layout, side)
        held, why = _held(context, sql, means, side)
        now_ms = held.now_ms if held is not None else int(datetime.now(UTC).timestamp() * 1000)
        known = _known(sql, layout, side) if held is not None and held.in_force else None
        plan = Plan(
            Kind.PAUSE,
            context.target.name,
            layout.queue,
            title=f"Pause the {side} of {layout.queue} for {duration(for_s)}?",
            count=0 if means is None else 1,
            unit="switch",
            predicate=f"the {side} of {paused_as(layout)}, until {moment(now_ms / 1000 + for_s)}",
            sql=() if means is None else (pause_switch.setting(sql, means),),
            seconds=0.1,
            undo=Undo(possible=False, notes=("resume lifts a pause at any time, and it ends by itself",)),
            consequences=_felt(layout, side, means),
            risks=(*_already(held, known, side), *_passed(sql, layout, means)),
            consent=context.consent(),
            refused=why,
        )
    return _prepared(context, layout, plan, means, for_s)


def prepare_resume(context: OperatorContext, layout: Layout, side: Side) -> PreparedAction:
    """Plan to resume paused producers or consumers at once."""
    with context.sql("resume") as sql:
        means = pause_switch.find(sql, layout, side)
        held, why = _held(context, sql, means, side)
        if held is not None and not held.in_force:
            why = why or f"the {side} of {layout.queue} are not paused"
        known = _known(sql, layout, side)
        plan = Plan(
            Kind.RESUME,
            context.target.name,
            layout.queue,
            title=f"Let the {side} of {layout.queue} go on?",
            count=1 if held is not None and held.in_force else 0,
            unit="pause",
            predicate=f"the {side} of {paused_as(layout)}",
            sql=() if means is None else (pause_switch.setting(sql, means),),
            seconds=0.1,
            undo=Undo(possible=False, notes=("pause stops them again",)),
            consequences=() if known is None else (f"paused {_by(known)}",),
            refused=why,
        )
    return _prepared(context, layout, plan, means, None)


def _prepared(
    context: OperatorContext, layout: Layout, plan: Plan, means: Means | None, for_s: float | None
) -> PreparedAction:
    if means is None:
        return PreparedAction(context, plan)
    record = Record(paused_as(layout), {"side": str(means.side), "way": means.way, "for_s": for_s})
    work = _SetSwitch(layout, context.who, means, for_s)
    return PreparedAction(context, plan, work, record, ensure=pause_switch.ensure)


@dataclass(frozen=True, slots=True)
class _SetSwitch:
    """Pause for ``for_s`` seconds, or resume if it is ``None``.

    Returns when the pause was seen to work, or on ``stopped()`` while that is being verified.
    """

    layout: Layout
    who: str
    means: Means
    for_s: float | None

    def __call__(self, sql: Sql, operation: Running, on_progress: OnProgress, stopped: Stopped) -> None:
        means = self.means
        with operation.batch() as tally:
            at_once = sql.engine.name == "sqlserver"  # on SQL Server the switch is a row, set together with its record
            until_ms = self._write(sql, operation.reason, set_now=at_once)
            tally.done = 1
        if self.for_s is not None and not at_once:
            with operation.at_once(f"the {means.side} were paused"):
                pause_switch.set_until(sql, means, until_ms)
        on_progress(Progress(1, done=1, note="watching whether it works"))
        if self.for_s is not None:
            operation.note(f"paused until {moment(until_ms / 1000)}")
            for note in self._proof(sql, stopped):
                operation.note(note)

    def _proof(self, sql: Sql, stopped: Stopped) -> tuple[str, ...]:
        """Return the proof that the pause works. If a gate lets inserts pass, lift the pause and raise ``BadInput``."""
        side = self.means.side
        if self.means.way == "switch":
            return (pause_check.watch(pause_check.ArrivalCounter(sql, self.layout, side), stopped).text(side),)
        table = self.layout.table
        tried = pause_check.try_gate(sql, table, gate.row_values(self.layout), each_row=gate.each_row(sql, self.layout))
        if tried.passed:
            self._lift(sql)
            more = f" and {len(tried.passed) - 1:,} more" if len(tried.passed) > 1 else ""
            raise BadInput(
                f"the gate does not stop an INSERT into {tried.passed[0]}{more}; the pause was lifted again: remove the"
                " gate and install it anew"
            )
        writing = pause_check.still_writing(sql, table, stopped)
        open_ = f"still open, writing since before the pause: {', '.join(writing)}"
        return (tried.text(), *((open_,) if writing else ()))

    def _lift(self, sql: Sql) -> None:
        # Lift the switch first, because it decides. A failing record must not keep anybody paused.
        pause_switch.set_until(sql, self.means, 0)
        sql.execute("action/pause/lift", {}, self._names)

    @property
    def _names(self) -> dict[str, str | int]:
        return {"about": paused_as(self.layout), "side": str(self.means.side), "by": self.who}

    def _write(self, sql: Sql, reason: str, *, set_now: bool) -> int:
        """Record the pause inside a transaction. Return its end in milliseconds since the epoch."""
        means = self.means
        now_ms = pause_switch.held(sql, means).now_ms
        if self.for_s is None:
            self._lift(sql)
            return 0
        until_ms = now_ms + round(self.for_s * 1000)
        values = self._names | {"queue": self.layout.queue, "until_ms": until_ms, "reason": reason, "way": means.way}
        sql.execute("action/pause/record", {"switch": means.object.parts}, values)
        if set_now:
            pause_switch.set_until(sql, means, until_ms)
        return until_ms


def _held(context: OperatorContext, sql: Sql, means: Means | None, side: Side) -> tuple[HeldPause | None, str | None]:
    """Read the state of the switch, and why it cannot be set, or ``None`` if it can."""
    if means is None:
        return None, _NONE[side]
    if not means.enabled:
        return None, "the gate of this table is there, but disabled: remove it and install it anew"
    held = pause_switch.held(sql, means)
    if (why := why_not(context, sql)) is not None:
        return held, why
    if not held.may_set:
        return held, f"our role may not set {means.object}; ask its owner for: GRANT UPDATE on it"
    return held, pause_switch.why_not_recorded(sql)


def _known(sql: Sql, layout: Layout, side: Side) -> Pause | None:
    about = paused_as(layout)
    return next((each for each in pause_switch.pauses(sql) if each.table == about and each.side is side), None)


def _already(held: HeldPause | None, known: Pause | None, side: Side) -> tuple[str, ...]:
    if held is None or not held.in_force or held.until_ms is None:
        return ()
    who = _by(known) if known is not None else f"until {moment(held.until_ms / 1000)}, by nobody who recorded it"
    return (f"the {side} are paused already, {who}; this sets the end anew, under your name",)


def _by(known: Pause) -> str:
    since_until = f"since {moment(known.since)}, until {moment(known.until)}"
    return f"by {one_line(known.by)} {since_until}{because(one_line(known.reason, 200))}"


def _felt(layout: Layout, side: Side, means: Means | None) -> tuple[str, ...]:
    what, code = ("push", "QM001") if side is Side.PUSHERS else ("pop", "QM002")
    if means is not None and means.way == "gate":
        part = gate.row_values(layout) and " of a message of this queue"
        return (
            f"every INSERT and COPY{part or ''} into the table fails with {code}, and its whole transaction with it,"
            " unless the session asked to wait (qmon.pause_wait_ms)",
        )
    return (
        f"every {what} fails with {code}, or waits where its session asked to (qmon.pause_wait_ms); no number is drawn",
        "complete, fail and archive go on; repairs and undos are let through",
    )


def _passed(sql: Sql, layout: Layout, means: Means | None) -> tuple[str, ...]:
    if means is None:
        return ()
    if means.way == "gate":
        postgres = sql.engine.name == "postgres"
        return gate.passed_by(layout, rows=gate.each_row(sql, layout)) if postgres else (gate.PUT_BACK,)
    return ("statements that work on the table themselves do not ask, and go on",)
