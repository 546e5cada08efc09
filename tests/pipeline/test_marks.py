"""Several lakes of the same recordings: retention waits for each lake."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from qmon.errors import QmonError
from qmon.pipeline.ingest.segment_intake import SegmentIntake
from qmon.pipeline.lake.lake import Lake
from qmon.recording.write.retention import RetentionResult, apply_retention, read_lake_marks
from tests.pipeline.comparing import START, run
from tests.pipeline.recordings import Watched

pytestmark = pytest.mark.timeout(1200)


def keep_nothing(root: Path) -> RetentionResult:
    return apply_retention(root, keep_s=0.0, max_bytes=None, now=time.time())


def test_a_second_lake_keeps_what_it_has_not_read(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "recordings"
    Watched(root, "shop", "aaaaaaaaaaaa").record(START, 20)
    run(spark, root, tmp_path / "first")

    def fail(*_: object) -> None:
        raise QmonError("no room")

    with monkeypatch.context() as patch, pytest.raises(QmonError, match="no room"):
        patch.setattr("qmon.pipeline.ingest.segment_intake.ingest_batch", fail)
        run(spark, root, tmp_path / "second")
    kept = keep_nothing(root)
    assert (kept.removed, kept.waiting) == (0, 1)
    assert [Path(mark.lake).name for mark in kept.lakes] == ["second"]

    shutil.copytree(tmp_path / "first", tmp_path / "copy")
    assert SegmentIntake(Lake(spark, str(tmp_path / "copy")), str(root)).run_batch() is None
    marks = {Path(mark.lake).name: len(mark.done) for mark in read_lake_marks(root)}
    assert marks == {"first": 1, "copy": 1, "second": 0}

    next(mark.file for mark in read_lake_marks(root) if mark.lake.endswith("/second")).unlink()  # that lake was deleted
    assert keep_nothing(root).removed == 1
