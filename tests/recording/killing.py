"""A recorder that is killed while it records, and the findings of the next start."""

from __future__ import annotations

import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from qmon.recording.read.recording_paths import list_segments
from qmon.recording.read.segment_reader import open_segment
from qmon.recording.write.recovery import salvage_segments
from tests.cli.calling import ROOT, surroundings
from tests.recording.writing import sequences


@dataclass(frozen=True, slots=True)
class Killed:
    """``handed``: the last snapshot given to the recorder. ``saved``: the last one that exists after salvage.

    ``missing_s``: seconds from the first missing snapshot to the last one, at their handover; 0: none is missing.
    """

    handed: int
    saved: int
    missing_s: float


def killed(root: Path, rng: random.Random, first: int, most: int = 60) -> Killed:
    """Kill a recorder at a random moment, and salvage. Sealed files must be unchanged, byte for byte."""
    before = {path: path.read_bytes() for path in list_segments(root, unsealed=False)}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.recording.writing", str(root), str(first)],
        cwd=ROOT,
        env=surroundings(),
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        said = [child.stdout.readline() for _ in range(rng.randint(1, most))]
        child.kill()
        said += child.stdout.readlines()
    times = dict(map(_said, (each for each in said if each.endswith("\n"))))
    salvage_segments(root)
    assert {path: path.read_bytes() for path in before} == before
    assert all(open_segment(path).is_indexed for path in list_segments(root))
    handed, saved = max(times), max(sequences(root), default=first - 1)
    return Killed(handed, saved, times[handed] - times[saved + 1] if saved < handed else 0.0)


def _said(line: str) -> tuple[int, float]:
    number, at = line.split()
    return int(number), float(at)
