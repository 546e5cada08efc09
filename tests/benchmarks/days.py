"""Recordings of the full schema for the pipeline, made quickly: a real run repeated for many targets."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from qmon.recording.figure_rows.rows_file import write_rows_file
from qmon.recording.figures_file import FiguresFile
from qmon.recording.format.frames import FIGURE_KINDS, FrameWriter, inflate_frame, line_kind, line_spans
from qmon.recording.read.recording_paths import list_segments
from qmon.recording.read.segment_reader import frames_between
from tests.benchmarks.recording import INTERVAL_S, Day, Live, made_day

WAITS_EVERY_S = 10.0
WAITS = ("Lock:transactionid", "Lock:tuple", "IO:WalSync", "LWLock:WALWrite", "Client:ClientRead")
# At the start of each hour, one queue is in trouble for this long.
TROUBLE_S = 300.0


def varied_day(root: Path, live: Live, hours: int) -> Day:
    """Repeat the run's last two minutes for these hours, with different figures each time, for one target."""
    rng = random.Random(hours)

    def vary(figures: Any, at: float) -> Any:
        return figures | _jittered(rng, figures) | _troubled(figures, at) | _waited(rng, at)

    return made_day(root, live, hours, vary)


def copies(day: Path, root: Path, targets: int) -> int:
    """Copy the same day for this many targets; return the bytes written.

    Only the first frame of a segment is rewritten, so the index at the end is useless. Readers of whole segments do not
    need it.
    """
    size = 0
    for path in list_segments(day):
        content = path.read_bytes()
        text, used = inflate_frame(content)
        for number in range(targets):
            folder = root / f"target=t{number}" / path.parent.name
            folder.mkdir(parents=True, exist_ok=True)
            first = FrameWriter().finish(text.replace(b'"target":"bench"', b'"target":"t%d"' % number))
            size += (folder / path.name).write_bytes(first + content[used:])
    return size


def add_figures_files(root: Path) -> None:
    """Write the file of figures of each segment, as the recorder does."""
    for path in list_segments(root):
        lines = FiguresFile()
        for _, text in frames_between(path, float("-inf"), float("inf")):
            for begin, end in line_spans(text):
                if line_kind(text, begin, end) in FIGURE_KINDS:
                    lines.add_line(text[begin : end + 1])
        lines.write(path)


def add_rows_files(root: Path) -> None:
    """Write the Parquet file of each segment, as the recorder does."""
    for path in list_segments(root):
        write_rows_file(path)


def _jittered(rng: random.Random, figures: Any) -> Any:
    """Raise counts by some messages and ages by some seconds. Unknown values stay unknown."""
    count = len(figures["queue"])
    steps = {"ready": 200, "in_progress": 8, "pushed": 50, "popped": 50, "completed": 50}
    found: Any = {}
    for name, most in steps.items():
        values = figures.get(name) or [None] * count
        found[name] = [None if each is None else each + rng.randrange(most) for each in values]
    ages = figures.get("oldest_s") or [None] * count
    found["oldest_s"] = [None if each is None else round(each + rng.expovariate(0.5), 3) for each in ages]
    return {name: values for name, values in found.items() if any(each is not None for each in values)}


def _waited(rng: random.Random, at: float) -> Any:
    """Return the wait events, as often as they are sampled."""
    if at % WAITS_EVERY_S >= INTERVAL_S:
        return {}
    return {"wait": list(WAITS), "sessions": [rng.randrange(40) for _ in WAITS]}


def _troubled(figures: Any, at: float) -> Any:
    """Make another queue fall behind for the first minutes of each hour."""
    if at % 3600 >= TROUBLE_S:
        return {}
    count, place = len(figures["queue"]), int(at // 3600) % len(figures["queue"])
    said = {
        "verdict": "consumers fall behind",
        "severity": 2,
        "since_at": at // 3600 * 3600,
        "proof": f"+{at % 7:.1f} messages/s",
    }
    return {
        name: [value if n == place else old for n, old in enumerate(figures.get(name) or [None] * count)]
        for name, value in said.items()
    }
