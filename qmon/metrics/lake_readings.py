"""The age of the last batch of each lake that reads the recordings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from qmon.metrics.metric_list import LAKE_AGE, Metric
from qmon.recording.write.retention import LakeMark, read_lake_marks, stat_lake_marks


class LakeReadings:
    """Reads the marker files of lakes in a folder of recordings. A file that has not changed is not read again."""

    def __init__(self, root: Path, clock: Callable[[], float] = time.time) -> None:
        self._root, self._clock = root, clock
        self._stamps: frozenset[tuple[str, int, int]] = frozenset()
        self._marks: list[LakeMark] = []

    def current_readings(self) -> Iterator[tuple[Metric, tuple[str, ...], float]]:
        """Yield the age of each lake's last batch, seconds. A lake whose marker file is damaged is left out."""
        stamps = frozenset((path.name, stat.st_mtime_ns, stat.st_size) for path, stat in stat_lake_marks(self._root))
        if stamps != self._stamps:
            self._stamps, self._marks = stamps, read_lake_marks(self._root)
        for mark in self._marks:
            if mark.at is not None:
                yield LAKE_AGE, (mark.lake,), max(0.0, self._clock() - mark.at)
