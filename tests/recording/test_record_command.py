"""``qmon record`` as users run it: a separate program on a real server, ended by a signal, or killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from qmon.cli.commands.doctor.doctor import DoctorText, lake_lines
from qmon.cli.commands.record import RecordingText, waiting_text, watch_recordings
from qmon.cli.target_session import SessionText
from qmon.config.chosen_target import TargetText
from qmon.metrics.lake_readings import LakeReadings
from qmon.recording.read.recording_paths import list_segments, recorded_targets
from qmon.recording.read.segment_reader import open_segment
from qmon.recording.write.headless_target import HeadlessTarget
from qmon.recording.write.recorder import RecorderText
from qmon.recording.write.retention import (
    SizeText,
    apply_retention,
    lake_mark_name,
    lake_mark_text,
    parse_size,
    unread_bytes,
)
from tests.cli.calling import call, recording, surroundings
from tests.contract.watching import installed, target_of
from tests.facts import query, wait_until
from tests.recording.writing import lines_of, sequences, text_of, value
from tests.schemas import valid
from tests.wordings import has

CONFIG = """
[target.shop]
connect = "{url}"
[target.gone]
connect = "postgresql://nobody@127.0.0.1:1/nothing"
"""


def configured(tmp_path: Path, url: str) -> str:
    """Return a configuration with a reachable target and an unreachable one."""
    path = tmp_path / "qmon.toml"
    path.write_text(CONFIG.format(url=url))
    return str(path)


@pytest.mark.server
def test_what_is_recorded_is_sealed_where_watching_it_fails(tmp_path: Path) -> None:
    running = HeadlessTarget(target_of("postgresql://nobody@127.0.0.1:1/nothing"), (), tmp_path, interval_s=1.0)

    def full() -> None:
        raise OSError("the disk is broken")

    with pytest.raises(OSError, match="the disk is broken"):
        watch_recordings([running], threading.Event(), None, full)
    (end,) = [value(line) for line in lines_of(tmp_path) if line.kind == "end"]
    assert end["reason"] == RecordingText.QMON_FAILED
    assert not any(path.name.startswith("_") for path in list_segments(tmp_path))


def test_targets_are_recorded_apart_and_sealed_by_sigterm(tmp_path: Path, database: str) -> None:
    installed(database, "status", "ring")
    folder, config = tmp_path / "kept", configured(tmp_path, database)
    with recording(folder, "shop", "gone", "--every", "500ms", "--config", config) as child:
        wait_until(lambda: folder.exists() and len(sequences(folder)) >= 3, what="three snapshots")
        wait_until(lambda: "lost" in [value(line)["phase"] for line in lines_of(folder) if line.kind == "state"])
        child.send_signal(signal.SIGTERM)
        _, said = child.communicate(timeout=90)
    assert child.returncode == 0, said
    assert has(said, RecordingText.SEALED, target="shop")
    assert not any(path.name.startswith("_") for path in list_segments(folder))
    assert [name for name, _ in recorded_targets(folder)] == ["gone", "shop"]
    found = {name: lines_of(below) for name, below in recorded_targets(folder)}
    assert [value(line)["phase"] for line in found["gone"] if line.kind == "state"][:2] == ["connecting", "lost"]
    snapshots = [line for line in found["shop"] if line.kind == "snapshot"]
    assert [value(line)["sequence"] for line in snapshots] == list(range(1, len(snapshots) + 1))
    assert {q["layout"]["queue"] for line in snapshots for q in value(line)["queues"]} == {"status", "ring"}
    assert [value(line) for lines in found.values() for line in lines if line.kind == "end"] == [
        {"reason": "SIGTERM"}
    ] * 2


def test_only_the_named_queues_are_recorded(tmp_path: Path, database: str) -> None:
    installed(database, "status", "ring")
    with recording(tmp_path, database, "--every", "500ms", "--queue", "ring", "-q", "no such") as child:
        wait_until(lambda: len(sequences(tmp_path)) >= 3, what="three snapshots")
        child.send_signal(signal.SIGTERM)
        _, said = child.communicate(timeout=90)
    assert child.returncode == 0, said
    assert said.rstrip().endswith(f"; {RecordingText.NO_QUEUE.render(queues='no such')}")
    assert has(said, RecordingText.SEALED)
    lines = lines_of(tmp_path)
    polls = [value(line) for line in lines if line.kind == "snapshot"]
    assert {samples["layout"]["queue"] for poll in polls for samples in poll["queues"]} == {"ring"}
    assert {name for line in lines if line.kind == "figures" for name in value(line)["queue"]} <= {"ring"}


# Threads switch so frequently that the first actions of two of them overlap.
_HURRIED = "import sys; sys.setswitchinterval(1e-6); from qmon.cli.app import main; main()"


def test_sixteen_targets_are_recorded_at_once(tmp_path: Path, database: str) -> None:
    installed(database, "status", "ring")
    names = [f"shop-{number:02}" for number in range(16)]
    config = tmp_path / "qmon.toml"
    config.write_text("".join(f'[target.{name}]\nconnect = "{database}"\n' for name in names))
    folder = tmp_path / "kept"
    arguments = ("record", "--all", "--every", "500ms", "--config", str(config), "--to", str(folder))
    with subprocess.Popen(
        [sys.executable, "-c", _HURRIED, *arguments], env=surroundings(), stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            wait_until(
                lambda: (
                    folder.exists() and [name for name, below in recorded_targets(folder) if sequences(below)] == names
                ),
                90.0,
                what="a snapshot of each target",
            )
            child.send_signal(signal.SIGTERM)
            _, said = child.communicate(timeout=90)
        finally:
            child.kill()
    assert child.returncode == 0, said
    found = {name: lines_of(below) for name, below in recorded_targets(folder)}
    assert {name: value(lines[-1])["reason"] for name, lines in found.items()} == dict.fromkeys(names, "SIGTERM")


def test_what_a_kill_leaves_open_is_sealed_by_the_next_start(tmp_path: Path, database: str) -> None:
    installed(database, "status")
    with recording(tmp_path, database, "--every", "500ms") as child:
        wait_until(lambda: len(sequences(tmp_path)) >= 2)
        seen = sequences(tmp_path)
        child.kill()
    left = list_segments(tmp_path)[-1]
    assert left.name.startswith("_")
    with recording(tmp_path, database, "--every", "500ms", "--for", "1s") as child:
        child.communicate(timeout=90)
    assert child.returncode == 0
    assert not left.exists() and open_segment(left.with_name(left.name[1:])).is_indexed
    assert sequences(tmp_path)[: len(seen)] == seen
    assert len({line.recorder for line in lines_of(tmp_path)}) == 2


def test_operations_are_in_the_stream(tmp_path: Path, database: str) -> None:
    (layout,) = installed(database, "status")
    query(database, f"INSERT INTO {layout.table} ({layout.payload}) SELECT 'x' FROM generate_series(1, 3)")
    with recording(tmp_path, database, "--every", "500ms") as child:
        wait_until(lambda: len(sequences(tmp_path)) >= 1)
        done = call("purge", database, "status", "--state", "ready", "--yes", "--reason", "a test")
        assert done.exit_code == 0, done.output
        wait_until(lambda: any(line.kind == "operation" for line in lines_of(tmp_path)), what="the operation")
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=90)
    assert child.returncode == 0
    operation = next(value(line) for line in reversed(lines_of(tmp_path)) if line.kind == "operation")
    assert (operation["kind"], operation["state"], operation["done"]) == ("purge", "done", 3)
    marks = [mark for path in list_segments(tmp_path) for mark in open_segment(path).marks]
    assert "operation" in {mark.kind for mark in marks}
    written = b"".join(map(text_of, list_segments(tmp_path))).decode().splitlines()
    assert {valid(line, "recording")["k"] for line in written} >= {"snapshot", "operation", "end"}


def test_bad_input_is_said_before_anything_begins(tmp_path: Path) -> None:
    url = "postgresql://nobody@127.0.0.1:1/x"
    for arguments, text in (
        ((url, "--every", "100ms"), SessionText.EVERY),
        ((url, url), SessionText.NAMED_TWICE),
        ((url, "--max-size", "many"), SizeText.NOT_A_SIZE),
        (("no-such-target",), TargetText.UNKNOWN),
    ):
        done = call("record", *arguments, "--to", str(tmp_path / "kept"))
        assert done.exit_code == 2, done.output
        assert has(done.output, text)
    (tmp_path / "file").write_text("")
    assert call("record", url, "--to", str(tmp_path / "file")).exit_code == 2


@pytest.mark.server
def test_where_one_target_cannot_be_recorded_what_has_begun_is_sealed(tmp_path: Path) -> None:
    config, folder = configured(tmp_path, "postgresql://nobody@127.0.0.1:1/x"), tmp_path / "kept"
    folder.mkdir()
    (folder / "target=gone").write_text("in the way")
    for command in (
        ("record", "shop", "gone", "--to"),
        ("serve", "shop", "gone", "--listen", "127.0.0.1:0", "--record"),
    ):
        done = call(*command, str(folder), "--config", config)
        assert (done.exit_code, has(done.stderr, RecorderText.OTHER_FOLDER)) == (2, True), done.output
    sealed = list_segments(folder)
    assert len(sealed) == 2 and not any(path.name.startswith("_") for path in sealed)
    assert [value(line) for line in lines_of(folder / "target=shop") if line.kind == "end"] == [
        {"reason": RecordingText.OTHER_TARGET_FAILED}
    ] * 2


def test_the_oldest_goes_first_and_waits_for_every_lake(tmp_path: Path) -> None:
    folder = tmp_path / "target=a" / "date=2026-11-21"
    folder.mkdir(parents=True)
    names = [f"20261121T{hour:02}0000Z-0123456789ab-0001.jsonl.zst" for hour in range(5)]
    for name in names:
        (folder / name).write_bytes(bytes(100))
    (folder / f"_{names[0][:9]}050000Z-0123456789ab-0006.jsonl.zst").write_bytes(bytes(100))
    midnight = 1_795_219_200.0
    kept = apply_retention(tmp_path, keep_s=3 * 3600.0, max_bytes=None, now=midnight + 5 * 3600)
    assert (kept.removed, kept.bytes, kept.waiting) == (1, 500, 0)
    kept = apply_retention(tmp_path, keep_s=None, max_bytes=350, now=midnight)
    assert (kept.removed, kept.bytes) == (2, 300)
    done = [f"target=a/date=2026-11-21/{name}" for name in names]
    (tmp_path / lake_mark_name("aa")).write_text(lake_mark_text("/lake/a", midnight, done))
    (tmp_path / lake_mark_name("bb")).write_text(lake_mark_text("/lake/b", midnight - 86_400, done[4:]))
    late = midnight + 30 * 86_400
    kept = apply_retention(tmp_path, keep_s=86_400.0, max_bytes=None, now=late)
    assert (kept.removed, kept.bytes, kept.waiting, kept.unread) == (1, 200, 1, 0)
    told = waiting_text(kept, midnight)
    assert has(told, RecordingText.WAITING, segments="1 old segment")
    since = RecordingText.LAST_BATCH.render(age="1 d 00 h")
    assert has(told, RecordingText.LAKE, lake="/lake/b", since=since, file=tmp_path / lake_mark_name("bb"))
    assert "/lake/a" not in told
    ages = {labels: value for _, labels, value in LakeReadings(tmp_path, lambda: midnight + 60).current_readings()}
    assert ages == {("/lake/a",): 60.0, ("/lake/b",): 86_460.0}
    fresh, late_lake = lake_lines(tmp_path, midnight + 60)
    assert "/lake/a" in fresh and "/lake/b" in late_lake
    assert str(tmp_path / lake_mark_name("bb")) in late_lake and str(tmp_path / lake_mark_name("aa")) not in fresh
    (tmp_path / lake_mark_name("bb")).write_text("damaged")
    assert lake_mark_name("bb") in lake_lines(tmp_path, midnight)[1]
    kept = apply_retention(tmp_path, keep_s=86_400.0, max_bytes=None, now=late)
    assert has(waiting_text(kept, midnight), RecordingText.LAKE, lake=RecordingText.DAMAGED_LAKE, since="")
    assert [labels for _, labels, _ in LakeReadings(tmp_path).current_readings()] == [("/lake/a",)]
    assert unread_bytes(tmp_path) == 100
    assert [path.name for path in list_segments(tmp_path, unsealed=False)] == [names[3]]
    kept = apply_retention(tmp_path, keep_s=None, max_bytes=100, now=midnight)  # the maximum size wins over the mark
    assert (kept.removed, kept.unread, kept.bytes, kept.waiting) == (1, 1, 100, 0)
    assert [mark.file.name for mark in kept.lakes] == [lake_mark_name("bb")]
    assert has(waiting_text(kept, midnight), RecordingText.DELETED_UNREAD, segments="1 segment")


def test_the_maximum_size_takes_what_every_lake_has_read_first(tmp_path: Path) -> None:
    folder = tmp_path / "target=a" / "date=2026-11-21"
    folder.mkdir(parents=True)
    names = [f"20261121T{hour:02}0000Z-0123456789ab-0001.jsonl.zst" for hour in range(4)]
    for name in names:
        (folder / name).write_bytes(bytes(100))
    done = [f"target=a/date=2026-11-21/{name}" for name in names[2:]]
    (tmp_path / lake_mark_name("aa")).write_text(lake_mark_text("/lake/a", 0.0, done))
    kept = apply_retention(tmp_path, keep_s=None, max_bytes=200, now=0.0)
    assert (kept.removed, kept.unread, kept.bytes) == (2, 0, 200)
    assert [path.name for path in list_segments(tmp_path)] == names[:2]
    kept = apply_retention(tmp_path, keep_s=None, max_bytes=150, now=0.0)
    assert (kept.removed, kept.unread, kept.bytes, kept.waiting) == (1, 1, 100, 0)
    assert [path.name for path in list_segments(tmp_path)] == [names[1]]


def test_sizes_are_read_with_their_units() -> None:
    assert (parse_size("5GB"), parse_size("1.5 MiB"), parse_size("12")) == (5 * 10**9, 3 * 2**19, 12)


def test_the_doctor_prints_when_lakes_read_the_recordings(tmp_path: Path, database: str) -> None:
    (tmp_path / lake_mark_name("aa")).write_text(lake_mark_text("/lake/a", 0.0, ()))
    empty = tmp_path / "empty"
    for folder, wanted in (
        (tmp_path, str(tmp_path / lake_mark_name("aa"))),
        (empty, DoctorText.NO_LAKE.render(recordings=empty)),
    ):
        done = call("doctor", database, "--recordings", str(folder))
        assert done.exit_code == 0, done.output
        assert wanted in done.stdout
