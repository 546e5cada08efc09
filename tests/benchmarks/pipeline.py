"""The pipeline's speed and memory: a million queue-samples, and ten times as many, from segments to rollups.

A real run with twenty queues is recorded; its last two minutes, with other figures, make the hours of each target.
"""

from __future__ import annotations

import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil
from pyspark.sql import SparkSession

from qmon.pipeline.ingest.segments import Intake
from qmon.pipeline.ingest.segments import run as take_in
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.session import start
from tests.benchmarks.days import copies, varied_day
from tests.benchmarks.recording import live_run
from tests.benchmarks.results import Bound, Part

PER_SECOND: Final = 100_000.0
TIMES: Final = 10
SLOWER: Final = 11.0
MORE: Final = 1.1
"""Peak memory of the large run over that of the small one: the same, but for what a sampler misses."""
CORES: Final = 2
HOURS: Final = 29
"""Of twenty queues every 2 s: 1,044,000 queue-samples."""
_LIVE_S: Final = 62.0
_LOOK_S: Final = 1.0
"""A look takes 26 ms of a processor: five a second would be a twentieth of what there is."""
_SETTINGS: Final = {
    "spark.driver.memory": "1g",
    # All of the heap from the beginning: otherwise the small run is compared with a heap that has not grown yet.
    "spark.driver.extraJavaOptions": "-Xms1g -XX:+AlwaysPreTouch",
}


@dataclass(frozen=True, slots=True)
class Ran:
    """One run: its size, its seconds, the processor time of Java and of Python, and the highest sum of memory."""

    samples: int
    megabytes: float
    seconds: float
    java_s: float
    python_s: float
    peak_mb: float


def run(*, quick: bool = False) -> Part:
    """One target and ten, each into a lake of its own, after a run over ten that nobody counts: Java is warm then."""
    hours, live_s = (1, 10.0) if quick else (HOURS, _LIVE_S)
    part = Part("pipeline", {"master": f"local[{CORES}]", "hours": hours, "interval_s": 2.0, **_SETTINGS})
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        live = live_run(root / "live", live_s)
        part.conditions["queues"] = len(live.polls[0][0].queues)
        day = varied_day(root / "day", live, hours)
        sizes = {targets: copies(day.root, root / f"x{targets}", targets) / 1e6 for targets in (1, TIMES)}
        session = start(f"local[{CORES}]", {**_SETTINGS, "spark.local.dir": str(root / "local")})
        try:
            _ran(session, root, f"x{TIMES}", "warm", 0.0)
            ran = {targets: _ran(session, root, f"x{targets}", f"x{targets}", size) for targets, size in sizes.items()}
        finally:
            session.stop()
    for targets, each in ran.items():
        part.rows.append(
            {
                "targets": targets,
                "queue-samples": each.samples,
                "segments, MB": each.megabytes,
                "seconds": each.seconds,
                "queue-samples/s": each.samples / each.seconds,
                "Java, core s": each.java_s,
                "Python, core s": each.python_s,
                "peak MB": each.peak_mb,
            }
        )
    small, large = ran[1], ran[TIMES]
    slower = large.seconds / small.seconds
    part.bounds = [Bound(f"time for {TIMES} times the data over the time for it once", slower, SLOWER)]
    if not quick:  # a small run ends before Java has taken the memory that it may have
        more = large.peak_mb / small.peak_mb
        part.bounds += [
            Bound(f"peak memory for {TIMES} times the data over that for it once", more, MORE),
            Bound("queue-samples/s", large.samples / large.seconds, PER_SECOND, at_most=False),
        ]
    return part


def _ran(session: SparkSession, root: Path, recordings: str, name: str, megabytes: float) -> Ran:
    lake = Lake(session, str(root / f"lake-{name}"))
    with Watch() as watch:
        began = time.perf_counter()
        take_in(Intake(lake, str(root / recordings)))
        seconds = time.perf_counter() - began
    samples = lake.view().counts()["samples"]
    return Ran(samples, megabytes, seconds, watch.java_s, watch.python_s, watch.peak / 1e6)


class Watch:
    """Memory (shared pages in parts) and processor time of Java and the Python workers, looked at while it is open."""

    def __init__(self) -> None:
        self.peak = 0
        self.java_s = self.python_s = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self.java_s, self.python_s = _processor_s()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        java, python = _processor_s()
        self.java_s, self.python_s = java - self.java_s, python - self.python_s

    def _look(self) -> None:
        while not self._over.wait(_LOOK_S):
            self.peak = max(self.peak, _memory())


def _memory() -> int:
    """Bytes of all processes below this one."""
    found = 0
    for child in psutil.Process().children(recursive=True):
        try:
            found += child.memory_full_info().pss
        except psutil.Error:  # it has ended
            continue
    return found


def _processor_s() -> tuple[float, float]:
    """Seconds of Java, and of Python workers with those that have ended."""
    java = python = 0.0
    for child in psutil.Process().children(recursive=True):
        try:
            times, is_java = child.cpu_times(), "java" in child.name()
        except psutil.Error:
            continue
        if is_java:
            java += times.user + times.system
        else:
            python += times.user + times.system + times.children_user + times.children_system
    return java, python
