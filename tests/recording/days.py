"""An artificial day of two queues, as a recorder would have written it: an incident, an operation, a silent hour."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from unittest import mock

from qmon.model.figure import Severity, Verdict
from qmon.model.operation_records import Operation, OperationKind, OperationState
from qmon.model.samples.polled_samples import ServerSample
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.recording.format.poll_figures import Figures
from qmon.recording.format.records import End, SessionLine, VerdictsLine
from qmon.recording.history.baselines_reader import FILE_NAME
from qmon.recording.write.rolling_writer import RollingWriter
from tests.recording.made import made
from tests.tui.scripted import queue

ZONE: Final = "Europe/Berlin"
# Tuesday 07:00 in Berlin.
BEGIN: Final = datetime(2026, 11, 17, 6, 0, tzinfo=UTC).timestamp()
EVERY_S: Final = 60.0
QUEUES: Final = ("mails", "orders")
HEALTHY: Final = Verdict("healthy", "as it should be")
STUCK: Final = Verdict("stuck in progress", "7 in progress for more than 5 m 00 s", Severity.CRITICAL)
SLOW: Final = Verdict("consumers fall behind", "push 91.0/s, pop 60.0/s", Severity.WARNING)
# Queue, start and end in hours since the beginning, and verdict.
TROUBLES: Final = (("mails", 7.0, 7.5, STUCK), ("orders", 9.0, 9.2, SLOW), ("mails", 11.0, 11.05, SLOW))
SILENT: Final = (4.0, 5.0)
DONE_AT: Final = 7.4


def depth(hours: float) -> float:
    """Return the rate of mails: a wave over the day, three times as high during the incident."""
    usual = 400 + 250 * math.sin((hours - 3) / 24 * 2 * math.pi) + 20 * math.sin(hours * 9)
    return round(usual * (3 if 7.0 <= hours < 7.6 else 1))


def said(name: str, hours: float) -> Verdict:
    """Return the verdict of a queue."""
    return next((v for q, since, until, v in TROUBLES if q == name and since <= hours < until), HEALTHY)


_LAYOUTS: Final = tuple(queue(name, design).layout for name, design in zip(QUEUES, ("status", "fifo"), strict=True))


def figures(sequence: int, at: float, span_s: float | None) -> Figures:
    """One poll."""
    hours = (at - BEGIN) / 3600
    verdicts = [said(name, hours) for name in QUEUES]
    push = 60 + 30 * math.sin((hours - 3) / 24 * 2 * math.pi)
    trouble = [v.severity >= Severity.WARNING for v in verdicts]
    return Figures(
        sequence,
        at,
        queue=QUEUES,
        design=("status", "fifo"),
        ready=(depth(hours), 12.0),
        in_progress=(8.0, 0.0),
        stuck=(7.0 if trouble[0] else 0.0, 0.0),
        oldest_s=(depth(hours) / 60, 0.2),
        span_s=(span_s, span_s),
        pushed=(push * span_s, 1.0) if span_s else (),
        popped=(push * span_s, 1.0) if span_s else (),
        verdict=tuple(v.code for v in verdicts),
        severity=tuple(int(v.severity) for v in verdicts),
        since_at=tuple(at - 60 if bad else None for bad in trouble),
        proof=tuple(v.proof if bad else None for v, bad in zip(verdicts, trouble, strict=True)),
        gap=(depth(hours) + 8, None),
    )


def written(
    root: Path,
    hours: float = 24.0,
    *,
    target: str = "orders-prod",
    every_s: float = EVERY_S,
    change: Callable[[Figures], Figures] = lambda figures: figures,
    seal: bool = True,
    begin_at: float = BEGIN,
    snapshots: float = 0.0,
) -> None:
    """Write it below a folder; no call waits for the disk.

    ``change``: changes the figures of a poll before they are written. ``snapshots``: number of hours with snapshots,
    for a replay.
    """
    with mock.patch("qmon.system.sync_data"), mock.patch("qmon.recording.write.segment_writer.os.fsync"):
        _written(root, hours, target, every_s, change, seal, begin_at, snapshots)


def _written(
    root: Path,
    hours: float,
    target: str,
    every_s: float,
    change: Callable[[Figures], Figures],
    seal: bool,
    begin_at: float,
    snapshots: float,
) -> None:
    writer = RollingWriter(
        root, "4f2a9c01be77", SessionLine(target, "postgres", "18.6", "0.1.0", ZONE, every_s, begin_at)
    )
    writer.open_segment(begin_at, ())
    before: float | None = None
    holds = dict.fromkeys(QUEUES, HEALTHY)
    operated = False
    for number in range(int(hours * 3600 / every_s)):
        at = begin_at + number * every_s
        since = (at - BEGIN) / 3600
        if SILENT[0] <= since < SILENT[1]:
            before = None
            continue
        writer.roll_segment(at, [VerdictsLine(name, (verdict,), repeated=True) for name, verdict in holds.items()])
        if since < snapshots:
            writer.add_snapshot(poll(number + 1, at, target, every_s), at)
        span = at - before if before is not None else None
        writer.add_record(change(figures(number + 1, at, span)), at)
        before = at
        for name in QUEUES:
            if (now := said(name, since)) != holds[name]:
                holds[name] = now
                writer.add_record(VerdictsLine(name, (now,)), at)
        if since >= DONE_AT and not operated:
            operated = True
            writer.add_record(requeued(at), at)
        writer.flush(at)
    if seal:
        writer.seal_segment(begin_at + hours * 3600, End("closed"))
    else:
        writer.abandon_segment()


def poll(sequence: int, at: float, target: str, every_s: float) -> Snapshot:
    """A snapshot of a quiet server."""
    samples = tuple(QueueSamples(layout) for layout in _LAYOUTS)
    server = ServerSample(at, BEGIN - 9e4, None, False, 7, 100 * sequence, 0, 0)
    return Snapshot(
        target, "postgres", "18.6", sequence, at, 100.0 + EVERY_S * sequence, 5.0, 1.0, 3, every_s, server, samples
    )


def requeued(at: float) -> Operation:
    """An operation on mails."""
    operation: Operation = made(Operation, random.Random(1))
    return replace(
        operation,
        id="261117-142400-k7qd",
        kind=OperationKind.REQUEUE,
        queue="mails",
        state=OperationState.DONE,
        by="anna@ops-1",
        reason="worker died",
        planned=40,
        done=40,
        skipped=0,
        changed=0,
        started_at=at,
        ended_at=at + 1,
    )


def usual(root: Path, target: str = "orders-prod", *, weeks: int = 9) -> Path:
    """Write the baselines file: every hour of the week as on this day without its incident."""

    def hours(of: Callable[[float], float], mad: float) -> dict[str, list[float]]:
        begin = 24 + 7
        return {str((begin + hour) % 168): [of(hour % 24 + 0.5), mad, weeks] for hour in range(168)}

    def quiet(hour: float) -> float:
        return round(400 + 250 * math.sin((hour - 3) / 24 * 2 * math.pi))

    def pushed(hour: float) -> float:
        return 60 + 30 * math.sin((hour - 3) / 24 * 2 * math.pi)

    figures = {"ready": hours(quiet, 15.0), "push_rate": hours(pushed, 2.0)}
    whole = {"version": 1, "zone": ZONE, "zones": {target: ZONE}, "queues": {target: {"mails": figures}}}
    path = root / FILE_NAME
    path.write_text(json.dumps(whole))
    return path
