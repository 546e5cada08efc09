"""Snapshots without a server, and a recorder that records them; run as a program by tests that kill it."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import zstandard

from qmon.model.operation_records import Operation
from qmon.model.samples.polled_samples import ServerSample
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.monitor.state.target_history import TargetHistory
from qmon.recording.format.records import Line
from qmon.recording.read.recording_paths import list_segments
from qmon.recording.read.segment_reader import open_segment
from qmon.recording.write.recorder import Recorder
from tests.facts import wait_until
from tests.recording.made import made
from tests.tui.scripted import queue, view

Read = TypeVar("Read")
BEGIN = datetime(2026, 11, 21, 13, 0, tzinfo=UTC).timestamp()
STEP_S = 10.0


def snapshots(count: int, seed: int = 1) -> list[Snapshot]:
    """Return this number of snapshots, numbered from 1, with a value in every field."""
    rng = random.Random(seed)
    base = [made(Snapshot, rng) for _ in range(5)]
    return [replace(base[n % 5], engine="postgres", server_version="18", sequence=n + 1) for n in range(count)]


def settled(read: Callable[[], Read]) -> Read:
    """Read a folder; again if a segment was sealed meanwhile, which renames it."""
    for _ in range(3):
        try:
            return read()
        except FileNotFoundError:
            continue
    return read()


def lines_of(root: Path) -> list[Line]:
    """Return every line below a folder, in the order of its segments."""
    return settled(lambda: [line for path in list_segments(root) for line in open_segment(path).read_lines()])


def value(line: Line) -> Any:
    """Return the values of a line as plain values."""
    return json.loads(line.value)


def text_of(path: Path) -> bytes:
    """Return the text of a file as any zstandard reader decodes it."""
    with path.open("rb") as file:
        return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read()


def sequences(root: Path) -> list[int]:
    """Return the sequences of all snapshots below a folder, in the order of the files."""
    return [value(line)["sequence"] for line in lines_of(root) if line.kind == "snapshot"]


def main(root: Path, first: int) -> None:
    """Record for ever, a snapshot every 5 ms. Print which one was handed over, and when."""
    recorder = Recorder(root, "killed", interval_s=0.5)
    given, quiet = snapshots(50), view()
    pause = threading.Event()
    for sequence in range(first, first + 1_000_000):
        recorder.record_snapshot(replace(given[sequence % 50], sequence=sequence), quiet)
        print(sequence, time.monotonic(), flush=True)
        pause.wait(0.005)


def run_of(count: int, name: str = "orders") -> list[Snapshot]:
    """Return a snapshot of a quiet target with one queue, polled every ten seconds."""
    layout = queue("mails").layout
    return [
        Snapshot(
            name,
            "postgres",
            "18.6",
            n + 1,
            BEGIN + STEP_S * n,
            100.0 + STEP_S * n,
            5.0,
            1.0,
            3,
            STEP_S,
            ServerSample(BEGIN + STEP_S * n, BEGIN - 9e4, None, False, 7, 100 * n, n, 0),
            (QueueSamples(layout),),
        )
        for n in range(count)
    ]


def recorded(root: Path, count: int = 400, name: str = "orders") -> list[Snapshot]:
    """Record this number of snapshots below a folder, with one operation after 200 of them."""
    now = [BEGIN]
    recorder = Recorder(root, name, interval_s=STEP_S, clock=lambda: now[0])
    history = TargetHistory()
    given = run_of(count, name)
    for snapshot in given:
        recorder.record_snapshot(snapshot, history.record_snapshot(snapshot))
        if snapshot.sequence == 200:
            recorder.record_operation(replace(made(Operation, random.Random(1)), queue="mails"))
        wait_until(lambda wanted=snapshot.sequence: recorder.status.snapshots >= wanted)  # type: ignore[misc]
        now[0] += STEP_S
    recorder.close()
    assert recorder.status.stopped == ""
    return given


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
