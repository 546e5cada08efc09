"""Snapshots without a server, and a recorder that records them; run as a program by tests that kill it."""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import zstandard

from qmon.model.snapshot import Snapshot
from qmon.recording.format.records import Line
from qmon.recording.read.recording_paths import list_segments
from qmon.recording.read.segment_reader import open_segment
from qmon.recording.write.recorder import Recorder
from tests.recording.made import made
from tests.tui.scripted import view

Read = TypeVar("Read")


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


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
