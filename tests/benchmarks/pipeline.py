"""The pipeline from segments to rollups as a whole, compared with DuckDB and Polars in the same run.

It also measures the cost of a small batch.

A real run with twenty queues is recorded; its last two minutes, with other figures, make the hours of each target.
qmon reads the Parquet files that the recorder writes next to the segments. DuckDB and Polars read the segments; another
run of DuckDB reads the Parquet files.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Final

from qmon.pipeline.ingest.segment_intake import SegmentIntake
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.spark_session import start_session
from qmon.recording.write.segment_writer import FRAME_S
from tests.benchmarks.days import add_figures_files, add_rows_files, copies, varied_day
from tests.benchmarks.fresh import Used, processor_s, used
from tests.benchmarks.recording import live_run
from tests.benchmarks.results import Bound, Part
from tests.benchmarks.rollups_elsewhere import READERS, measured
from tests.pipeline.recordings import Watched

TIMES: Final = 10
LARGE: Final = 100
# Processor seconds with one target over those of DuckDB twice and of a session with one trivial query. With more
# targets, over those of DuckDB for as many samples.
SMALL_SHARE: Final = 1.0
OF_DUCKDB: Final = {TIMES: 1.0, LARGE: 0.8}
# Peak memory of all processes together, with Spark's usual heap of 1 GB, for input of any size.
MOST_MB: Final = 1_500.0
LATE_S: Final = 30.0
LATE_RUNNING_S: Final = 3.0
# With twenty queues every 2 s: 1,044,000 queue-samples.
HOURS: Final = 29
# Long enough for a whole frame of polls.
_LIVE_S: Final = FRAME_S + 5.0
_BEGIN: Final = 1_795_219_200.0
# Late batches one after the other in a running process. By the last ones, Java has compiled most of their code. The
# result is the median of the last five.
_RUNNING: Final = 50
_TRIVIAL: Final = (
    "from qmon.pipeline.spark_session import start_session; s = start_session('local[2]'); "
    "print(s.range(10).count()); s.stop()"
)


def run(*, quick: bool = False) -> Part:
    """Run one target and ten, each into its own lake with ``qmon pipeline run``; then add 600 late samples."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        part, day = _begun("pipeline", root, quick=quick)
        session = used(sys.executable, "-c", _TRIVIAL)
        part.rows.append(_row("a session and one trivial query", 0, 0.0, session))
        spent, peaks = dict[tuple[int, str], float](), dict[int, float]()
        for targets in (1, TIMES):
            place = root / f"x{targets}"
            megabytes = copies(day, place, targets) / 1e6
            if targets == 1:
                part.rows.append(_without_files(root, place, megabytes, "segments only"))
            add_figures_files(place)
            if targets == 1:
                part.rows.append(_without_files(root, place, megabytes, "without Parquet files"))
            add_rows_files(place)
            ours = _taken(place, root / f"lake{targets}")
            samples = int(json.loads(ours.printed)["samples"])
            peaks[targets] = ours.peak_mb
            spent[targets, "qmon"] = ours.cpu_s
            part.rows.append(_row(f"qmon, {targets} targets", samples, megabytes, ours))
            for reader in READERS:
                theirs = measured(reader, place, root / f"{reader}{targets}")
                if json.loads(theirs.printed)["samples"] != samples:
                    raise RuntimeError(f"{reader} has found other samples: {theirs.printed}, not {samples}")
                spent[targets, reader] = theirs.cpu_s
                part.rows.append(_row(f"{reader}, {targets} targets", samples, megabytes, theirs))
        _late(root / "x1", 0)
        late = _taken(root / "x1", root / "lake1")
        part.rows.append(_row("qmon, a late batch", 600, 0.0, late))
        running_s = _running(root / "x1", root / "lake1")
    part.conditions["processor s of a late batch, running"] = running_s
    allowed = 2 * spent[1, "duckdb"] + session.cpu_s
    large = spent[TIMES, "qmon"] / spent[TIMES, "duckdb"]
    part.bounds = [
        Bound(
            "processor s over those of DuckDB twice and a session, 1 target", spent[1, "qmon"] / allowed, SMALL_SHARE
        ),
        Bound(f"processor s over DuckDB's, {TIMES} targets", large, OF_DUCKDB[TIMES]),
        *(Bound(f"peak MB, {targets} targets", peak, MOST_MB) for targets, peak in peaks.items()),
        Bound("processor s of a late batch of 600 samples, a fresh process", late.cpu_s, LATE_S),
        Bound("processor s of a late batch of 600 samples, a running process", running_s, LATE_RUNNING_S),
    ]
    return part


def run_large(*, quick: bool = False) -> Part:
    """Run a hundred targets, 100 million samples: 13 GB of segments in the temporary folder.

    DuckDB needs too much memory for as many samples at once, so it reads a tenth.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        part, day = _begun("pipeline-large", root, quick=quick)
        copies(day, root / "few", TIMES)
        few = measured("duckdb", root / "few", root / "duckdb")
        few_samples = int(json.loads(few.printed)["samples"])
        part.rows.append(_row(f"duckdb, {TIMES} targets", few_samples, 0.0, few))
        megabytes = copies(day, root / "many", LARGE) / 1e6
        add_figures_files(root / "many")
        add_rows_files(root / "many")
        ours = _taken(root / "many", root / "lake")
        samples = int(json.loads(ours.printed)["samples"])
        part.rows.append(_row(f"qmon, {LARGE} targets", samples, megabytes, ours))
    share = (ours.cpu_s / samples) / (few.cpu_s / few_samples)
    part.bounds = [
        Bound(f"processor s a sample over DuckDB's, {LARGE} targets", share, OF_DUCKDB[LARGE]),
        Bound(f"peak MB, {LARGE} targets", ours.peak_mb, MOST_MB),
    ]
    return part


def _without_files(root: Path, recordings: Path, megabytes: float, what: str) -> dict[str, str | int | float]:
    """Run one target without some of the files next to its segments. Return the row."""
    ours = _taken(recordings, root / f"lake, {what}")
    return _row(f"qmon, 1 target, {what}", int(json.loads(ours.printed)["samples"]), megabytes, ours)


def _begun(name: str, root: Path, *, quick: bool) -> tuple[Part, Path]:
    """Return a part, and the folder with the recording of one target."""
    hours, live_s = (1, 10.0) if quick else (HOURS, _LIVE_S)
    part = Part(name, {"master": "local[2]", "hours": hours, "interval_s": 2.0, "counted": "whole processes"})
    live = live_run(root / "live", live_s)
    part.conditions["queues"] = len(live.polls[0][0].queues)
    return part, varied_day(root / "day", live, hours).root


def _row(what: str, samples: int, megabytes: float, each: Used) -> dict[str, str | int | float]:
    return {
        "what": what,
        "queue-samples": samples,
        "segments, MB": megabytes,
        "seconds": each.seconds,
        "processor s": each.cpu_s,
        "samples/processor s": samples / each.cpu_s,
        "peak MB": each.peak_mb,
    }


def _taken(recordings: Path, lake: Path) -> Used:
    command = [sys.executable, "-m", "qmon", "pipeline", "run", "--recordings", str(recordings), "--lake", str(lake)]
    return used(*command, "--master", "local[2]", "--output", "json")


def _late(recordings: Path, number: int) -> None:
    """Write 600 late samples of another recorder, within hours that are already processed."""
    queues = tuple(f"late{n}" for n in range(20))
    watched = Watched(recordings, "t0", f"{number:012x}", queues=queues)
    watched.record(_BEGIN + 1800 + number * 100, 30, seed=number)


def _running(recordings: Path, lake: Path) -> float:
    """Return the processor seconds of a late batch in a process that has already run many."""
    session = start_session("local[2]")
    try:
        intake, spent = SegmentIntake(Lake(session, str(lake)), str(recordings)), list[float]()
        for number in range(1, _RUNNING + 1):
            _late(recordings, number)
            before = processor_s()
            intake.run_batch()
            spent.append(processor_s() - before)
    finally:
        session.stop()
    return statistics.median(spent[-5:])
