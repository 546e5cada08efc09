"""Frames of a recording: the intact part is read, whatever happened to the rest."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from qmon.recording.format.frames import (
    LOCATOR_BYTES,
    Damaged,
    FrameText,
    FrameWriter,
    inflate_frame,
    locator_bytes,
    parse_locator,
)
from tests.recording.writing import text_of
from tests.wordings import pattern


def written(lines: int) -> tuple[bytes, list[bytes]]:
    """Return a frame of this number of incompressible lines, each added separately, and the added lines."""
    rng, frame = random.Random(3), FrameWriter()
    texts = [rng.randbytes(200).hex().encode() + b"\n" for _ in range(lines)]
    return b"".join(map(frame.compress, texts)) + frame.finish(), texts


def test_a_frame_is_read_while_it_grows_and_by_whatever_reads_zstandard(tmp_path: Path) -> None:
    frame, texts = written(50)
    assert inflate_frame(frame) == (b"".join(texts), len(frame))
    text, used = inflate_frame(frame[: len(frame) // 2], allow_partial=True)
    assert used == 0
    assert 20 <= text.count(b"\n") < 50
    with pytest.raises(Damaged, match=pattern(FrameText.CUT_OFF)):
        inflate_frame(frame[:-10])
    file = tmp_path / "x.jsonl.zst"
    file.write_bytes(frame + frame + locator_bytes(len(frame)))
    assert text_of(file) == b"".join(texts) * 2


@pytest.mark.parametrize("place", [30, 5_000, -300, -2])
def test_of_a_damaged_frame_nothing_is_given(place: int) -> None:
    frame, _ = written(50)
    damaged = bytearray(frame)
    damaged[place] ^= 0xFF
    for partly in (False, True):
        with pytest.raises(Damaged, match=pattern(FrameText.UNREADABLE)):
            inflate_frame(bytes(damaged), allow_partial=partly)


def test_the_end_of_a_file_says_where_the_index_begins() -> None:
    frame, _ = written(1)
    assert parse_locator(frame + locator_bytes(1_234_567)) == 1_234_567
    assert parse_locator(frame) is parse_locator(b"") is None
    assert inflate_frame(locator_bytes(5) + frame) == (b"", LOCATOR_BYTES)
