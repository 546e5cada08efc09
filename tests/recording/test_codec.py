"""Records become JSON and come back the same, whatever fields they have."""

from __future__ import annotations

import json
import random
import re
from dataclasses import MISSING, dataclass, field, is_dataclass
from pathlib import Path

import pytest

import qmon.recording
from qmon.model.operations import Operation
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.recording.format.codec import Codec, Damaged, Unsupported, default_of, typed_fields
from qmon.recording.format.records import KINDS, PLAIN, IndexLine, Line, Shared, line, read_line
from tests.recording.made import made, types_in

# What the records of version 1 must be given; another field without a default would make old recordings unreadable.
REQUIRED = {
    "Snapshot": "target engine server_version sequence sampled_at taken_at client_ms server_ms buffers interval_s "
    "server",
    "QueueSamples": "layout",
    "ServerSample": "now_at started_at stats_reset_at in_recovery sessions commits rollbacks deadlocks",
    "HeadSample": "head_id oldest_s counted",
    "ProbeFailure": "probe reason",
}


@pytest.mark.parametrize("kind", [Snapshot, Operation, IndexLine], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("seed", range(20))
def test_every_field_of_every_type_comes_back(kind: type, seed: int) -> None:
    record = made(kind, random.Random(seed))
    back = PLAIN.decode(kind, json.loads(json.dumps(PLAIN.encode(record))))
    assert back == record
    assert repr(back) == repr(record)  # 1 and 1.0 and True are equal, and are not the same


def test_the_codec_knows_every_type_that_a_snapshot_may_hold() -> None:
    found = types_in(Snapshot)
    assert len([kind for kind in found if is_dataclass(kind)]) > 20
    for kind in found:
        if is_dataclass(kind):
            assert isinstance(kind, type)
            value = made(kind, random.Random(1))
            assert PLAIN.decode(kind, PLAIN.encode(value)) == value


def test_what_is_shared_is_written_once_and_found_again() -> None:
    rng = random.Random(5)
    writing, reading = Shared(), Shared()
    lines: list[bytes] = []
    snapshots = [made(Snapshot, rng) for _ in range(8)]
    for snapshot in snapshots:
        value = writing.write(snapshot)
        for kind, key, each in writing.take():
            lines.append(line("r", len(lines) + 1, 0.0, kind, each, key))
        lines.append(line("r", len(lines) + 1, 0.0, "snapshot", value))
    back: list[Snapshot] = []
    for text in lines:
        read = read_line(text)
        assert read is not None
        reading.learn(read)
        if read.kind == "snapshot":
            back.append(reading.read(read.value))
    assert back == snapshots
    assert all(text.isascii() and text.count(b"\n") == 1 for text in lines)


def test_fields_of_the_future_are_passed_over_and_missing_ones_take_their_default() -> None:
    @dataclass(frozen=True)
    class Newer:
        a: int
        b: str = "as ever"
        c: tuple[int, ...] = ()

    assert PLAIN.decode(Newer, {"a": 1, "unheard_of": {"x": []}}) == Newer(1)
    assert PLAIN.encode(Newer(1, c=(2,))) == {"a": 1, "c": [2]}
    with pytest.raises(Damaged, match="no Newer"):
        PLAIN.decode(Newer, {"b": "x"})
    assert read_line(b'{"v":1,"r":"x","n":1,"at":0,"k":"unheard_of","unheard_of":{}}') is None
    assert read_line(b'{"v":3,"r":"x","n":1,"at":0,"k":"snapshot","snapshot":{}}') is None


NO_LINES = {
    "empty": b"",
    "cut short": b"{",
    "list": b"[]",
    "no member": b"{}",
    "no kind of that name": b'{"v":1,"r":"x","n":1,"at":0,"k":"end"}',
    "no UTF-8": b"\xff\xfe",
}


@pytest.mark.parametrize("text", NO_LINES.values(), ids=NO_LINES)
def test_what_is_no_line_is_said_to_be_none(text: bytes) -> None:
    with pytest.raises(Damaged, match="not a line of a recording"):
        read_line(text)


def test_a_type_that_cannot_be_written_is_refused() -> None:
    @dataclass(frozen=True)
    class Odd:
        a: set[int] = field(default_factory=set)

    with pytest.raises(Unsupported, match="set"):
        Codec().encode(Odd({1}))


def test_what_old_recordings_lack_has_a_default() -> None:
    for kind in (kind for kind in types_in(Snapshot) if getattr(kind, "__name__", "") in REQUIRED):
        needed = [field.name for field, _ in typed_fields(kind) if default_of(field) is MISSING]
        assert " ".join(needed) == REQUIRED[kind.__name__]


def examples() -> list[tuple[str, bytes]]:
    """The lines that the description of the format shows."""
    text = (Path(qmon.recording.__file__).with_name("FORMAT.md")).read_text(encoding="utf-8")
    shown = [each for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL) for each in block.splitlines()]
    return [(json.loads(each)["k"], each.encode()) for each in shown]


def test_the_description_shows_every_kind_as_it_is_written() -> None:
    shared = Shared()
    shown = examples()
    assert {kind for kind, _ in shown} == set(KINDS)
    for kind, text in shown:
        read = read_line(text)
        assert isinstance(read, Line)
        shared.learn(read)
        if kind == "snapshot":
            snapshot = shared.read(read.value)
            assert isinstance(snapshot.queues[0], QueueSamples)
            assert read.value == shared.write(snapshot)
            assert snapshot.queues[0].unknown == {"scheduled": "the layout has no time at which a message is due"}
        elif kind not in ("texts", "index", "delta"):
            assert PLAIN.encode(PLAIN.decode(KINDS[kind], read.value)) == read.value
