"""Repairs a ring: fills holes and requeues orphans. The design has a routine for each of these repairs.

Producers and consumers of a ring take numbers from sequences. A hole is a number that a producer has taken and will
never push. An orphan is a message whose number a consumer has taken and will never pop. The plan only finds candidates.
The routine repairs a candidate if no open transaction can still use its number. Otherwise the repair skips the
candidate.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from qmon.engines.base import Value
from qmon.model.formatting import count_text, duration, one_line
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import LeftOut, OperationKind, OwnerState, Plan, PlanRow, Progress, Undo
from qmon.operate.actions.ring_scan import MAX_REPAIRS, MIN_AGE_S, RingFault, RingReader, SlotReading
from qmon.operate.context import OnProgress, OperatorContext, StopRequested
from qmon.operate.plan import allowed_actions
from qmon.operate.plan.preview import ShowPayload, payload_shower
from qmon.operate.plan.required_rights import why_not_keepable, why_not_permitted
from qmon.operate.run.running_operation import OperationRecord, PreparedAction, RunningOperation, refused_action
from qmon.operate.sql import Sql
from qmon.texts import Text


class RepairText(Text):
    """Texts of plans that repair a ring."""

    RING_FULL = "the ring is full, so consumers read again from number {number:,}"
    NOW = "numbers that now look like holes: {holes:,}; like orphans: {orphans:,}"
    PREPARED = "a prepared transaction"
    SESSION = "session {session}"
    IN_USE = "open transactions may still use these numbers ({sessions})"
    NOT_PROVEN = "qmon could not prove in time that these numbers are holes, or the ring stayed full"
    NOT_YET = "{count} could not be repaired yet: {why}; repair again"
    TITLE_ALL = "Repair {queue}"
    NOT_A_RING = "the queue is not a ring"
    NOTHING = "{queue} has neither holes nor orphans to repair"
    NOT_INSTALLED = (
        "qmon did not install {queue}: the queue lacks the routines that prove holes and orphans on the server"
        " (fill_hole, requeue_orphan)"
    )
    TITLE = "Repair {holes} and {orphans} of {queue}?"
    PREDICATE = "{holes}; {orphans}; not moved for {duration} or longer"
    NO_UNDO = "filled holes stay filled; requeued messages keep their new numbers"
    TWICE = "if the consumer of an orphan has already worked on the message, the work may be done again"
    NO_NUMBERS = "no {what}"
    MORE = " and {count:,} more"
    NUMBERS = "{what} {numbers}{more}"
    OF_SUBSCRIBER = "{number} of subscriber {subscriber}"
    OVER_LIMIT = "beyond the limit of {limit:,} repairs"
    UNREAD = "slots that were not read because time ran out"
    NEW_NUMBER = "an orphan is delivered under a new number, behind the messages now in the ring"
    REFUSED = "if the orphan's consumer is still alive, its pop with the old number is refused by the slot's turn"
    HOLES_FILLED = (
        "consumers that wait for a hole continue; if the producer that took the number pushes later, it gets a new"
        " number"
    )
    NO_APPLICATION = "no application name"
    FOR_TIME = " for {duration}"
    TOOK_NUMBER = (
        "{who} has taken a number and is open{since}: until its transaction ends, qmon does not repair numbers that it"
        " may have taken"
    )


_WAIT_MS: Final = 1_000

# Minimum time in milliseconds that the server may wait for the proof of one number. The time is halved after each
# failure and reset after a success.
_MIN_WAIT_MS: Final = 20
_REPORT_EVERY_S: Final = 0.2
_REPAIR_STATEMENT: Final = "action/repair/repair"


@dataclass(frozen=True, slots=True)
class _RepairAnswer:
    became: int | None


@dataclass(frozen=True, slots=True)
class _Slot:
    turn: int
    message_id: int | None
    unread: int | None


@dataclass(frozen=True, slots=True)
class _Repaired:
    number: int
    was: str
    became: int | None


class RingNumberRepair:
    """One repair in progress."""

    def __init__(
        self,
        sql: Sql,
        layout: Layout,
        work: RunningOperation,
        faults: Sequence[RingFault],
        on_progress: OnProgress,
        stopped: StopRequested,
    ) -> None:
        self._sql = sql
        self._layout = layout
        self._reader = RingReader(sql, layout)
        self._work = work
        self._faults = faults
        self._on_progress = on_progress
        self._stopped = stopped
        self._wait_ms = _WAIT_MS
        self._began = time.monotonic()
        self._reported_at = 0.0
        self._unproven: list[RingFault] = []

    def repair_numbers(self) -> None:
        """Repair each planned number, orphans first, until done or stopped."""
        for each in self._faults:
            if self._stopped():
                self._work.mark_cancelled()
                break
            with self._work.batch() as tally:
                if self._repair_number(each):
                    tally.done = 1
                    self._wait_ms = _WAIT_MS
                elif self._is_unchanged(each):
                    self._unproven.append(each)
                    self._wait_ms = max(_MIN_WAIT_MS, self._wait_ms // 2)
                else:
                    tally.changed = 1
            self._report_progress()

    def make_room(self, since_plan_s: float) -> None:
        """Set the pop sequence back to orphans for which no slot was free, so that consumers pop these orphans.

        Orphans that an open transaction may still pop are skipped. ``since_plan_s``: seconds since the plan. Slots that
        were written after the plan are not changed.
        """
        stuck = [each for each in self._unproven if each.was == "orphan" and not self._has_open_transaction(each)]
        here = self._sql.has_statement(_REPAIR_STATEMENT)
        if stuck and here and self._reader.names["repair"] is not None:
            values: dict[str, Value] = {"min_age_s": since_plan_s, "limit": len(stuck)}
            with self._work.batch() as tally:
                answer = self._sql.fetch(_Repaired, _REPAIR_STATEMENT, self._reader.names, values)
                # The answer has a row for each requeued orphan. If the sequence was set back to a number, consumers
                # again reach all orphans after this number.
                back = [each.number for each in answer if each.was == "orphan" and each.became == each.number]
                moved = {(each.was, each.number) for each in answer}
                helped = [each for each in self._unproven if (each.was, each.number) in moved]
                helped += [each for each in stuck if back and each.number >= min(back) and each not in helped]
                tally.done = len(helped)
            self._unproven = [each for each in self._unproven if each not in helped]
            if back:
                self._work.add_note(RepairText.RING_FULL.render(number=min(back)))
        if self._unproven:
            with self._work.batch() as tally:
                tally.skipped = len(self._unproven)
            self._note_unproven()
        self._report_progress(last=True)

    def note_remaining(self) -> None:
        """Add a note about the remaining candidates."""
        left = self._reader.read_slots()
        if left.faults:
            holes = sum(each.was == "hole" for each in left.faults)
            self._work.add_note(RepairText.NOW.render(holes=holes, orphans=len(left.faults) - holes))

    def _repair_number(self, fault: RingFault) -> bool:
        values: dict[str, Value] = {"number": fault.number, "wait_ms": self._wait_ms, "subscriber": fault.subscriber}
        name = "fill_hole" if fault.was == "hole" else "requeue_orphan"
        if fault.was == "orphan" and fault.subscriber is not None:
            name = "requeue_orphan_of"
        answer = self._sql.fetch(_RepairAnswer, f"action/repair/{name}", self._reader.names, values)
        return answer[0].became is not None

    def _is_unchanged(self, fault: RingFault) -> bool:
        """Return whether the slot has not changed since the plan."""
        rows = self._sql.fetch(_Slot, "action/repair/slot", self._reader.names, {"number": fault.number})
        if not rows:
            return False
        now = rows[0]
        if fault.was == "hole":
            return now.turn == fault.number and now.message_id is None
        waiting = now.turn == fault.number + 1
        if fault.subscriber is None or now.unread is None:
            return waiting
        return waiting and now.unread & (1 << (fault.subscriber - 1)) != 0

    def _has_open_transaction(self, fault: RingFault) -> bool:
        return bool(self._reader.read_open_draws_from(self._reader.pop_sequence_for(fault.subscriber)))

    def _note_unproven(self) -> None:
        open_now = [each.session for each in self._reader.read_open_draws()]
        if open_now:
            who = ", ".join(
                RepairText.SESSION.render(session=each) if each else RepairText.PREPARED for each in open_now[:5]
            )
            why = RepairText.IN_USE.render(sessions=who)
        else:
            why = RepairText.NOT_PROVEN
        count = count_text(len(self._unproven), "number")
        self._work.add_note(RepairText.NOT_YET.render(count=count, why=why))

    def _report_progress(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if not last and now - self._reported_at < _REPORT_EVERY_S:
            return
        self._reported_at = now
        total, count = self._work.total, len(self._faults)
        tried = total.done + total.changed + total.skipped
        rate = tried / (now - self._began) if tried and now > self._began else None
        left = (count - tried) / rate if rate else None
        self._on_progress(Progress(count, total.done, total.skipped, total.changed, rate, left))


_SHOWN: int = 5

# Estimated seconds for the repair of one number. Each repair needs its own transaction.
_S_PER_NUMBER = 0.01


@dataclass(frozen=True, slots=True)
class RingRepair:
    """Repair the planned numbers of one ring.

    ``skipped`` counts numbers that are not yet proven to be holes or orphans, and orphans for which the ring has no
    free slot. ``changed`` counts numbers that are no longer a hole or orphan. ``planned_at``: time of the plan on
    this machine's monotonic clock, in seconds.
    """

    layout: Layout
    faults: tuple[RingFault, ...]
    planned_at: float

    @property
    def record(self) -> OperationRecord:
        """The part of the audit that is not in the plan."""
        return OperationRecord(
            str(self.layout.table), {"numbers": [[each.was, each.number] for each in self.faults[:1000]]}
        )

    def __call__(self, sql: Sql, operation: RunningOperation, on_progress: OnProgress, stopped: StopRequested) -> None:
        """Repair the numbers one after the other, until ``stopped()`` is true."""
        repair = RingNumberRepair(sql, self.layout, operation, self.faults, on_progress, stopped)
        repair.repair_numbers()
        if not stopped():
            repair.make_room(time.monotonic() - self.planned_at)
        repair.note_remaining()


def prepare_repair(context: OperatorContext, layout: Layout) -> PreparedAction:
    """Search for holes and orphans, and plan at most ``MAX_REPAIRS`` repairs.

    Reads every slot of the ring once, in steps. Raises server errors.
    """
    deny = partial(
        refused_action, context, OperationKind.REPAIR, layout.queue, RepairText.TITLE_ALL.render(queue=layout.queue)
    )
    why, ring = allowed_actions.why_not_allowed(layout, OperationKind.REPAIR) or _why_not_installed(layout), layout.ring
    if why is not None or ring is None:
        return deny(why or RepairText.NOT_A_RING)
    with context.open_sql(str(OperationKind.REPAIR)) as sql:
        decisive = (ring.slot, ring.turn, ring.message_id, ring.unread, layout.enqueued_at)
        if (never := why_not_keepable(sql, layout.table, (), decisive)) is not None:
            return deny(never)
        planned_at = time.monotonic()
        reader = RingReader(sql, layout)
        reading = reader.read_slots()
        wanted = ["fill_hole", "requeue_orphan_of" if ring.subscribers else "requeue_orphan"]
        statements = tuple(sql.statement(f"action/repair/{each}", reader.names).text for each in wanted)
        sequences = (ring.push_sequence, ring.pop_sequence)
        why = why_not_permitted(context, sql, "UPDATE", layout.table, *sequences)
        if why is None and not reading.faults:
            why = RepairText.NOTHING.render(queue=layout.queue)
        show = payload_shower(context, sql, layout.data_table or layout.table, layout.payload)
        plan = _plan(context, layout, reading, statements, why, _first_rows(reading, show))
        work = RingRepair(layout, reading.faults, planned_at)
        return PreparedAction(context, plan, work if reading.faults else None, work.record)


def _why_not_installed(layout: Layout) -> str | None:
    if layout.routine_for("fill_hole") is None or layout.routine_for("requeue_orphan") is None:
        return RepairText.NOT_INSTALLED.render(queue=layout.queue)
    return None


def _plan(
    context: OperatorContext,
    layout: Layout,
    reading: SlotReading,
    statements: tuple[str, ...],
    why: str | None,
    first: tuple[PlanRow, ...],
) -> Plan:
    faults = reading.faults
    holes = [each for each in faults if each.was == "hole"]
    orphans = [each for each in faults if each.was == "orphan"]
    minimum = duration(MIN_AGE_S)
    return Plan(
        kind=OperationKind.REPAIR,
        target=context.target.name,
        queue=layout.queue,
        title=RepairText.TITLE.render(
            holes=count_text(len(holes), "hole"), orphans=count_text(len(orphans), "orphan"), queue=layout.queue
        ),
        count=len(faults),
        unit="number" if len(faults) == 1 else "numbers",
        predicate=(
            RepairText.PREDICATE.render(
                holes=_numbers_text("holes", holes), orphans=_numbers_text("orphans", orphans), duration=minimum
            )
        ),
        sql=statements,
        first=first,
        left_out=_left_out(reading),
        seconds=len(faults) * _S_PER_NUMBER if faults else None,
        undo=Undo(
            possible=False,
            notes=(RepairText.NO_UNDO,),
        ),
        consequences=_describe_effects(holes, orphans, reading),
        risks=(RepairText.TWICE,) if orphans else (),
        consent=context.required_consent(),
        refused=why,
    )


def _numbers_text(title: str, faults: list[RingFault]) -> str:
    if not faults:
        return RepairText.NO_NUMBERS.render(what=title)
    numbers = ", ".join(f"{each.number:,}" for each in faults[:_SHOWN])
    more = RepairText.MORE.render(count=len(faults) - _SHOWN) if len(faults) > _SHOWN else ""
    return RepairText.NUMBERS.render(what=title, numbers=numbers, more=more)


def _first_rows(reading: SlotReading, show: ShowPayload) -> tuple[PlanRow, ...]:
    out: list[PlanRow] = []
    for each in reading.faults[:10]:
        payload = show(each.payload)
        state = (
            each.was
            if each.subscriber is None
            else RepairText.OF_SUBSCRIBER.render(number=each.was, subscriber=each.subscriber)
        )
        out.append(
            PlanRow(str(each.number), state, each.age_s, None, OwnerState.UNKNOWN, None, payload and one_line(payload))
        )
    return tuple(out)


def _left_out(reading: SlotReading) -> tuple[LeftOut, ...]:
    out = [LeftOut(RepairText.OVER_LIMIT.render(limit=MAX_REPAIRS), reading.over)] if reading.over else []
    if reading.unread_slots:
        out.append(LeftOut(RepairText.UNREAD, reading.unread_slots))
    return tuple(out)


def _describe_effects(holes: list[RingFault], orphans: list[RingFault], reading: SlotReading) -> tuple[str, ...]:
    out: list[str] = []
    if orphans:
        out.append(RepairText.NEW_NUMBER)
        out.append(RepairText.REFUSED)
    if holes:
        out.append(RepairText.HOLES_FILLED)
    for drawn in reading.drawing[:_SHOWN]:
        session = RepairText.SESSION.render(session=drawn.session)
        who = f"{session} ({one_line(drawn.application) or RepairText.NO_APPLICATION})"
        if drawn.session == 0:
            who = RepairText.PREPARED
        since = (
            "" if drawn.transaction_s is None else RepairText.FOR_TIME.render(duration=duration(drawn.transaction_s))
        )
        out.append(RepairText.TOOK_NUMBER.render(who=who, since=since))
    return tuple(out)
