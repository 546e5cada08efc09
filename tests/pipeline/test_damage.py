"""Segments that are cut short, damaged, or none at all: what is whole is read, and the rest is said."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

import pytest

from qmon.pipeline.ingest.inflating import Fast
from qmon.pipeline.ingest.segment_lines import read_segment
from qmon.recording.read.segment_reader import open_segment
from tests.pipeline.comparing import START
from tests.pipeline.recordings import Watched


def numbers(path: Path) -> set[int]:
    """The numbers of the lines about figures that can be read of a file."""
    read = read_segment(path.as_uri(), path.read_bytes())
    return {json.loads(line.text)["n"] for line in read if line.kind == "figures" and line.text is not None}


def reasons(path: Path) -> list[str]:
    """What is said of the stretches that cannot be read."""
    return [line.reason for line in read_segment(path.as_uri(), path.read_bytes()) if line.reason is not None]


@pytest.fixture(autouse=True, params=[zlib.decompressobj, Fast], ids=["zlib", "isal"])
def _by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by what is there where isal is not installed, and by isal."""
    monkeypatch.setattr("qmon.pipeline.ingest.segment_lines.reader", request.param)


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    """One sealed segment of five minutes."""
    (path,) = Watched(tmp_path / "made", "shop", "aaaaaaaaaaaa").record(START - 1800, 150)
    return path


def test_damage_in_a_minute_costs_that_minute_alone(segment: Path) -> None:
    whole, members = numbers(segment), open_segment(segment).members
    content = bytearray(segment.read_bytes())
    middle = (members[2].offset + members[3].offset) // 2
    content[middle : middle + 8] = b"\x00" * 8
    segment.write_bytes(content)
    (reason,) = reasons(segment)
    assert reason.startswith(f"byte {members[2].offset}:")
    lost = whole - numbers(segment)
    assert lost
    assert lost <= set(range(members[2].first, members[2].first + members[2].lines))


def test_a_file_that_was_cut_short_gives_what_is_in_it(segment: Path) -> None:
    whole, members = numbers(segment), open_segment(segment).members
    segment.write_bytes(segment.read_bytes()[: members[-1].offset + 200])
    assert len(reasons(segment)) == 1
    assert {n for n in whole if n < members[-1].first} <= numbers(segment) < whole


NO_SEGMENTS = {
    "empty": b"",
    "text": b"no gzip at all",
    "three bytes of gzip": b"\x1f\x8b\x08",
    "gzip of something else": gzip.compress(b"a\nb\n", mtime=0),
}


@pytest.mark.parametrize("content", NO_SEGMENTS.values(), ids=NO_SEGMENTS)
def test_what_is_no_segment_is_said(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(content)
    assert numbers(path) == set()
    assert all(reasons(path))
    assert len(reasons(path)) == (2 if content.endswith(b"\x00\x00\x00") and len(content) > 20 else 1)
