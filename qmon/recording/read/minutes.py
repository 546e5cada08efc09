"""The text of a segment, minute by minute, without looking into its lines: for those who want few of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from qmon.recording.format.frames import OPEN, Damaged, inflated
from qmon.recording.read.paths import sealed_path
from qmon.recording.read.segment_reader import open_segment

_KIND: Final = re.compile(rb'\{"v":\d+,"r":"[^"\\]*","n":\d+,"at":[-+.\deE]+,"k":"(\w+)"')


def kind_of(line: bytes) -> bytes | None:
    """The kind of a line as qmon writes it, without reading it; ``None``: it must be read to know."""
    found = _KIND.match(line)
    return found[1] if found is not None else None


def minutes(path: Path, since_at: float, until_at: float) -> Iterator[tuple[float, bytes]]:
    """The minutes that may hold lines between two moments, each with the share of the work that is done by then.

    A file that is still open is read from its beginning, which costs little where no line is looked into; one that has
    been sealed meanwhile is found under its new name. Raises ``OSError``, and ``Damaged`` behind what is whole.
    """
    if path.name.startswith(OPEN):
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            path = sealed_path(path)
        else:
            yield from _all(data)
            return
    one = open_segment(path)
    if not one.indexed:
        yield from _all(path.read_bytes())
        return
    wanted = [i for i, m in enumerate(one.frames) if m.first_at <= until_at and m.last_at >= since_at]
    with path.open("rb") as file:
        for done, number in enumerate(wanted, 1):
            start = one.frames[number].offset
            file.seek(start)
            following = one.frames[number + 1].offset - start if number + 1 < len(one.frames) else -1
            yield done / len(wanted), inflated(file.read(following))[0]


def _all(data: bytes) -> Iterator[tuple[float, bytes]]:
    """All minutes of a file without an index; of the last one what is there of it."""
    view, at = memoryview(data), 0
    while at < len(data):
        text, used = inflated(view[at:], partly=True)
        whole = text[: text.rfind(b"\n") + 1]
        if used <= 0:
            yield 1.0, whole
            if used < 0:
                raise Damaged("damaged in the middle of a frame")
            return
        at += used
        yield at / len(data), whole
