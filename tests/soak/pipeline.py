"""The pipeline killed with SIGKILL at random moments, once and for ever, while segments come in: counted at the end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from qmon.pipeline.lake import Lake
from qmon.pipeline.session import start
from tests.cli.calling import ROOT, program, surroundings
from tests.pipeline.comparing import compared, run
from tests.pipeline.conftest import small
from tests.pipeline.recordings import Watched, rows

START = 1_792_885_200.0
LATE_S = 21 * 86400.0


def killed(times: int) -> str:
    """So many kills of ``--once`` and of ``--continuous`` each; afterwards the lake equals plain Python."""
    rng = random.Random(times)
    with tempfile.TemporaryDirectory() as folder:
        root, lake = Path(folder) / "recordings", Path(folder) / "lake"
        written: list[Watched] = []
        for number in range(2 * times):
            watched = Watched(root, "shop", f"{number:012x}")
            late = LATE_S if number % 5 == 4 else 0.0
            for path in watched.record(START + number * 400 - late, 100, seed=number, trouble=range(10, 40)):
                os.utime(path, (time.time() - late,) * 2)
            written.append(watched)
            mode = "--once" if number < times else "--continuous"
            _kill(root, lake, mode, rng)
        session = start("local[2]", small(Path(folder)))
        found: Lake = run(session, root, lake)
        compared(found, [row for each in written for row in rows(each.written)])
        counts = found.manifest().counts
        session.stop()
    return f"the pipeline killed {2 * times} times: {counts['samples']:,} samples, none lost, none twice"


def _kill(root: Path, lake: Path, mode: str, rng: random.Random) -> None:
    """Start it, and kill it, with all its processes or alone, after 4 to 30 seconds if it has not ended by then."""
    command = program("pipeline", "run", "--recordings", str(root), "--lake", str(lake), mode, "--every", "1s")
    child = subprocess.Popen(
        [*command, "--conf", "spark.sql.shuffle.partitions=2"], cwd=ROOT, env=surroundings(), start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        child.wait(rng.uniform(4, 30))
    except subprocess.TimeoutExpired:
        if rng.random() < 0.5:
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
        child.wait()
