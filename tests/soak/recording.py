"""The recorder killed at random moments, many times: no sealed file is damaged, and at most a moment is missing."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from tests.recording.killing import killed
from tests.recording.writing import sequences


def recorder_killed(times: int) -> str:
    """Kill it this number of times. Return a line with the longest loss. Raises ``AssertionError``."""
    rng, first, worst = random.Random(7), 1, 0.0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for _ in range(times):
            found = killed(root, rng, first)
            assert found.missing_s <= 2.0, found
            worst, first = max(worst, found.missing_s), found.saved + 1
        assert sorted(sequences(root)) == list(range(1, first))
    return f"the recorder killed {times} times: {first - 1} snapshots whole, at most {worst * 1000:.0f} ms missing"
