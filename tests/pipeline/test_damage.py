"""Segments that are truncated, damaged or not segments: intact parts are read, and the rest is reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import zstandard

from qmon.recording.figure_rows.segment_lines import BadLineText, parse_segment
from qmon.recording.format.frames import FRAME_MAGIC
from qmon.recording.read.segment_reader import open_segment
from tests.pipeline.comparing import START
from tests.pipeline.recordings import Watched
from tests.wordings import has


def numbers(path: Path) -> set[int]:
    """Return the numbers of the lines about figures that can be read from a file."""
    read = parse_segment(path.as_uri(), path.read_bytes())
    return {json.loads(line.text)["n"] for line in read if line.kind == "figures" and line.text is not None}


def reasons(path: Path) -> list[str]:
    """Return the reasons why parts of a segment cannot be read."""
    return [line.reason for line in parse_segment(path.as_uri(), path.read_bytes()) if line.reason is not None]


@pytest.fixture
def segment(tmp_path: Path) -> Path:
    """One sealed segment of ten minutes."""
    (path,) = Watched(tmp_path / "made", "shop", "aaaaaaaaaaaa").record(START - 1800, 300)
    return path


def test_damage_in_a_frame_costs_that_frame_alone(segment: Path) -> None:
    whole, frames = numbers(segment), open_segment(segment).frames
    content = bytearray(segment.read_bytes())
    middle = (frames[2].offset + frames[3].offset) // 2
    content[middle : middle + 8] = b"\x00" * 8
    segment.write_bytes(content)
    (reason,) = reasons(segment)
    assert has(reason, BadLineText.AT_BYTE, byte=frames[2].offset)
    lost = whole - numbers(segment)
    assert lost
    assert lost <= set(range(frames[2].first, frames[2].first + frames[2].lines))


def test_a_file_that_was_cut_short_gives_what_is_in_it(segment: Path) -> None:
    whole, frames = numbers(segment), open_segment(segment).frames
    segment.write_bytes(segment.read_bytes()[: frames[-1].offset + 200])
    assert len(reasons(segment)) == 1
    assert {n for n in whole if n < frames[-1].first} <= numbers(segment) < whole


NO_SEGMENTS = {
    "empty": b"",
    "text": b"no frame at all",
    "the first bytes of a frame": FRAME_MAGIC,
    "a frame of something else": zstandard.compress(b"a\nb\n"),
}


@pytest.mark.parametrize("content", NO_SEGMENTS.values(), ids=NO_SEGMENTS)
def test_what_is_no_segment_is_said(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl.zst"
    path.write_bytes(content)
    assert numbers(path) == set()
    assert all(reasons(path))
    assert len(reasons(path)) == (2 if content.endswith(b"b\n") else 1)
