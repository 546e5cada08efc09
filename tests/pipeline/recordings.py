"""Recordings for tests: written by the recorder itself, with random figures from a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import zstandard

from qmon.recording.figure_rows.rows_file import write_rows_file
from qmon.recording.format.codec import encode
from qmon.recording.format.frames import SEGMENT_SUFFIX
from qmon.recording.format.poll_figures import Figures
from qmon.recording.format.records import End, SessionLine
from qmon.recording.read.recording_paths import figures_path
from qmon.recording.write.rolling_writer import RollingWriter

TROUBLE = ("no pops", 3), ("consumers fall behind", 2), ("healthy", 0)
NO_STEPS: Mapping[int, float] = MappingProxyType({})


@dataclass
class Watched:
    """One recorder's view of a target.

    ``step_s``: between polls; ``breaks``: times after which the recorder restarts.
    """

    root: Path
    target: str
    recorder: str
    zone: str = "UTC"
    environment: str = ""
    queues: tuple[str, ...] = ("orders", "mails")
    step_s: float = 2.0
    # Also write the files next to segments, as the recorder does. Without them, the pipeline reads the segments.
    rows_files: bool = False
    # The values of each line about figures, with recorder, number, target and zone.
    written: list[dict[str, Any]] = field(default_factory=list)

    def record(
        self,
        start_at: float,
        polls: int,
        *,
        seed: int = 0,
        trouble: range = range(0),
        steps: Mapping[int, float] = NO_STEPS,
    ) -> list[Path]:
        """Write an interval of polls. Return the sealed segments.

        ``trouble``: polls at which the first queue has a verdict. ``steps``: polls before which the server's clock is
        set forward by this number of seconds; as in reality, such a poll has no span.
        """
        rng, before = random.Random(seed), {path for path in self.root.rglob(f"*{SEGMENT_SUFFIX}")}
        session = SessionLine(
            self.target, "postgres", "18", "0.1.0", self.zone, self.step_s, start_at, environment=self.environment
        )
        roll = RollingWriter(self.root, self.recorder, session, on_sealed=self._on_sealed)
        roll.open_segment(start_at, ())
        at, last = start_at, None
        for poll in range(polls):
            at = round(at + self.step_s + rng.uniform(-0.05, 0.05) + steps.get(poll, 0.0), 3)
            if poll in steps:
                last = None
            roll.roll_segment(at, ())
            figures = self._figures(rng, poll, at, None if last is None else at - last, poll in trouble)
            roll.add_record(figures, at)
            self.written.append(
                {"r": self.recorder, "n": roll._number, "target": self.target, "zone": self.zone}
                | json.loads(encode(figures))
            )
            roll.flush(at)
            last = at
        roll.seal_segment(at, End("closed"))
        return sorted({path for path in self.root.rglob(f"*{SEGMENT_SUFFIX}")} - before)

    def _on_sealed(self, segment: Path) -> None:
        if self.rows_files:
            write_rows_file(segment)
        else:
            figures_path(segment).unlink()

    def _figures(self, rng: random.Random, poll: int, at: float, span: float | None, trouble: bool) -> Figures:
        names = self.queues
        code, severity = TROUBLE[poll // 7 % 2] if trouble else TROUBLE[2]
        moved = [None if span is None or rng.random() < 0.02 else float(rng.randrange(50)) for _ in names]
        return Figures(
            sequence=poll + 1,
            sampled_at=at,
            poll_s=span,
            server_ms=rng.uniform(1, 3),
            queue=names,
            design=("status",) * len(names),
            ready=tuple(None if rng.random() < 0.03 else float(rng.randrange(1000)) for _ in names),
            in_progress=tuple(float(rng.randrange(10)) for _ in names),
            oldest_s=tuple(round(rng.uniform(0, 30), 3) for _ in names),
            dead=tuple(float(poll // 100) for _ in names),
            span_s=(span,) * len(names),
            pushed=tuple(moved),
            popped=tuple(None if m is None else float(rng.randrange(50)) for m in moved),
            verdict=(code, *("healthy",) * (len(names) - 1)),
            severity=(severity, *(0,) * (len(names) - 1)),
            since_at=(at - 10 if severity else None, *(None,) * (len(names) - 1)),
            proof=(f"{code} at {poll}" if severity else None, *(None,) * (len(names) - 1)),
            wait=("LWLock:WALWrite",) if poll % 3 == 0 else (),
            sessions=(poll % 5 + 1,) if poll % 3 == 0 else (),
        )


def rows(lines: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Return one row per queue and poll, from lines as plain values."""
    for line in lines:
        for place, queue in enumerate(line["queue"]):
            row = {"target": line["target"], "zone": line["zone"], "recorder": line["r"], "sequence": line["n"]}
            row |= {"sampled_at": line["sampled_at"], "queue": queue}
            for name, values in line.items():
                if isinstance(values, list) and name not in ("queue", "wait", "sessions"):
                    row[name] = values[place]
            row["poll_s"] = line.get("poll_s")
            yield row


def strange_lines(at: float) -> bytes:
    """Return a segment in which only the third line is valid: an operation."""
    newer = {"v": 2, "r": "x", "n": 1, "at": at, "k": "figures", "figures": {"sampled_at": at}}
    uneven = newer | {"v": 1, "figures": {"sampled_at": at, "queue": ["a", "b"], "ready": [1.0]}}
    done = {"v": 1, "r": "aaaaaaaaaaaa", "n": 9999, "at": at, "k": "operation"}
    done["operation"] = {"id": "op1", "kind": "requeue", "queue": "orders", "state": "done", "started_at": at + 1200}
    wrong = uneven | {"figures": {"sampled_at": "soon"}}
    far = uneven | {"figures": {"sampled_at": at + 7 * 86400, "queue": ["a"]}}
    texts = [json.dumps(each, separators=(",", ":")) for each in (newer, uneven, done, wrong, far)]
    return zstandard.compress("\n".join([*texts, '{"k":"figures" broken', "nothing"]).encode())
