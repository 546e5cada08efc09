"""Recordings written or changed by another program: blanks, orders and escapes, bombs, and impossible numbers."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from qmon.errors import BadInput, QmonError
from qmon.model.figure import Severity, Verdict
from qmon.model.operation_records import Operation
from qmon.model.snapshot import Snapshot
from qmon.recording.figure_rows.segment_lines import SegmentLine, parse_segment
from qmon.recording.format import frames
from qmon.recording.format.codec import CodecText, decode, encode
from qmon.recording.format.frames import Damaged, FrameText, FrameWriter, inflate_frame, line_kind, locator_bytes
from qmon.recording.format.poll_figures import Figures
from qmon.recording.format.records import (
    KIND_BY_TYPE,
    Frame,
    IndexLine,
    Line,
    PhaseChange,
    RecordText,
    SessionLine,
    VerdictsLine,
    encode_line,
    parse_line,
)
from qmon.recording.history.buckets import Bins
from qmon.recording.history.collected_range import FIGURES, CollectedRange
from qmon.recording.history.range_query import gather_segment
from qmon.recording.history.recording_archive import archive_from_reader
from qmon.recording.history.timeline_query import read_segment_events
from qmon.recording.read.recording_reader import ReaderText, open_recording
from qmon.recording.read.segment_reader import open_segment
from qmon.recording.segment_export import export_range
from qmon.recording.write.recovery import salvage_segments
from tests.cli.calling import call
from tests.recording.made import made
from tests.recording.writing import snapshots
from tests.wordings import has, pattern

BEGAN = 1_780_000_000.0
SEED = 1  # snapshots that a replay can fold: not every seed gives such
NAME = "20260528T202640Z-4f2a9c01be77-0001.jsonl.zst"


def records(frame: int) -> list[object]:
    """Return the content of one frame of the recording."""
    operation = replace(made(Operation, random.Random(frame)), queue="orders")
    held = Verdict("no pops", f"proof of {frame}", Severity.CRITICAL, since_at=BEGAN + frame)
    first: list[object] = [SessionLine("shop", "postgres", "18", "0.1", "UTC", 2.0, BEGAN)] if frame == 0 else []
    figures = Figures(frame, BEGAN + 10 * frame, queue=("orders",), ready=(float(frame),), span_s=(2.0,), pushed=(4.0,))
    return [
        *first,
        PhaseChange("live"),
        snapshots(frame + 1, SEED)[frame],
        figures,
        VerdictsLine("orders", (held,)),
        operation,
    ]


def texts() -> list[list[bytes]]:
    """Return the lines of each frame, as we write them."""
    number, found = 0, []
    for frame in range(4):
        lines = []
        for record in records(frame):
            number += 1
            at = BEGAN + 10 * frame + number / 100
            lines.append(encode_line(Line("4f2a9c01be77", number, at, KIND_BY_TYPE[type(record)], encode(record))))
        found.append(lines)
    return found


def write(path: Path, lines: list[list[bytes]], *, indexed: bool = False, cut: bool = False) -> Path:
    """Write a file of these frames. ``indexed``: as a recorder seals it; ``cut``: the last frame is not finished."""
    data, places = b"", []
    for each in lines:
        heads = [json.loads(text) for text in each]
        verdicts = sum(head["k"] == "verdict" for head in heads)
        places.append(Frame(len(data), heads[0]["at"], heads[-1]["at"], heads[0]["n"], len(each), verdicts))
        writer = FrameWriter()
        data += writer.compress(b"".join(each)) + (b"" if cut and each is lines[-1] else writer.finish())
    if indexed:
        session = SessionLine("shop", "postgres", "18", "0.1", "UTC", 2.0, BEGAN)
        index = encode_line(Line("4f2a9c01be77", 99, BEGAN + 40, "index", encode(IndexLine(session, tuple(places)))))
        data += FrameWriter().finish(index) + locator_bytes(len(data))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _read(read: SegmentLine) -> tuple[str, str, str, Any]:
    """Return the pipeline's result for a line, without positions in the file, which differ."""
    why = re.sub(r"byte \d+", "byte", read.reason or "")
    return read.kind, read.session.target, why, None if why else json.loads(read.text or b"")


def known(path: Path) -> dict[str, Any]:
    """Return the results of all our readers for a file."""
    reader = open_recording(path)
    gathered = CollectedRange(Bins(BEGAN - 60, 60.0, 5, len(FIGURES)))
    list(gather_segment(path, "orders", gathered, BEGAN - 60, BEGAN + 240))
    archive = archive_from_reader(reader)
    return {
        "moments": list(reader.read_moments(0.0)),
        "later": list(reader.read_moments(BEGAN + 25)),
        "verdicts": [reader.verdicts_at(BEGAN + at) for at in (1, 15, 100)],
        "events": read_segment_events(path, BEGAN + 1e6),
        "runs": gathered.runs,
        "done": gathered.operations,
        "queues": gathered.queues,
        "problem": gathered.problem,
        "span": archive.segment_span(path),
        "mark": archive.find_jump_point("orders", BEGAN + 5, forward=True),
        "pipeline": [_read(each) for each in parse_segment(str(path), path.read_bytes())],
        "damage": reader.damage,
    }


def spelled(value: Any, rng: random.Random) -> str:
    """Return the same JSON in another spelling."""

    def blank() -> str:
        return "".join(rng.choices(" \t\r", k=rng.choice((0, 0, 0, 1, 2))))

    if isinstance(value, dict):
        items = list(value.items())
        rng.shuffle(items)
        pairs = (f"{spelled(key, rng)}{blank()}:{blank()}{spelled(each, rng)}" for key, each in items)
        return f"{{{blank()}{','.join(f'{blank()}{pair}{blank()}' for pair in pairs)}}}"
    if isinstance(value, list):
        return f"[{','.join(f'{blank()}{spelled(each, rng)}{blank()}' for each in value)}]"
    if isinstance(value, str) and rng.random() < 0.5:
        return '"' + "".join(f"\\u{ord(each):04x}" if ord(each) < 0x10000 else each for each in value) + '"'
    halves = isinstance(value, str) and any("\ud800" <= each < "\ue000" for each in value)
    return json.dumps(value, ensure_ascii=halves or rng.random() < 0.5)


FIRST = texts()
EXPECTED: dict[tuple[bool, bool], dict[str, Any]] = {}


@pytest.mark.parametrize(("indexed", "cut"), [(False, False), (True, False), (False, True)])
@settings(max_examples=10, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(seed=st.integers(0, 2**32))
def test_a_line_says_the_same_however_its_json_is_spelled(
    indexed: bool, cut: bool, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rng = random.Random(seed)
    folder = tmp_path_factory.mktemp("spelled")
    if (indexed, cut) not in EXPECTED:
        EXPECTED[indexed, cut] = known(write(folder / NAME, FIRST, indexed=indexed, cut=cut))
    again = [[f"{spelled(json.loads(text), rng)}\n".encode() for text in each] for each in FIRST]
    found = known(write(folder / NAME, again, indexed=indexed, cut=cut))
    assert found == EXPECTED[indexed, cut]
    assert found["runs"] or found["done"]
    assert found["events"][1]


@given(st.sampled_from([each for part in FIRST for each in part]), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_the_kind_of_a_line_is_found_however_it_is_spelled(text: bytes, seed: int) -> None:
    rng = random.Random(seed)
    value = json.loads(text)
    items = list(value.items())
    rng.shuffle(items)
    odd = json.dumps(dict(items), separators=rng.choice([(", ", ": "), (",", " :"), (" ,", ":")])).encode()
    assert line_kind(odd) == line_kind(text) == value["k"]
    read, before = parse_line(odd), parse_line(text)
    assert read is not None
    assert before is not None
    assert repr(read.decode_record()) == repr(before.decode_record())


def test_an_unfinished_file_of_another_spelling_is_salvaged_whole(tmp_path: Path) -> None:
    odd = [
        [json.dumps(json.loads(text), separators=(" ,\r", ": ")).encode() + b"\n" for text in each] for each in FIRST
    ]
    folder = tmp_path / "target=shop" / "date=2026-05-28"
    write(folder / f"_{NAME}", odd, cut=True)
    (saved,) = salvage_segments(tmp_path)
    assert saved.lines == sum(map(len, FIRST))
    assert saved.path is not None
    whole = write(tmp_path / "whole" / NAME, FIRST, indexed=True)
    for at in (1, 15, 100):
        assert open_segment(saved.path).verdicts_until(BEGAN + at) == open_segment(whole).verdicts_until(BEGAN + at)
    exported = tmp_path / "part.jsonl.zst"
    done = export_range(open_recording(saved.path), BEGAN, BEGAN + 100, exported)
    assert done.snapshots == 4


# ------------------------------------------------------------------------------------------------------ bombs


def bomb(size: int, what: bytes = b"a" * 2**20) -> bytes:
    """Return a frame of a few kB that inflates to this number of bytes."""
    writer = zstandard.ZstdCompressor(level=1).compressobj()
    parts = [writer.compress(what) for _ in range(size // len(what))]
    return b"".join(parts) + writer.flush()


@pytest.mark.parametrize("partly", [False, True])
def test_a_frame_inflates_to_so_much_and_no_more(partly: bool) -> None:
    data = bomb(2**30)
    assert len(data) < 200_000
    with pytest.raises(Damaged, match=pattern(FrameText.TOO_LARGE, megabytes=256)):
        inflate_frame(data, allow_partial=partly)


def test_a_bomb_among_frames_is_left_out_with_one_line_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = FIRST
    path = write(tmp_path / NAME, lines, indexed=True)
    one, data = open_segment(path), path.read_bytes()
    second, third = one.frames[1].offset, one.frames[2].offset
    evil = bomb(2**29)
    shift = len(evil) - (third - second)
    moved = [replace(f, offset=f.offset + (shift if f.offset >= third else 0)) for f in one.frames]
    body = data[:second] + evil + data[third : one.frames[3].offset + 10**9]
    index_at = frames.parse_locator(data[-frames.LOCATOR_BYTES :])
    assert index_at is not None
    body = data[:second] + evil + data[third:index_at]
    index = encode_line(Line("4f2a9c01be77", 99, BEGAN + 40, "index", encode(IndexLine(one.session, tuple(moved)))))
    path.write_bytes(body + FrameWriter().finish(index) + locator_bytes(len(body)))
    reader = open_recording(path)
    polls = [each.event.sequence for each in reader.read_moments(0.0) if isinstance(each.event, Snapshot)]
    assert polls == [1, 3, 4]
    why = ReaderText.SKIPPED.render(
        parts=ReaderText.ONE_PART, file=NAME, problem=FrameText.TOO_LARGE.render(megabytes=256)
    )
    assert reader.damage == why
    done = call("replay", str(path), "--output", "json")
    assert (done.exit_code, done.stderr) == (0, f"qmon: {why}\n")
    read = list(parse_segment(str(path), path.read_bytes()))
    assert [each.kind for each in read].count("figures") == 3
    damage = FrameText.TOO_LARGE.render(megabytes=256)
    assert [each.reason for each in read if each.reason] == [f"byte {second}: {damage}"]


def test_a_file_that_is_a_bomb_alone_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(bomb(2**30))
    with pytest.raises(BadInput, match=pattern(ReaderText.NO_RECORDING)):
        open_recording(path)
    done = call("replay", str(path))
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)


def test_what_a_recorder_writes_is_never_taken_for_a_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from qmon.recording.write import segment_writer

    monkeypatch.setattr(segment_writer, "FRAME_TEXT_BYTES", 200_000)
    monkeypatch.setattr(frames, "FRAME_TEXT_BYTES", 200_000)
    writer = segment_writer.SegmentWriter(tmp_path / f"_{NAME}", tmp_path / NAME)
    for number in range(1, 41):
        text = encode_line(
            Line("4f2a9c01be77", number, BEGAN + number, "gap", b'{"lost":1,"reason":"%s"}' % (b"x" * 30_000))
        )
        writer.write_lines([text], BEGAN + number, number)
    writer.end_frame()
    index = encode(IndexLine(None, tuple(writer.frames)))
    writer.seal(encode_line(Line("4f2a9c01be77", 41, BEGAN + 41, "index", index)))
    one = open_segment(tmp_path / NAME)
    assert [each.number for each in one.read_lines()] == list(range(1, 41))
    assert one.damage == {}


# ---------------------------------------------------------------------------------------------- lines and numbers


def test_a_line_is_so_long_and_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    from qmon.recording.format import records as lines

    monkeypatch.setattr(lines, "LINE_BYTES", 1000)
    with pytest.raises(Damaged, match=pattern(RecordText.NOT_A_LINE) + pattern(RecordText.TOO_LONG)):
        parse_line(b'{"v":1,"r":"' + b"x" * 2000 + b'","n":1,"at":0,"k":"end","end":{"reason":""}}')


DEEP = {
    "lists": b"[" * 50_000 + b"]" * 50_000,
    "objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "lists without end": b"[" * 50_000,
}


@pytest.mark.parametrize("deep", DEEP.values(), ids=DEEP)
def test_json_that_is_nested_deep_is_damage(deep: bytes, tmp_path: Path) -> None:
    for text in (deep, b'{"v":1,"r":"x","n":9,"at":0,"k":"end", "end":' + deep + b"}"):
        assert line_kind(text) in ("", "end")
        with pytest.raises(Damaged):
            found = parse_line(text)
            assert found is not None
            found.decode_record()
    odd = b'{"v":1, "r":"x","n":9,"at":%f,"k":"snapshot", "snapshot":%s}\n' % (BEGAN + 12, deep)
    path = write(tmp_path / NAME, FIRST)
    writer = FrameWriter()
    path.write_bytes(path.read_bytes() + writer.finish(odd))
    assert has(known(path)["damage"], ReaderText.SKIPPED, parts=ReaderText.ONE_PART, file=NAME)


NUMBERS = ("1e400", "-1e400", "1" + "0" * 30, "1" + "0" * 400, "-1" + "0" * 30, "1" + "0" * 5000)


@pytest.mark.parametrize("number", NUMBERS, ids=lambda text: f"{text[:4]}… of {len(text)}")
def test_numbers_that_no_server_gives_are_damage(number: str, tmp_path: Path) -> None:
    taken: list[object] = []
    for field in ("sequence", "sampled_at", "interval_s", "buffers"):
        value = json.loads(encode(snapshots(1)[0]))
        value[field] = "HERE"
        text = json.dumps(value).replace('"HERE"', number).encode()
        with pytest.raises(Damaged, match=pattern(CodecText.NOT_VALID, kind="Snapshot")):
            taken.append(decode(Snapshot, text))
    for head in ('"n":HERE,"at":0', '"n":1,"at":HERE'):
        said = b'{"v":1,"r":"x",%s,"k":"end","end":{"reason":""}}' % head.replace("HERE", number).encode()
        with pytest.raises(Damaged, match=pattern(RecordText.NOT_A_LINE)):
            taken.append(parse_line(said))
    assert taken == []


def test_long_digits_in_texts_and_fractions_are_no_numbers() -> None:
    given = replace(snapshots(1)[0], target="1" * 500, sampled_at=0.1 + 0.2, client_ms=1e22)
    text = encode(given).replace(b"1e+22", b"10000000000000000000000.0").replace(b"1e22", b"10000000000000000000000.0")
    assert repr(decode(Snapshot, text)) == repr(given)


INDEXES = {
    "before the file": (Frame(-5, BEGAN, BEGAN, 1, 1),),
    "behind the file": (Frame(2**40, BEGAN, BEGAN, 1, 1),),
    "backwards": (Frame(50, BEGAN, BEGAN, 1, 1), Frame(0, BEGAN, BEGAN, 2, 1)),
    "the same": (Frame(0, BEGAN, BEGAN, 1, 1), Frame(0, BEGAN, BEGAN, 2, 1)),
    "of no time": (Frame(0, float("nan"), float("inf"), 1, 1),),
}


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_an_index_that_cannot_be_is_not_used(index: tuple[Frame, ...], tmp_path: Path) -> None:
    path = write(tmp_path / NAME, FIRST)
    expected = known(path)["moments"]
    data = path.read_bytes()
    session = SessionLine("shop", "postgres", "18", "0.1", "UTC", 2.0, BEGAN)
    text = encode_line(Line("4f2a9c01be77", 99, BEGAN + 40, "index", encode(IndexLine(session, index))))
    path.write_bytes(data + FrameWriter().finish(text) + locator_bytes(len(data)))
    assert known(path)["moments"] == expected


@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_a_line_holds_a_replay_takes_it_or_leaves_it_out(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = [json.loads(text) for each in FIRST for text in each]
    chosen = data.draw(st.sampled_from([each for each in lines if each["k"] != "session"]))
    places = list(_places(chosen))
    path = data.draw(st.sampled_from(places))
    inner = chosen
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = data.draw(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just([]) | st.just({})
    )
    file = tmp_path_factory.mktemp("changed") / NAME
    write_changed(file, lines)
    try:
        assert known(file)
    except QmonError as problem:
        assert "\n" not in str(problem)


def write_changed(path: Path, lines: list[Any]) -> None:
    """Write all of them into one frame, without an index."""
    text = b"".join(json.dumps(each).encode() + b"\n" for each in lines)
    path.write_bytes(FrameWriter().finish(text))


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, each in items:
        yield (*path, step)
        yield from _places(each, (*path, step))
