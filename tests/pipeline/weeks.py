"""Weeks of a shop's queues, written by the recorder itself: days that differ from nights, growth, and incidents."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from qmon.model.operation_records import Operation, OperationKind, OperationState, UndoState
from qmon.recording.format.poll_figures import Figures
from qmon.recording.format.records import End, SessionLine
from qmon.recording.write.rolling_writer import RollingWriter

HOUR_S: Final = 3600.0
DAY_S: Final = 86400.0
CODES: Final = {"no pops": 3, "consumers fall behind": 2}


@dataclass(frozen=True)
class Fault:
    """An interval, in seconds from the beginning, with pops at ``pops`` of their usual rate, and its verdict."""

    start: float
    end: float
    code: str = "no pops"
    pops: float = 0.0


@dataclass
class Simulated:
    """A queue: pushes per second at noon, its consumers' capacity, the growth of pushes per day, and its faults."""

    name: str
    noon: float
    pops: float
    growth: float = 0.0
    faults: tuple[Fault, ...] = ()
    # From and to: three times as many pushes.
    surge: tuple[float, float] = (0.0, 0.0)
    ready: float = 0.0
    oldest_s: float = 0.0
    since: dict[str, float] = field(default_factory=dict)

    def step(self, rng: random.Random, after: float, at: float, step_s: float) -> tuple[float, float, str]:
        """Return pushes, pops and the verdict of an interval that ends ``after`` seconds from the beginning."""
        hour = at % DAY_S / HOUR_S
        weekend = 0.55 if (at // DAY_S + 3) % 7 >= 5 else 1.0
        shape = (0.25 + 0.75 * math.exp(-(((hour - 13) / 4.5) ** 2))) * weekend * (1 + self.growth * after / DAY_S)
        pushed = max(0.0, rng.gauss(1.0, 0.12)) * self.noon * shape * step_s
        pushed *= 3.0 if self.surge[0] <= after < self.surge[1] else 1.0
        fault = next((each for each in self.faults if each.start <= after < each.end), None)
        can = self.pops * step_s * (1.0 if fault is None else fault.pops)
        popped = min(self.ready + pushed, can) if fault is not None else min(self.ready + pushed * 0.98, can)
        self.ready = max(0.0, self.ready + round(pushed) - round(popped))
        self.oldest_s = (
            self.oldest_s + step_s if round(popped) == 0 else self.ready / max(self.pops, 0.01) + rng.random()
        )
        code = "healthy" if fault is None or self.ready < 50 else fault.code
        self.since = {code: self.since.get(code, at)}
        return float(round(pushed)), float(round(popped)), code


def record(
    root: Path,
    target: str,
    queues: list[Simulated],
    start_at: float,
    length_s: float,
    *,
    step_s: float = 30.0,
    seed: int = 1,
    watched: Callable[[float], bool] = lambda after: True,
    operations: tuple[tuple[float, str, OperationKind, str], ...] = (),
) -> None:
    """Write it. ``watched``: whether the recorder ran at this number of seconds after the beginning.

    ``operations``: time, queue, kind and reason of each.
    """
    rng = random.Random(seed)
    session = SessionLine(target, "postgres", "18", "0.1.0", "Europe/Berlin", step_s, start_at)
    roll: RollingWriter | None = None
    starts = 0
    todo = sorted(operations)
    last: float | None = None
    for poll in range(int(length_s // step_s)):
        after = (poll + 1) * step_s
        at = round(start_at + after, 3)
        moved = [queue.step(rng, after, at, step_s) for queue in queues]
        if not watched(after):
            if roll is not None:
                roll.seal_segment(at, End("closed"))
            roll, last = None, None
            continue
        if roll is None:
            starts += 1
            roll = RollingWriter(root, f"{seed * 1000 + starts:012x}", session)
            roll.open_segment(at, ())
        roll.roll_segment(at, ())
        roll.add_record(_figures(rng, queues, moved, poll, at, None if last is None else at - last), at)
        while todo and todo[0][0] <= after:
            when, queue, kind, why = todo.pop(0)
            messages = 120 if kind == OperationKind.REQUEUE else 0
            began, number = start_at + when, len(operations) - len(todo)
            done = Operation(
                id=f"op{number}",
                kind=kind,
                queue=queue,
                state=OperationState.DONE,
                by="anna@ops-1",
                reason=why,
                started_at=began,
                ended_at=began + 40,
                planned=messages,
                done=messages,
                skipped=0,
                changed=0,
                undo_state=UndoState.NO,
            )
            roll.add_record(done, at)
        roll.flush(at)
        last = at
    if roll is not None:
        roll.seal_segment(start_at + length_s, End("closed"))


def _figures(
    rng: random.Random,
    queues: list[Simulated],
    moved: list[tuple[float, float, str]],
    poll: int,
    at: float,
    span: float | None,
) -> Figures:
    severities = tuple(CODES.get(code, 0) for _, _, code in moved)
    return Figures(
        sequence=poll + 1,
        sampled_at=at,
        poll_s=span,
        server_ms=1.5,
        queue=tuple(q.name for q in queues),
        design=("status",) * len(queues),
        ready=tuple(q.ready for q in queues),
        in_progress=tuple(float(rng.randrange(3, 9)) if popped else 0.0 for _, popped, _ in moved),
        oldest_s=tuple(round(q.oldest_s, 3) if q.ready else None for q in queues),
        dead=(0.0,) * len(queues),
        span_s=(span,) * len(queues),
        pushed=tuple(None if span is None else pushed for pushed, _, _ in moved),
        popped=tuple(None if span is None else popped for _, popped, _ in moved),
        verdict=tuple(code for _, _, code in moved),
        severity=severities,
        since_at=tuple(
            q.since[code] if code != "healthy" else None for q, (_, _, code) in zip(queues, moved, strict=True)
        ),
        proof=tuple(
            f"{q.ready:,.0f} ready, {popped:.0f} popped in {span or 0:.0f} s" if code != "healthy" else None
            for q, (_, popped, code) in zip(queues, moved, strict=True)
        ),
        wait=("LWLock:WALWrite",) if poll % 3 == 0 else (),
        sessions=(poll % 5 + 1,) if poll % 3 == 0 else (),
    )


def shop(root: Path, start_at: float, weeks: int) -> float:
    """Write weeks of two targets; the last week has most of the problems. Return the end.

    ``start_at``: seconds since the epoch, the beginning of an hour.
    """
    length_s = weeks * 7 * DAY_S
    last = length_s - 7 * DAY_S
    day = last + DAY_S
    orders = Simulated(
        "orders",
        12.0,
        26.0,
        0.008,
        (
            Fault(day + 14 * HOUR_S, day + 14.6 * HOUR_S),
            Fault(last - 2 * DAY_S, last - 1.9 * DAY_S, pops=0.05),
        ),
    )
    mails = Simulated(
        "mails",
        6.0,
        9.0,
        0.0,
        (
            Fault(day + 9 * HOUR_S, day + 11.2 * HOUR_S),
            Fault(last + 4.5 * DAY_S, last + 4.55 * DAY_S, "consumers fall behind", 0.3),
        ),
    )
    invoices = Simulated("invoices", 1.5, 6.0, surge=(last + 3.4 * DAY_S, last + 3.65 * DAY_S))
    letters = Simulated("letters", 0.4, 2.0)
    record(
        root,
        "shop",
        [orders, mails, invoices, letters],
        start_at,
        length_s,
        operations=(
            (day + 11.1 * HOUR_S, "mails", OperationKind.REQUEUE, "mailer was restarted"),
            (last + 4.54 * DAY_S, "mails", OperationKind.PAUSE, "deployment"),
        ),
    )
    refunds = Simulated("refunds", 2.0, 5.0, faults=(Fault(last + 2.3 * DAY_S, last + 2.36 * DAY_S, pops=0.1),))
    exports = Simulated("exports", 0.8, 3.0)
    gap = (last + 5.2 * DAY_S, last + 5.75 * DAY_S)
    record(
        root,
        "billing",
        [refunds, exports],
        start_at,
        length_s,
        seed=2,
        watched=lambda after: not gap[0] <= after < gap[1],
    )
    return start_at + length_s
