"""Repair a ring: give up the holes and requeue the orphans that were seen, each by the design's own routine.

A hole is a number that a pusher has drawn and will never push, an orphan a message whose number a popper has drawn and
will never pop. The plan reads what looks like one; the routine proves it, number by number, and leaves alone what it
cannot prove yet.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass

from qmon.model.layout.layout import Layout
from qmon.model.operations import Kind, LeftOut, OwnerState, Plan, PlanRow, Undo
from qmon.operate.actions.ring_numbers import RingNumberRepair
from qmon.operate.actions.ring_scan import MAX_REPAIRS, MIN_AGE_S, RingFault, RingReader, SlotReading
from qmon.operate.context import OperatorContext, Stopped, Tell
from qmon.operate.plan import allowed
from qmon.operate.plan.payloads import Show, shown
from qmon.operate.plan.rights import why_not
from qmon.operate.plan.text import ago, counted, short
from qmon.operate.run.operation import Record, Running
from qmon.operate.run.prepared import PreparedAction, refused
from qmon.operate.sql import Sql

_SHOWN: int = 5
_S_A_NUMBER = 0.01
"""Seconds that one number takes at least, for the estimate: a transaction of its own."""


@dataclass(frozen=True, slots=True)
class RingRepair:
    """Repairs what was seen of one ring. ``skipped``: not provable yet, or no room; ``changed``: no hole and no orphan
    any more. ``planned_at``: when the plan was made, in seconds of this machine's monotonic clock."""

    layout: Layout
    faults: tuple[RingFault, ...]
    planned_at: float

    @property
    def record(self) -> Record:
        """What is written down of it."""
        return Record(str(self.layout.table), {"numbers": [[each.was, each.number] for each in self.faults[:1000]]})

    def __call__(self, sql: Sql, operation: Running, tell: Tell, stopped: Stopped) -> None:
        """Repair number by number, until ``stopped()``."""
        repair = RingNumberRepair(sql, self.layout, operation, self.faults, tell, stopped)
        repair.run()
        if not stopped():
            repair.make_room(time.monotonic() - self.planned_at)
        repair.look_again()


def prepare_repair(context: OperatorContext, layout: Layout) -> PreparedAction:
    """Look for holes and orphans and plan to repair those that were seen, at most ``MAX_REPAIRS`` of them.

    Reads every slot of the ring once, in steps. Raises what a server says.
    """
    if (why := allowed.why_not(layout, Kind.REPAIR) or _not_installed(layout)) is not None or layout.ring is None:
        return refused(context, Kind.REPAIR, layout.queue, f"Repair {layout.queue}", why or "it is no ring")
    with contextlib.closing(context.connect(str(Kind.REPAIR))) as connection:
        sql = Sql(connection, context.engine)
        planned_at = time.monotonic()
        reader = RingReader(sql, layout)
        reading = reader.read()
        wanted = ["fill_hole", "requeue_orphan_of" if layout.ring.subscribers else "requeue_orphan"]
        statements = tuple(sql.statement(f"action/repair/{each}", reader.names).text for each in wanted)
        sequences = (layout.ring.push_sequence, layout.ring.pop_sequence)
        why = why_not(context, sql, "UPDATE", layout.table, *sequences)
        if why is None and not reading.faults:
            why = f"{layout.queue} has neither holes nor orphans to repair"
        show = shown(context, sql, layout.data_table or layout.table, layout.payload)
        plan = _plan(context, layout, reading, statements, why, _first(reading, show))
        work = RingRepair(layout, reading.faults, planned_at)
        return PreparedAction(context, plan, work if reading.faults else None, work.record)


def _not_installed(layout: Layout) -> str | None:
    if layout.routine("fill_hole") is None or layout.routine("requeue_orphan") is None:
        return (
            f"qmon has not installed {layout.queue}: it lacks the routines that prove a hole and an orphan in the"
            " server (fill_hole, requeue_orphan)"
        )
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
    return Plan(
        kind=Kind.REPAIR,
        target=context.target.name,
        queue=layout.queue,
        title=f"Repair {counted(len(holes), 'hole')} and {counted(len(orphans), 'orphan')} of {layout.queue}?",
        count=len(faults),
        unit="number" if len(faults) == 1 else "numbers",
        predicate=f"{_listed('holes', holes)}; {_listed('orphans', orphans)}; not moved for {ago(MIN_AGE_S)} or longer",
        sql=statements,
        first=first,
        left_out=_left_out(reading),
        seconds=len(faults) * _S_A_NUMBER if faults else None,
        undo=Undo(
            possible=False,
            notes=("a number that was given up stays so; a message keeps the new number it has been given",),
        ),
        consequences=_effects(holes, orphans, reading),
        risks=("what the popper of an orphan did before it died or stalled may be done again",) if orphans else (),
        consent=context.consent(),
        refused=why,
    )


def _listed(what: str, faults: list[RingFault]) -> str:
    if not faults:
        return f"no {what}"
    numbers = ", ".join(f"{each.number:,}" for each in faults[:_SHOWN])
    more = f" and {len(faults) - _SHOWN:,} more" if len(faults) > _SHOWN else ""
    return f"{what} {numbers}{more}"


def _first(reading: SlotReading, show: Show) -> tuple[PlanRow, ...]:
    out: list[PlanRow] = []
    for each in reading.faults[:10]:
        payload = show(each.payload)
        state = each.was if each.subscriber is None else f"{each.was} of subscriber {each.subscriber}"
        out.append(
            PlanRow(str(each.number), state, each.age_s, None, OwnerState.UNKNOWN, None, payload and short(payload))
        )
    return tuple(out)


def _left_out(reading: SlotReading) -> tuple[LeftOut, ...]:
    out = [LeftOut(f"over the {MAX_REPAIRS:,} that one repair takes", reading.over)] if reading.over else []
    if reading.unread_slots:
        out.append(LeftOut("slots that were not read for want of time", reading.unread_slots))
    return tuple(out)


def _effects(holes: list[RingFault], orphans: list[RingFault], reading: SlotReading) -> tuple[str, ...]:
    out: list[str] = []
    if orphans:
        out.append("an orphan is delivered under a new number, behind what is in the ring now")
        out.append("a popper that lives after all and comes back with the old number is refused by the slot's turn")
    if holes:
        out.append("poppers that wait for a hole go on; a pusher that comes late with its number draws another one")
    for drawn in reading.drawing[:_SHOWN]:
        who = f"session {drawn.session} ({short(drawn.application) or 'no application name'})"
        if drawn.session == 0:
            who = "a prepared transaction"
        since = "" if drawn.transaction_s is None else f" for {ago(drawn.transaction_s)}"
        out.append(f"{who} has drawn a number and is open{since}: what it may have drawn is skipped until it ends")
    return tuple(out)
