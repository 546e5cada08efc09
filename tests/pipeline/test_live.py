"""A real run with faults: Spark's figures for its recording equal the dashboard's figures for the same samples."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from qmon.monitor.state.target_history import TargetHistory
from qmon.recording.format.codec import encode
from qmon.recording.format.poll_figures import figures_from_view
from qmon.recording.read.recording_paths import list_segments
from qmon.recording.read.segment_reader import open_segment
from tests.cli.calling import recording
from tests.contract.watching import installed
from tests.facts import query, wait_until
from tests.pipeline.comparing import compared, run
from tests.pipeline.recordings import rows
from tests.recording.writing import sequences, settled

pytestmark = pytest.mark.timeout(1200)
_POLLS = 3


def test_the_figures_are_those_of_the_dashboard(spark: SparkSession, tmp_path: Path, database: str) -> None:
    """Messages arrive, the counters are reset, the recorder is killed, and another recorder seals its segment."""
    (layout, _) = installed(database, "status", "ring")
    root = tmp_path / "recordings"
    with recording(root, database, "--every", "500ms") as child:
        polls(root, _POLLS)
        push(database, str(layout.table), str(layout.payload))
        seen(root, 10)
        query(database, "SELECT pg_stat_reset()")
        polls(root, _POLLS)
        child.kill()
    with recording(root, database, "--every", "500ms") as child:
        polls(root, _POLLS)
        push(database, str(layout.table), str(layout.payload))
        seen(root, 20)
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=120)
    said, told = folded(root)
    assert told == said
    assert len({each["r"] for each in said}) == 2
    assert pushed(said) == 20
    assert any(value is None for each in said for value in each.get("span_s", [None]))
    compared(run(spark, root, tmp_path / "lake"), list(rows(said)))


def polls(root: Path, more: int) -> None:
    """Wait for this number of further snapshots."""
    before = len(sequences(root)) if root.exists() else 0
    wait_until(lambda: root.exists() and len(sequences(root)) >= before + more, 60, what="more snapshots")


def seen(root: Path, messages: int) -> None:
    """Wait until this number of pushes is in the recording. A busy observer may read their counters late."""
    wait_until(
        lambda: pushed(settled(lambda: folded(root))[1]) >= messages, 60, what=f"{messages} pushed messages recorded"
    )


def pushed(figures: list[dict[str, Any]]) -> int:
    """Return the number of pushed messages according to the figures."""
    return sum(value for each in figures for value in each.get("pushed", []) if value)


def push(url: str, table: str, payload: str) -> None:
    """Push ten messages."""
    query(url, f"INSERT INTO {table} ({payload}) SELECT 'x' FROM generate_series(1, 10)")


def folded(root: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the history's figures for every recorded snapshot, and the recorded figures, as plain values."""
    said, told = [], []
    history: dict[str, TargetHistory] = {}
    for path in list_segments(root):
        segment = open_segment(path)
        assert segment.session is not None
        place = {"target": segment.session.target, "zone": segment.session.zone}
        for line in segment.read_lines():
            if line.kind == "snapshot":
                view = history.setdefault(line.recorder, TargetHistory()).record_snapshot(line.decode_record())
                said.append({"r": line.recorder, **place, **json.loads(encode(figures_from_view(view)))})
            elif line.kind == "figures":
                said[-1]["n"] = line.number
                told.append({"r": line.recorder, "n": line.number, **place, **json.loads(line.value)})
    return said, told
