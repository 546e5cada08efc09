"""``qmon pipeline run`` and ``tidy`` killed with SIGKILL at random moments while segments arrive, then read."""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from typing import Final

import psutil
from deltalake import DeltaTable

from qmon.pipeline.lake.deleted_days import read_deleted_days
from qmon.pipeline.spark_session import start_session
from qmon.recording.read.segment_reader import open_segment
from tests.facts import wait_until
from tests.pipeline.comparing import compared, counted, rolled_up, run
from tests.pipeline.conftest import small
from tests.pipeline.recordings import Watched, rows
from tests.pipeline.reference import unique
from tests.soak.killing import LONG_S, Readers, ended, kill, newest, started

DAY_S: Final = 86400.0
LATE_S: Final = 21 * DAY_S
MODES: Final = ("--once", "--continuous")
_KEPT: Final = "10d"
_QUEUES: Final = 2


def run_killed(times: int) -> str:
    """Kill ``--once`` and ``--continuous`` this number of times each.

    Afterwards the lake must equal plain Python's result.
    """
    with _ground(times) as ground:
        ground.undisturbed()
        struck: Counter[str] = Counter()
        for mode in MODES:
            done = 0
            while done < times:
                if where := ground.strike(mode):
                    struck[where] += 1
                    done += 1
        for _ in range(times // 5):
            ground.java_killed()
        lake = run(ground.readers.session, ground.root, ground.lake)
        ground.readers.agree()
        compared(lake, [row for each in ground.written for row in rows(each.written)])
        counts, reads = lake.view().counts(), ground.readers.reads
    assert struck["within a batch"], struck
    moments = ", ".join(f"{number} {where}" for where, number in sorted(struck.items()))
    return (
        f"the pipeline killed {times} times with --once and as often with --continuous ({moments}), its Java alone "
        f"{times // 5} times: {counts['samples']:,} samples of {len(ground.written)} recorders, {ground.late} of them "
        f"three weeks late: none lost, none twice; {reads:,} tables read by three readers alike"
    )


def tidy_killed(times: int) -> str:
    """Kill ``tidy`` this number of times during ``run --continuous``, which must go on; sometimes kill both.

    The lake starts with a first day whose samples are not kept.
    """
    with _ground(times) as ground:
        ground.record(LATE_S)
        run(ground.readers.session, ground.root, ground.lake)
        ground.record()
        run(ground.readers.session, ground.root, ground.lake)
        before = time.monotonic()
        with ground.tidying() as child:
            wait_until(lambda: ground.tidied() != 0, LONG_S, what="a first table tidied")
            began_s = time.monotonic() - before
            assert child.wait(LONG_S) == 0
        whole_s, struck = time.monotonic() - before - began_s, Counter[str]()
        while struck["killed"] + struck["killed with the run"] < times:
            with ground.program("--continuous") as running:
                while struck["killed"] + struck["killed with the run"] < times:
                    struck[how := ground.strike_tidy(running, whole_s)] += 1
                    if how == "killed with the run":
                        break
                else:
                    wait_until(lambda: ground.taken_in(running), LONG_S, what="all of it taken in")
        with ground.tidying() as child:
            assert child.wait(LONG_S) == 0
        lake = run(ground.readers.session, ground.root, ground.lake)
        ground.readers.agree()
        (deleted,) = read_deleted_days(lake.view().read_entries())
        every = unique(row for each in ground.written for row in rows(each.written))
        counted(lake, [row for each in ground.written[1:] for row in rows(each.written)])
        rolled_up(lake, every)
        batches, reads = lake.view().batch, ground.readers.reads
    moments = ", ".join(f"{number} {what}" for what, number in sorted(struck.items()))
    return (
        f"tidy beside a run that goes on ({moments}): {batches} batches, {len(every):,} samples, none lost, none "
        f"twice, those before {deleted.before} removed; {reads:,} tables read by three readers alike"
    )


@dataclass
class _Ground:
    """Recordings, a lake, and the undisturbed duration of a start and a batch, in seconds."""

    folder: Path
    rng: random.Random
    readers: Readers
    start_at: float
    written: list[Watched] = field(default_factory=list)
    late: int = 0
    start_s: float = 0.0
    batch_s: float = 0.0

    @property
    def root(self) -> Path:
        return self.folder / "recordings"

    @property
    def lake(self) -> Path:
        return self.readers.place

    def record(self, late_s: float = 0.0) -> None:
        """Another recorder's 100 polls."""
        number = len(self.written)
        watched = Watched(self.root, "shop", f"{number:012x}")
        begin = self.start_at + number * 400 - late_s
        for path in watched.record(begin, 100, seed=number, trouble=range(10, 40)):
            os.utime(path, (time.time() - late_s,) * 2)
            polls = sum(line.kind == "figures" for line in open_segment(path).read_lines())
            self.readers.segments[path.relative_to(self.root).as_posix()] = polls * _QUEUES
        self.written.append(watched)
        self.late += bool(late_s)

    def undisturbed(self) -> None:
        """Run once undisturbed, to measure the moments of a run."""
        self.record()
        before = time.monotonic()
        with self.program("--once") as child:
            wait_until(lambda: newest(self.lake, "segments") > 0, LONG_S, what="a batch")
            self.start_s = time.monotonic() - before
            assert child.wait(LONG_S) == 0
        self.batch_s = time.monotonic() - before - self.start_s

    def strike(self, mode: str) -> str:
        """Start the program on a new segment and kill it at a random moment. Return the place, empty if it had ended
        before.

        Three in four kills come during or shortly after a new batch, because only a batch can lose data. The others
        come at the start or during a repeated batch. In continuous mode, half come in a later batch, on a segment that
        arrived meanwhile.
        """
        self.record(LATE_S if len(self.written) % 5 == 4 else 0.0)
        begun = newest(self.lake, "segments")
        with self.program(mode) as child:
            delay = self.rng.uniform(0, self.start_s + self.batch_s)
            if self.rng.random() < 0.75:
                wait_until(lambda: newest(self.lake, "segments") > begun, LONG_S, what="a batch")
                if mode == "--continuous" and self.rng.random() < 0.5:
                    wait_until(lambda: newest(self.lake, "samples") > begun, LONG_S, what="the end of a batch")
                    self.record()
                    wait_until(lambda: newest(self.lake, "segments") > begun + 1, LONG_S, what="a later batch")
                delay = self.rng.uniform(0, self.batch_s)
            if ended(child, delay):
                return ""
            kill(child)
            self.readers.agree()
        return "within a batch" if newest(self.lake, "segments") > newest(self.lake, "samples") else "outside"

    def java_killed(self) -> None:
        """Kill only its Java within a batch: qmon reports the failure."""
        self.record()
        begun = newest(self.lake, "segments")
        with self.program("--continuous") as child:
            wait_until(lambda: newest(self.lake, "segments") > begun, LONG_S, what="a batch")
            (java, *_) = [p for p in psutil.Process(child.pid).children(recursive=True) if p.name() == "java"]
            java.kill()
            assert child.wait(LONG_S) != 0
        self.readers.agree()

    def strike_tidy(self, running: Popen[bytes], whole_s: float) -> str:
        """Record a segment, tidy, and kill the tidy at a random moment, once in four together with the run."""
        self.record()
        before = self.tidied()
        with self.tidying() as child:
            if self.rng.random() < 0.8:
                wait_until(lambda: self.tidied() != before or child.poll() == 0, LONG_S, what="a first table tidied")
            over = ended(child, self.rng.uniform(0, whole_s))
            if both := not over and self.rng.random() < 0.25:
                kill(running)
            kill(child)
            assert both or running.poll() is None, "the run has ended"
        self.readers.agree()
        return "ended before" if over else "killed with the run" if both else "killed"

    def tidied(self) -> int:
        """Return the time of the checkpoint that ends the tidying of ``segments``, the first table, in ns; 0: never."""
        found = self.lake / "segments" / "_delta_log" / "_last_checkpoint"
        return found.stat().st_mtime_ns if found.exists() else 0

    def taken_in(self, running: Popen[bytes]) -> bool:
        """Return whether everything is ingested; the run goes on."""
        assert running.poll() is None, "the run has ended"
        table = DeltaTable(str(self.lake / "segments")).to_pyarrow_table(columns=["file"])
        claimed = set(table["file"].to_pylist())
        return self.readers.segments.keys() <= claimed and newest(self.lake, "samples") == newest(self.lake, "segments")

    @contextmanager
    def program(self, mode: str) -> Iterator[Popen[bytes]]:
        """``run``."""
        place = ("--recordings", str(self.root), "--lake", str(self.lake))
        with started(self.folder, "run", *place, mode) as child:
            yield child

    @contextmanager
    def tidying(self) -> Iterator[Popen[bytes]]:
        """``tidy``."""
        with started(self.folder, "tidy", "--lake", str(self.lake), "--keep-samples", _KEPT) as child:
            yield child


@contextmanager
def _ground(seed: int) -> Iterator[_Ground]:
    """Start with an empty lake and a Spark that reads it. Recordings begin two days ago at noon."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        session = start_session("local[2]", small(folder))
        try:
            begin = time.time() // DAY_S * DAY_S - 1.5 * DAY_S
            yield _Ground(folder, random.Random(seed), Readers(session, folder / "lake"), begin)
        finally:
            session.stop()
