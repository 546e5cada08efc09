"""Measure the sizes of recordings and the lake, and the driver's memory, for the table in the manual."""

from __future__ import annotations

import gc
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import psutil
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from qmon.pipeline.ingest.segment_intake import SegmentIntake
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.lake.schema import TABLES
from qmon.pipeline.spark_session import start_session
from tests.benchmarks.days import copies, varied_day
from tests.benchmarks.fresh import processor_s, used
from tests.benchmarks.recording import live_run
from tests.cli.calling import program
from tests.pipeline.cluster import cluster, packed
from tests.pipeline.recordings import Watched

# Twenty queues every 2 s: 1,044,000 samples.
HOURS: Final = 29
_LIVE_S: Final = 62.0
_BEGIN: Final = 1_795_219_200.0
_DAY_S: Final = 86400.0
_TARGETS: Final = 4
# Targets and days of tiny segments.
_FLEETS: Final = ((2000, 30), (100, 40))
_POLLS: Final = 10


def sized() -> Iterator[str]:
    """Yield one line per figure."""
    with tempfile.TemporaryDirectory() as name:
        yield from _bytes(Path(name))
    for targets, days in _FLEETS:
        with tempfile.TemporaryDirectory() as name:
            yield from _driver(Path(name), targets, days)


def _bytes(folder: Path) -> Iterator[str]:
    """Record a real run with twenty queues, varied and for hours: bytes and processor seconds per million samples."""
    live = live_run(folder / "live", _LIVE_S)
    day = varied_day(folder / "day", live, HOURS)
    lake, samples = folder, 0
    for targets, cores in ((1, 2), (_TARGETS, 1), (_TARGETS, 2)):
        root, lake = folder / f"x{targets}", folder / f"lake{targets}-{cores}"
        recorded = copies(day.root, root, targets)
        command = program("pipeline", "run", "--recordings", str(root), "--lake", str(lake), "--output", "json")
        ours = used(*command, "--master", f"local[{cores}]")
        samples = int(json.loads(ours.printed)["samples"])
        yield (
            f"{samples:,} samples of {targets} targets, {cores} cores: recorded {recorded / samples:.1f} bytes each, "
            f"{ours.cpu_s:.0f} processor s, {ours.seconds:.0f} s, {ours.peak_mb:,.0f} MB at most"
        )
    yield f"  in the lake, bytes a sample: {_taken_up(lake, samples)}"
    subprocess.run(program("pipeline", "tidy", "--lake", str(lake)), check=True, capture_output=True)
    yield f"  tidied: {_taken_up(lake, samples)}"
    yield from _clustered(folder, folder / f"x{_TARGETS}", samples)


def _clustered(folder: Path, recordings: Path, samples: int) -> Iterator[str]:
    """Ingest the same segments on a cluster of one worker and of two, each with one core, next to their driver and
    master."""
    settings = {"spark.executor.memory": "1g", "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "8"}
    package = packed(folder)
    for workers in (1, 2):
        place = folder / f"cluster{workers}"
        place.mkdir()
        with cluster(place, workers, "1200m") as here:
            command = ("pipeline", "run", "--recordings", str(recordings), "--lake", str(place / "lake"))
            began = time.monotonic()
            done = here.submit(package, *command, "--output", "json", settings=settings)
            seconds = time.monotonic() - began
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout.splitlines()[-1])["samples"] == samples
        yield f"  the same on a cluster, {workers} workers of one core: {seconds:.0f} s from its start to its end"


def _taken_up(lake: Path, samples: int) -> str:
    sizes = {name: _size(lake / name) for name in TABLES}
    parts = ", ".join(f"{name} {size / samples:.2f}" for name, size in sizes.items() if size)
    return f"{sum(sizes.values()) / samples:.2f} ({parts})"


def _size(table: Path) -> int:
    """Return the bytes of the files of its newest version."""
    if not DeltaTable.is_deltatable(str(table)):
        return 0
    return sum(DeltaTable(str(table)).get_add_actions().column("size_bytes").to_pylist())


def _driver(folder: Path, targets: int, days: int) -> Iterator[str]:
    """Ingest a batch a day of this number of targets. Yield the memory still in use after each batch, and its cost."""
    root = folder / "recordings"
    session = start_session("local[2]", {"spark.local.dir": str(folder / "local"), "spark.driver.memory": "2g"})
    root.mkdir()
    intake = SegmentIntake(Lake(session, str(folder / "lake")), str(root))
    for day in range(days):
        watched = Watched(folder / "days" / str(day), "bench", f"{day:012x}")
        watched.record(_BEGIN + day * _DAY_S, _POLLS, seed=day)
        copies(watched.root, root, targets)
        spent, began = processor_s(), time.monotonic()
        done = intake.run_batch()
        assert done is not None
        if day < 3 or day % 10 == 9 or day == days - 1:
            cost = f"this batch {processor_s() - spent:.0f} processor s, {time.monotonic() - began:.0f} s"
            so_far = f"{done.totals['segments']:,} segments, {done.totals['samples']:,} samples"
            yield f"{targets:,} targets, day {day + 1}: {so_far}; {cost}; {_needed(session)}"
    before = time.monotonic()
    found = len(intake._folder.file_sizes(".jsonl.zst"))
    yield f"  {found:,} segments listed in {time.monotonic() - before:.2f} s; {_log(folder / 'lake')}"
    session.stop()


def _needed(session: SparkSession) -> str:
    """Return the memory in use after garbage collection."""
    jvm: Any = session._jvm
    gc.collect()
    for _ in range(2):
        jvm.java.lang.System.gc()
    runtime = jvm.java.lang.Runtime.getRuntime()
    java = (runtime.totalMemory() - runtime.freeMemory()) / 1e6
    return f"still needed: Java {java:,.0f} MB, Python {psutil.Process().memory_full_info().uss / 1e6:,.0f} MB"


def _log(lake: Path) -> str:
    files = {name: len(DeltaTable(str(lake / name)).file_uris()) for name in ("samples", "hours")}
    return ", ".join(f"{count:,} files of {name}" for name, count in files.items())
