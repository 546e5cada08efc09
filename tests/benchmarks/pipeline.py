"""The pipeline's speed: a day of recordings of one target, and ten times as much, from segments to rollups."""

from __future__ import annotations

import random
import shutil
import tempfile
import time
import zlib
from pathlib import Path

from pyspark.sql import SparkSession

from qmon.pipeline.lake import Lake
from qmon.pipeline.run import begin, wait
from qmon.pipeline.session import start
from qmon.recording.figures import Figures
from qmon.recording.lines import PLAIN, line
from tests.benchmarks.results import Bound, Part

QUEUES = 24
EVERY_S = 2.0
TIMES = 10
AT_MOST = 11.0
BEGIN = 1_792_800_000.0
"""Midnight in UTC."""


def run(*, quick: bool = False) -> Part:
    """The times of both, each into a lake of its own, after a run over one hour that nobody counts."""
    hours = 1 if quick else 24
    part = Part("pipeline", {"queues": QUEUES, "every_s": EVERY_S, "hours": hours, "master": "local[2]"})
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        made = root / "made"
        size = _hours(made, hours)
        for targets in (1, TIMES):
            _copies(made, root / f"x{targets}", targets, hours)
        _copies(made, root / "warm", 1, 1)
        session = start("local[2]", {"spark.driver.memory": "4g", "spark.local.dir": str(root / "local")})
        try:
            _timed(session, root, "warm")
            took = {targets: _timed(session, root, f"x{targets}") for targets in (1, TIMES)}
        finally:
            session.stop()
    for targets, (seconds, samples) in took.items():
        part.rows.append(
            {
                "targets": targets,
                "queue-samples": samples,
                "segments, MB": size * targets / 1e6,
                "seconds": seconds,
                "queue-samples/s": samples / seconds,
                "bytes a queue-sample": size * targets / samples,
            }
        )
    ratio = took[TIMES][0] / took[1][0]
    part.bounds.append(Bound(f"time for {TIMES} times the data over the time for it once", ratio, AT_MOST))
    return part


def _timed(session: SparkSession, root: Path, name: str) -> tuple[float, int]:
    """Seconds from segments to rollups, and queue-samples in the lake."""
    lake = Lake(session, str(root / f"lake-{name}"))
    began = time.perf_counter()
    wait(begin(lake, str(root / name)))
    return time.perf_counter() - began, lake.manifest().counts["samples"]


def _hours(folder: Path, hours: int) -> int:
    """A segment an hour, as a recorder would write them but for the target's name; returns their bytes."""
    folder.mkdir()
    rng, number, size = random.Random(1), 0, 0
    for hour in range(hours):
        members = []
        for minute in range(60):
            lines = []
            for second in range(0, 60, int(EVERY_S)):
                at = BEGIN + hour * 3600 + minute * 60 + second + 0.25
                for kind, value in (("snapshot", _snapshot(rng, at)), ("figures", PLAIN.encode(_figures(rng, at)))):
                    number += 1
                    lines.append(line("aaaaaaaaaaaa", number, at, kind, value))
            packer = zlib.compressobj(6, zlib.DEFLATED, 31)
            members.append(packer.compress(b"".join(lines)) + packer.flush())
        content = b"".join(members)
        size += len(content)
        (folder / f"{hour:02d}.jsonl.gz").write_bytes(content)
    return size


def _copies(made: Path, root: Path, targets: int, hours: int) -> None:
    for number in range(targets):
        folder = root / f"target=t{number}" / "date=2026-10-24"
        folder.mkdir(parents=True)
        for path in sorted(made.iterdir())[:hours]:
            shutil.copy(path, folder)


def _figures(rng: random.Random, at: float) -> Figures:
    names = tuple(f"queue{place}" for place in range(QUEUES))

    def some(most: int) -> tuple[float, ...]:
        return tuple(float(rng.randrange(most)) for _ in names)

    return Figures(
        sequence=1, sampled_at=at, server_ms=2.0, queue=names, design=("status",) * QUEUES, ready=some(5000),
        in_progress=some(20), stuck=some(2), oldest_s=tuple(round(rng.expovariate(0.2), 3) for _ in names),
        scheduled=some(100), dead=some(10), span_s=(EVERY_S,) * QUEUES, pushed=some(200), popped=some(200),
        completed=some(200), verdict=("healthy",) * QUEUES, severity=(0,) * QUEUES, wait=("LWLock:WALWrite",),
        sessions=(2,),
    )  # fmt: skip


def _snapshot(rng: random.Random, at: float) -> object:
    """As large as one is: the pipeline has to get past it."""
    counters = ("inserted", "updated", "deleted", "hot_updated", "live", "dead", "modified_since_analyze", "bytes")
    queues = [
        {
            "queue": f"queue{place}", "layout": "86387a2c367c", "last_id": rng.randrange(10**7),
            "unknown": "52755ea95c2a",
            "counters": {"table_id": 16538 + place, **{name: rng.randrange(10**6) for name in counters}},
            "head": {"head_id": str(rng.randrange(10**7)), "oldest_s": round(rng.random(), 3), "counted": 9},
            "head_limit": 1001, "progress": {"in_progress": rng.randrange(20), "stuck": 0, "longest_s": None},
        }
        for place in range(QUEUES)
    ]  # fmt: skip
    return {"target": "t", "engine": "postgres", "sampled_at": at, "interval_s": EVERY_S, "queues": queues}
