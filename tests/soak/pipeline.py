"""The pipeline killed with SIGKILL at random moments, once and for ever, while segments come in: counted at the end."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil
from deltalake import DeltaTable

from qmon.pipeline.lake.delta import APP
from qmon.pipeline.lake.schema import BATCH
from qmon.pipeline.session import start
from tests.cli.calling import ROOT, program, surroundings
from tests.facts import wait_until
from tests.pipeline.comparing import compared, run
from tests.pipeline.conftest import small
from tests.pipeline.readers import counted
from tests.pipeline.recordings import Watched, rows

START: Final = 1_792_885_200.0
LATE_S: Final = 21 * 86400.0
MODES: Final = ("--once", "--continuous")
_QUICK: Final = "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_LONG_S: Final = 240.0


def killed(times: int) -> str:
    """So many kills of ``--once`` and of ``--continuous`` each; afterwards the lake equals plain Python."""
    with tempfile.TemporaryDirectory() as folder:
        ground = _Ground(Path(folder), random.Random(times))
        ground.undisturbed()
        struck: Counter[str] = Counter()
        for mode in MODES:
            done = 0
            while done < times:
                if where := ground.strike(mode):
                    struck[where] += 1
                    done += 1
        session = start("local[2]", small(Path(folder)))
        lake = run(session, ground.root, ground.lake)
        compared(lake, [row for each in ground.written for row in rows(each.written)])
        counts = lake.view().counts()
        session.stop()
    assert struck["within a batch"], struck
    moments = ", ".join(f"{number} {where}" for where, number in sorted(struck.items()))
    return (
        f"the pipeline killed {times} times with --once and as often with --continuous ({moments}): "
        f"{counts['samples']:,} samples of {len(ground.written)} recorders, {ground.late} of them three weeks late: "
        "none lost, none twice"
    )


@dataclass
class _Ground:
    """Recordings, a lake, and how long a start and a batch took when nothing disturbed them, in seconds."""

    folder: Path
    rng: random.Random
    written: list[Watched] = field(default_factory=list)
    late: int = 0
    start_s: float = 0.0
    batch_s: float = 0.0

    @property
    def root(self) -> Path:
        return self.folder / "recordings"

    @property
    def lake(self) -> Path:
        return self.folder / "lake"

    def undisturbed(self) -> None:
        """One whole run, to know which moments there are."""
        self._record()
        before = time.monotonic()
        with self._program("--once") as child:
            wait_until(lambda: self._newest("segments") > 0, _LONG_S, what="a batch")
            self.start_s = time.monotonic() - before
            assert child.wait(_LONG_S) == 0
        self.batch_s = time.monotonic() - before - self.start_s

    def strike(self, mode: str) -> str:
        """Start it on something new, and kill it at a random moment; where that was, nothing if it had ended before.

        Three in four within a new batch, as that is where there is something to lose, or shortly after it; the others
        while it starts or does a batch again. For ever, half in a later batch, on a segment that came meanwhile.
        """
        self._record()
        begun = self._newest("segments")
        with self._program(mode) as child, self._quoting():
            delay = self.rng.uniform(0, self.start_s + self.batch_s)
            if self.rng.random() < 0.75:
                wait_until(lambda: self._newest("segments") > begun, _LONG_S, what="a batch")
                if mode == "--continuous" and self.rng.random() < 0.5:
                    wait_until(lambda: self._newest("samples") > begun, _LONG_S, what="the end of a batch")
                    self._record()
                    wait_until(lambda: self._newest("segments") > begun + 1, _LONG_S, what="a later batch")
                delay = self.rng.uniform(0, self.batch_s)
            with contextlib.suppress(subprocess.TimeoutExpired):
                assert child.wait(delay) == 0
                return ""
            self._kill(child)
            self._read()
        return "within a batch" if self._newest("segments") > self._newest("samples") else "outside"

    def _read(self) -> None:
        """Three readers that know nothing of qmon find the same of each table, whatever was cut short."""
        for name in BATCH:
            found = counted(self.lake, name)
            assert len(set(found.values())) == 1, (name, found)

    def _kill(self, child: subprocess.Popen[bytes]) -> None:
        """All its processes, qmon alone, or its Java alone, of which qmon must then say that it failed."""
        whom = self.rng.randrange(3)
        java = [each for each in psutil.Process(child.pid).children(recursive=True) if each.name() == "java"]
        if whom == 0:
            os.killpg(child.pid, signal.SIGKILL)
        elif whom == 1 or not java:
            child.kill()
        else:
            java[0].kill()
            assert child.wait(_LONG_S) != 0

    def _record(self) -> None:
        """Another recorder's 100 polls; every fifth is three weeks late."""
        number = len(self.written)
        late = LATE_S if number % 5 == 4 else 0.0
        watched = Watched(self.root, "shop", f"{number:012x}")
        for path in watched.record(START + number * 400 - late, 100, seed=number, trouble=range(10, 40)):
            os.utime(path, (time.time() - late,) * 2)
        self.written.append(watched)
        self.late += bool(late)

    @contextlib.contextmanager
    def _quoting(self) -> Iterator[None]:
        """What fails within is told with the last that the program has said."""
        try:
            yield
        except AssertionError as problem:
            raise AssertionError((self.folder / "said.txt").read_text("utf-8", "replace")[-2000:]) from problem

    def _newest(self, table: str) -> int:
        """The batch that is begun last (of ``segments``) or done last (of ``samples``); 0: none."""
        path = str(self.lake / table)
        return (DeltaTable(path).transaction_version(APP) or 0) if DeltaTable.is_deltatable(path) else 0

    @contextlib.contextmanager
    def _program(self, mode: str) -> Iterator[subprocess.Popen[bytes]]:
        """It, until the end with nothing of it left."""
        command = program("pipeline", "run", "--recordings", str(self.root), "--lake", str(self.lake), mode)
        with (self.folder / "said.txt").open("ab") as said:
            child = subprocess.Popen(
                [*command, "--every", "1s", "--conf", "spark.sql.shuffle.partitions=2", "--conf", _QUICK], cwd=ROOT,
                env=surroundings(), start_new_session=True, stdout=said, stderr=said,
            )  # fmt: skip
        try:
            yield child
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
