"""The recorder writes the figures of each sealed segment to files next to it, and retention removes these files."""

from __future__ import annotations

import importlib.util
import logging
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from qmon.recording.figure_rows.rows_file import read_rows
from qmon.recording.read.recording_paths import figures_path, list_segments, paths_next_to, rows_path
from qmon.recording.write.recorder import Recorder, write_rows_if_possible
from qmon.recording.write.retention import apply_retention
from tests.facts import wait_until
from tests.recording.writing import snapshots
from tests.tui.scripted import view

HOUR = 1_795_255_200.0


def recorded(root: Path) -> list[Path]:
    """Record 20 polls over an hour border. Return the sealed segments."""
    now = [HOUR + 3580.0]
    recorder = Recorder(root, "orders", interval_s=2.0, rows_files=True, clock=lambda: now[0])
    for snapshot in snapshots(20):
        recorder.record_snapshot(snapshot, replace(view(), sampled_at=now[0]))
        wait_until(lambda wanted=snapshot: recorder.status.snapshots == wanted.sequence)  # type: ignore[misc]
        now[0] += 2.0
    assert recorder.close().stopped == ""
    return list_segments(root)


def test_each_sealed_segment_has_its_rows(tmp_path: Path) -> None:
    segments, polls = recorded(tmp_path), 0
    assert len(segments) == 2
    for path in segments:
        rows = read_rows(path, path.stat().st_size, str(path))
        assert rows is not None
        polls += rows["poll"].num_rows
        assert {name for table in rows.values() for name in table["target"].to_pylist()} == {"orders"}
    assert polls == 20
    assert {path.name for path in segments[0].parent.iterdir()} == {
        each.name for path in segments for each in (path, *paths_next_to(path))
    }


def test_retention_counts_and_removes_them(tmp_path: Path) -> None:
    old, new = recorded(tmp_path)
    size = sum(each.stat().st_size for each in (new, *paths_next_to(new)))
    kept = apply_retention(tmp_path, keep_s=None, max_bytes=size, now=HOUR)
    assert (kept.bytes, kept.removed) == (size, 1)
    assert not any(each.exists() for each in (old, *paths_next_to(old)))
    assert all(each.exists() for each in (new, *paths_next_to(new)))


def test_without_pyarrow_there_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec

    def without_pyarrow(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "pyarrow" else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without_pyarrow)
    segments = recorded(tmp_path)
    assert [rows_path(path).exists() for path in segments] == [False, False]
    assert [figures_path(path).exists() for path in segments] == [True, True]


def test_a_file_that_cannot_be_written_does_not_stop_the_recorder(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    segment, *_ = recorded(tmp_path)
    rows_path(segment).unlink()
    rows_path(segment).mkdir()
    with caplog.at_level(logging.WARNING):
        write_rows_if_possible(segment)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert rows_path(segment).is_dir()
