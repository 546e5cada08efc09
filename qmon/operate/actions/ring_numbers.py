"""Repairs the numbers of a ring one by one, each in a transaction of its own, and says what became of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from qmon.engines.base import Value
from qmon.engines.sql.queries import exists
from qmon.model.layout.layout import Layout
from qmon.model.operations import Progress
from qmon.operate.actions.ring_scan import RingFault, RingReader
from qmon.operate.context import Stopped, Tell
from qmon.operate.run.operation import Running
from qmon.operate.sql import Sql

_WAIT_MS: Final = 1_000
_WAIT_LEAST_MS: Final = 20
"""How long the server may wait for a proof of one number: less after each that could not be had, the full time after
one that could."""
_TELL_EVERY_S: Final = 0.2
_REPAIR: Final = "action/repair/repair"


@dataclass(frozen=True, slots=True)
class _Became:
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
    """One repair under way."""

    def __init__(
        self, sql: Sql, layout: Layout, work: Running, faults: Sequence[RingFault], tell: Tell, stopped: Stopped
    ) -> None:
        self._sql = sql
        self._layout = layout
        self._reader = RingReader(sql, layout)
        self._work = work
        self._faults = faults
        self._tell = tell
        self._stopped = stopped
        self._wait_ms = _WAIT_MS
        self._began = time.monotonic()
        self._told = 0.0
        self._unproven: list[RingFault] = []

    def run(self) -> None:
        """Repair each number that was planned, orphans first, until done or stopped."""
        for each in self._faults:
            if self._stopped():
                self._work.cancel()
                break
            with self._work.batch() as tally:
                if self._repaired(each):
                    tally.done = 1
                    self._wait_ms = _WAIT_MS
                elif self._still(each):
                    self._unproven.append(each)
                    self._wait_ms = max(_WAIT_LEAST_MS, self._wait_ms // 2)
                else:
                    tally.changed = 1
            self._report()

    def make_room(self, since_plan_s: float) -> None:
        """Let the design help the orphans that no slot was free for: poppers come by again.

        Where it is a transaction still open that keeps the proof from being had, they are skipped instead.
        ``since_plan_s``: seconds since the plan was made; what has moved since is none of ours.
        """
        stuck = [each for each in self._unproven if each.was == "orphan" and not self._drawing(each)]
        here = exists(self._sql.engine.name, _REPAIR, self._sql.connection.version)
        if stuck and here and self._reader.names["repair"] is not None:
            values: dict[str, Value] = {"min_age_s": since_plan_s, "limit": len(stuck)}
            with self._work.batch() as tally:
                answer = self._sql.fetch(_Repaired, _REPAIR, self._reader.names, values)
                # One row per orphan that was requeued; where the sequence went back, that helps all behind it too.
                back = [each.number for each in answer if each.was == "orphan" and each.became == each.number]
                moved = {(each.was, each.number) for each in answer}
                helped = [each for each in self._unproven if (each.was, each.number) in moved]
                helped += [each for each in stuck if back and each.number >= min(back) and each not in helped]
                tally.done = len(helped)
            self._unproven = [each for each in self._unproven if each not in helped]
            if back:
                self._work.note(f"the ring has no room: poppers come by number {min(back):,} again instead")
        if self._unproven:
            with self._work.batch() as tally:
                tally.skipped = len(self._unproven)
            self._explain()
        self._report(last=True)

    def look_again(self) -> None:
        """Say what there is now."""
        left = self._reader.read()
        if left.faults:
            holes = sum(each.was == "hole" for each in left.faults)
            self._work.note(
                f"there are now {holes:,} that look like holes and {len(left.faults) - holes:,} like orphans"
            )

    def _repaired(self, fault: RingFault) -> bool:
        values: dict[str, Value] = {"number": fault.number, "wait_ms": self._wait_ms, "subscriber": fault.subscriber}
        name = "fill_hole" if fault.was == "hole" else "requeue_orphan"
        if fault.was == "orphan" and fault.subscriber is not None:
            name = "requeue_orphan_of"
        answer = self._sql.fetch(_Became, f"action/repair/{name}", self._reader.names, values)
        return answer[0].became is not None

    def _still(self, fault: RingFault) -> bool:
        """Whether the slot stands as it was planned."""
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

    def _drawing(self, fault: RingFault) -> bool:
        return bool(self._reader.drawing_from(self._reader.pop_sequence(fault.subscriber)))

    def _explain(self) -> None:
        open_now = [each.session for each in self._reader.drawing()]
        if open_now:
            who = ", ".join(f"session {each}" if each else "a prepared transaction" for each in open_now[:5])
            why = f"transactions that may have drawn them are open ({who})"
        else:
            why = "nothing proved them in time, or the ring stayed full"
        self._work.note(f"{len(self._unproven):,} could not be repaired yet: {why}; repair again")

    def _report(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if not last and now - self._told < _TELL_EVERY_S:
            return
        self._told = now
        total, count = self._work.total, len(self._faults)
        tried = total.done + total.changed + total.skipped
        rate = tried / (now - self._began) if tried and now > self._began else None
        left = (count - tried) / rate if rate else None
        self._tell(Progress(count, total.done, total.skipped, total.changed, rate, left))
