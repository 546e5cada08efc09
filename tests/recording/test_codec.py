"""Records become JSON and are decoded unchanged, whatever fields they have."""

from __future__ import annotations

import json
import math
import random
import re
import subprocess
import sys
from dataclasses import MISSING, dataclass, is_dataclass, replace
from pathlib import Path

import pytest

import qmon.recording
from qmon.model.operation_records import Operation
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.recording.format.codec import CodecText, decode, encode, typed_fields
from qmon.recording.format.frames import Damaged
from qmon.recording.format.records import KINDS, IndexLine, Line, RecordText, encode_line, parse_line
from tests.recording.made import default_of, made, types_in
from tests.wordings import pattern

# Required fields of the records of format 1. A further field without a default would make old recordings unreadable.
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
    back: object = decode(kind, encode(record))
    assert back == record
    assert repr(back) == repr(record)  # 1 and 1.0 and True are equal but not the same


# Each thread starts with another kind of record, so that one thread's first types are used in the middle of another's.
_AT_ONCE = """
import random, sys, threading
from qmon.recording.format.codec import decode, encode
from qmon.recording.format.records import KINDS
from tests.recording.made import made

sys.setswitchinterval(1e-6)
kinds = list(KINDS.values())
records = [made(kind, random.Random(7)) for kind in kinds]
start = threading.Barrier(16)
back = []

def work(number):
    start.wait()
    for each in range(len(kinds)):
        at = (number + each) % len(kinds)
        back.append(decode(kinds[at], encode(records[at])) == records[at])

threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(back), all(back))
"""


def test_sixteen_recorders_may_write_their_first_records_at_the_same_moment() -> None:
    """In a separate process, because the first use of each type is what crashes."""
    found = subprocess.run([sys.executable, "-c", _AT_ONCE], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout.split()) == (0, [str(16 * len(KINDS)), "True"]), found.stderr[-2000:]


def test_the_codec_knows_every_type_that_a_snapshot_may_hold() -> None:
    found = types_in(Snapshot)
    assert len([kind for kind in found if is_dataclass(kind)]) > 20
    for kind in found:
        if is_dataclass(kind):
            assert isinstance(kind, type)
            value = made(kind, random.Random(1))
            assert decode(kind, encode(value)) == value


def test_a_line_comes_back_as_it_was_whatever_is_in_it() -> None:
    rng = random.Random(5)
    for number in range(1, 9):
        snapshot = made(Snapshot, rng)
        written = Line("4f2a9c01be77", number, 1_780_000_000.5, "snapshot", encode(snapshot))
        text = encode_line(written)
        assert text.count(b"\n") == 1
        read = parse_line(text)
        assert read is not None
        assert read.decode_record() == snapshot
        assert (read.recorder, read.number, read.at, read.kind) == ("4f2a9c01be77", number, 1_780_000_000.5, "snapshot")


@dataclass(frozen=True)
class Odd:
    """Values that JSON does not support."""

    number: float
    more: tuple[float | None, ...] = ()
    text: str = ""
    statement: str = ""
    payload: str | None = None


ODD = {
    "no end": Odd(math.inf, (-math.inf, None)),
    "no number": Odd(1.0, (math.nan,)),
    "half a character": Odd(1.0, text="a\ud800b", statement="\udfff"),
    "both": Odd(math.inf, text="\ud800", payload="\ud800"),
}


@pytest.mark.parametrize("record", ODD.values(), ids=ODD)
def test_what_json_does_not_know_comes_back_and_is_covered_all_the_same(record: Odd) -> None:
    assert repr(decode(Odd, encode(record))) == repr(record)
    secret = replace(record, statement="PASSWORD 'x'", payload="x")
    covered = encode(secret, lambda text: None if text == "x" else "***")
    assert repr(decode(Odd, covered)) == repr(replace(record, statement="***", payload=None))


def test_a_field_that_is_damaged_is_named() -> None:
    with pytest.raises(
        Damaged, match=pattern(CodecText.NOT_VALID, kind="Odd", problem="Expected `float`, got `str` - at `$.number`")
    ):
        decode(Odd, b'{"number":"x"}')
    for text in (b"", b"{", b"[]", b"\xff", b"[" * 100_000):
        with pytest.raises(Damaged, match=pattern(CodecText.NOT_VALID, kind="Odd")):
            decode(Odd, text)


def test_fields_of_the_future_are_passed_over_and_missing_ones_take_their_default() -> None:
    @dataclass(frozen=True)
    class Newer:
        a: int
        b: str = "as ever"
        c: tuple[int, ...] = ()

    assert decode(Newer, b'{"a":1,"unheard_of":{"x":[]}}') == Newer(1)
    assert encode(Newer(1, c=(2,))) == b'{"a":1,"c":[2]}'
    with pytest.raises(Damaged, match=pattern(CodecText.NOT_VALID, kind="Newer")):
        decode(Newer, b'{"b":"x"}')
    assert parse_line(b'{"v":1,"r":"x","n":1,"at":0,"k":"unheard_of","unheard_of":{}}') is None
    assert parse_line(b'{"v":2,"r":"x","n":1,"at":0,"k":"snapshot","snapshot":{}}') is None


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
    with pytest.raises(Damaged, match=pattern(RecordText.NOT_A_LINE)):
        parse_line(text)


def test_a_new_field_has_a_default() -> None:
    for kind in (kind for kind in types_in(Snapshot) if getattr(kind, "__name__", "") in REQUIRED):
        needed = [field.name for field, _ in typed_fields(kind) if default_of(field) is MISSING]
        assert " ".join(needed) == REQUIRED[kind.__name__]


def examples() -> list[tuple[str, bytes]]:
    """Return the lines in the description of the format."""
    text = (Path(qmon.recording.__file__).with_name("FORMAT.md")).read_text(encoding="utf-8")
    shown = [each for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL) for each in block.splitlines()]
    return [(json.loads(each)["k"], each.encode()) for each in shown]


def test_the_description_shows_every_kind_as_it_is_written() -> None:
    shown = examples()
    assert {kind for kind, _ in shown} == set(KINDS)
    for _, text in shown:
        read = parse_line(text)
        assert isinstance(read, Line)
        record = read.decode_record()
        if read.kind == "snapshot":
            assert isinstance(record.queues[0], QueueSamples)
            assert record.queues[0].unknown.keys() == {"scheduled"}
        assert encode_line(Line(read.recorder, read.number, read.at, read.kind, encode(record))) == text + b"\n"
