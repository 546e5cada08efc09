"""Recorded data can be read; an interrupted recording is salvaged; sealed files do not change."""

from __future__ import annotations

import errno
import json
import os
import random
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from qmon.engines.base import Connection, Target
from qmon.engines.postgres.postgres_engine import Postgres
from qmon.errors import BadInput, ConnectionLost
from qmon.model.figure import Severity, Verdict
from qmon.model.operation_records import Operation
from qmon.model.snapshot import Snapshot
from qmon.monitor.source import Phase, SourceState
from qmon.operate.context import OperatorContext
from qmon.recording.read.recording_paths import (
    PathText,
    folder_name_for,
    list_segments,
    segment_start,
    target_from_folder,
)
from qmon.recording.read.segment_reader import open_segment
from qmon.recording.write import segment_writer
from qmon.recording.write.operations_watch import OperationsWatch
from qmon.recording.write.recorder import Recorder, RecorderText
from qmon.recording.write.recovery import salvage_segments
from qmon.recording.write.segment_writer import WriterText
from tests import needs
from tests.cli.calling import ROOT, surroundings
from tests.facts import wait_until
from tests.recording.killing import killed
from tests.recording.made import made
from tests.recording.writing import lines_of, sequences, snapshots, text_of, value
from tests.tui.scripted import queue, view
from tests.wordings import has, pattern

HOUR = 1_795_255_200.0


class Clock:
    """Seconds since the epoch, which a test sets."""

    def __init__(self, now: float = HOUR) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def recorded(root: Path, given: list[Snapshot], *, step_s: float = 2.0, **more: object) -> Recorder:
    """Return a closed recorder that was given these snapshots, one every ``step_s`` seconds."""
    clock = Clock()
    recorder = Recorder(root, "orders", interval_s=2.0, clock=clock, record_payloads=True, **more)  # type: ignore[arg-type]
    for snapshot in given:
        recorder.record_snapshot(snapshot, view())
        wait_until(lambda wanted=snapshot: recorder.status.snapshots == wanted.sequence)  # type: ignore[misc]
        clock.now += step_s
    recorder.close()
    return recorder


def test_everything_comes_back_in_order_from_segments_of_an_hour(tmp_path: Path) -> None:
    given = snapshots(40)
    recorder = recorded(tmp_path, given, step_s=200.0)  # a bit more than two hours
    assert recorder.status.stopped == ""
    found = list_segments(tmp_path)
    assert [path.name.startswith("_") for path in found] == [False] * 3
    assert [segment_start(path) for path in found] == [HOUR, HOUR + 3600, HOUR + 7200]
    back = []
    for path in found:
        one = open_segment(path)
        assert one.is_indexed and one.session is not None and one.session.target == "orders"
        assert len(one.frames) == sum(1 for line in one.read_lines() if line.kind == "snapshot")  # a frame each
        back += [line.decode_record() for line in one.read_lines() if line.kind == "snapshot"]
    assert back == given
    numbers = [json.loads(text)["n"] for path in found for text in text_of(path).splitlines()]
    assert numbers == list(range(1, len(numbers) + 1))
    assert {line.recorder for line in lines_of(tmp_path)} == {recorder.id}


def test_reading_begins_at_the_frame_that_is_asked_for(tmp_path: Path) -> None:
    recorded(tmp_path, snapshots(10), step_s=120.0)
    one = open_segment(list_segments(tmp_path)[0])
    first = next(line for line in one.read_lines(since_at=HOUR + 601) if line.kind == "snapshot")
    assert first.at == HOUR + 600


def test_payloads_and_passwords_are_not_recorded(tmp_path: Path) -> None:
    rng = random.Random(3)
    given = [replace(made(Snapshot, rng), sequence=n) for n in range(1, 30)]
    text = "ALTER ROLE a PASSWORD 'hunter2'"
    given = [
        replace(s, blocking=tuple(replace(b, statement=text) for b in s.blocking)) if s.blocking else s for s in given
    ]
    assert any(s.blocking for s in given)
    for field in ("payload", "error"):
        assert any(getattr(m, field) for s in given for q in s.queues for m in q.messages or ())
    clock = Clock()
    recorder = Recorder(tmp_path, "orders", interval_s=2.0, clock=clock)
    for snapshot in given:
        recorder.record_snapshot(snapshot, view())
    recorder.close()
    back = [
        line.decode_record()
        for p in list_segments(tmp_path)
        for line in open_segment(p).read_lines()
        if line.kind == "snapshot"
    ]
    assert len(back) == len(given)
    assert not any(m.payload or m.error for s in back for q in s.queues for m in q.messages or ())
    assert b"hunter2" not in text_of(list_segments(tmp_path)[0])
    assert any("PASSWORD" in b.statement for s in back for b in s.blocking or ())


def test_verdicts_operations_and_phases_are_in_the_stream(tmp_path: Path) -> None:
    clock, (given, *_) = Clock(), snapshots(1)
    recorder = Recorder(tmp_path, "orders", interval_s=2.0, clock=clock)
    stuck = queue("mails", verdict=Verdict("stuck in progress", "7 in progress", Severity.CRITICAL, HOUR - 60))
    fine = queue("mails")
    operation: Operation = made(Operation, random.Random(2))
    for each in (fine, stuck, stuck, fine):
        recorder.record_snapshot(given, replace(view(), queues=(each,)))
    recorder.record_state(SourceState("orders", Phase.LOST, "connection refused"))
    recorder.record_operation(operation)
    wait_until(lambda: recorder.status.snapshots == 4)
    clock.now += 3600  # a new segment repeats the current state
    recorder.record_snapshot(given, replace(view(), queues=(fine,)))
    recorder.close("SIGTERM")
    lines = lines_of(tmp_path)
    said = [
        (value(line)["holds"][0]["code"], value(line).get("repeated", False))
        for line in lines
        if line.kind == "verdict"
    ]
    assert said == [("healthy", False), ("stuck in progress", False), ("healthy", False), ("healthy", True)]
    assert [value(line) for line in lines if line.kind == "state"] == [
        {"phase": "lost", "reason": "connection refused"}
    ]
    assert [value(line)["id"] for line in lines if line.kind == "operation"] == [operation.id]
    assert [value(line) for line in lines if line.kind == "end"] == [{"reason": "SIGTERM"}]
    marks = open_segment(list_segments(tmp_path)[0]).marks
    assert [(mark.kind, mark.queue) for mark in marks] == [("verdict", "mails"), ("operation", operation.queue)]


@pytest.mark.parametrize(
    "name", ["orders-prod", "a/b", "..", "_x", "=", "請求書 🎉", 'x"; drop table x; --', "\ud800", "%41", "A" * 50]
)
def test_any_name_becomes_a_safe_folder_and_comes_back(tmp_path: Path, name: str) -> None:
    folder = tmp_path / f"target={folder_name_for(name)}"
    folder.mkdir()
    assert target_from_folder(folder.name) == name
    assert folder.parent == tmp_path and not folder_name_for(name).startswith((".", "_"))


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=pattern(PathText.BAD_NAME)):
        Recorder(tmp_path, "x" * 300, interval_s=2.0)


def test_an_open_segment_is_read_up_to_its_last_line_and_left_to_its_recorder(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path, "orders", interval_s=2.0, clock=Clock())
    for snapshot in snapshots(3):
        recorder.record_snapshot(snapshot, view())
    wait_until(lambda: recorder.status.snapshots == 3)
    assert sequences(tmp_path) == [1, 2, 3]
    assert salvage_segments(tmp_path) == []
    recorder.close()
    assert [path.name.startswith("_") for path in list_segments(tmp_path)] == [False]
    assert sequences(tmp_path) == [1, 2, 3]


@pytest.mark.parametrize("cut", [1, 5, 30, 200, 1000])
def test_whatever_is_cut_off_the_rest_is_salvaged(tmp_path: Path, cut: int) -> None:
    clock = Clock()
    recorder = Recorder(tmp_path, "orders", interval_s=2.0, clock=clock)
    for number, snapshot in enumerate(snapshots(9), 1):
        recorder.record_snapshot(snapshot, view())
        wait_until(lambda wanted=number: recorder.status.snapshots == wanted)  # type: ignore[misc]
        clock.now += 25.0
    path = list_segments(tmp_path)[0]
    data = path.read_bytes()
    recorder.close()
    (sealed,) = list_segments(tmp_path)
    sealed.unlink()
    path.write_bytes(data[:-cut])
    before = sequences(tmp_path)
    (done,) = salvage_segments(tmp_path)
    assert done.path == sealed
    one = open_segment(sealed)
    assert one.is_indexed and not path.exists()
    assert sequences(tmp_path) == before == list(range(1, len(before) + 1))
    assert len(before) >= 6  # the whole frames, at least
    assert done.lines == len(lines_of(tmp_path))
    numbers = [json.loads(text)["n"] for text in text_of(sealed).splitlines()]
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_next_recorder_logs_that_one_before_it_did_not_finish(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = Recorder(tmp_path, "orders", interval_s=2.0)
    before.record_snapshot(snapshots(1)[0], view())
    wait_until(lambda: before.status.snapshots == 1)
    (path,) = list_segments(tmp_path)
    data = path.read_bytes()
    before.close()
    list_segments(tmp_path)[0].unlink()
    path.write_bytes(data)
    with caplog.at_level("WARNING", "qmon.recording"):
        Recorder(tmp_path, "orders", interval_s=2.0).close()
    (record,) = caplog.records
    assert isinstance(record.args, tuple) and record.args[0] == path.with_name(path.name.removeprefix("_"))


def test_a_damaged_file_is_salvaged_up_to_the_damage_and_kept(tmp_path: Path) -> None:
    recorded(tmp_path, snapshots(9), step_s=120.0)
    (path,) = list_segments(tmp_path)
    frame, following = open_segment(path).frames[4:6]
    data = bytearray(path.read_bytes())
    data[frame.offset + 20 : frame.offset + 60] = bytes(40)
    path.unlink()
    path.with_name("_" + path.name).write_bytes(data[: following.offset + 300])
    (done,) = salvage_segments(tmp_path)
    assert done.path == path
    assert sequences(tmp_path)[:4] == [1, 2, 3, 4]
    assert len(list(path.parent.glob("_damaged-*"))) == 1
    assert salvage_segments(tmp_path) == []


def test_a_full_disk_stops_the_recording_and_costs_nothing_that_is_sealed(tmp_path: Path) -> None:
    recorded(tmp_path, snapshots(3))
    sealed = {path: path.read_bytes() for path in list_segments(tmp_path)}
    script = f"""
import resource, sys
from pathlib import Path
from tests.recording.writing import snapshots
from tests.tui.scripted import view
from tests.facts import wait_until
from qmon.recording.write.operations_watch import OperationsWatch
from qmon.recording.write.recorder import Recorder
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
recorder = Recorder(Path({str(tmp_path)!r}), "orders", interval_s=2.0)
resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000))
for number, snapshot in enumerate(snapshots(2000), 1):
    recorder.record_snapshot(snapshot, view())  # goes on as if nothing were
    wait_until(lambda: recorder.status.stopped or recorder.status.snapshots == number)
    if recorder.status.stopped:
        break
assert recorder.status.stopped
print(recorder.status.snapshots, recorder.close().stopped, sep="|")
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=surroundings(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    count, why = done.stdout.strip().split("|")
    assert has(why, WriterText.UNWRITABLE, problem=os.strerror(errno.EFBIG))
    assert {path: path.read_bytes() for path in sealed} == sealed
    salvage_segments(tmp_path)
    assert sequences(tmp_path) == [1, 2, 3, *range(1, int(count) + 1)]


def test_where_nothing_can_be_written_it_is_said_before_anything_begins(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match=pattern(RecorderText.OTHER_FOLDER)):
        Recorder(tmp_path / "file", "orders", interval_s=2.0)


def test_a_kill_costs_a_moment_and_damages_nothing(tmp_path: Path) -> None:
    rng, first = random.Random(11), 1
    for _ in range(5):
        found = killed(tmp_path, rng, first, most=20)
        assert found.missing_s <= 2.0
        first = found.saved + 1
    assert first > 1
    assert sorted(sequences(tmp_path)) == list(range(1, first))


@needs.posix
def test_the_limits_are_those_that_are_promised() -> None:
    import resource

    assert (segment_writer.FRAME_S, segment_writer.SEGMENT_BYTES) == (120.0, 16 * 2**20)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_where_operations_cannot_be_read_that_is_tried_again_after_a_while_and_at_the_end(tmp_path: Path) -> None:
    tried, again = threading.Event(), threading.Event()
    asked: list[str] = []

    def connect(purpose: str) -> Connection:
        asked.append(purpose)
        (again if tried.is_set() else tried).set()
        raise ConnectionLost("it went away")

    recorder = Recorder(tmp_path, "orders", interval_s=2.0)
    recorder.record_snapshot(snapshots(1)[0], view())
    context = OperatorContext(connect, Postgres(), Target("orders", "postgres", {}), "anna@app-7")
    watch = OperationsWatch(context, recorder.record_operation, lambda: True, every_s=600.0)
    assert tried.wait(60.0)
    assert not again.wait(0.2)
    watch.close()
    assert again.wait(120)
    recorder.close()
    assert asked == ["record", "record"]
