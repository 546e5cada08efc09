"""Deletes the oldest sealed segments of recordings.

Segments that a lake has not read are only deleted if all recordings together would exceed their maximum size.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qmon.errors import BadInput
from qmon.recording.read.recording_paths import SEGMENT_S, is_open, list_segments, paths_next_to, segment_start
from qmon.texts import Text


class SizeText(Text):
    """Why a text is not a size."""

    NOT_A_SIZE = "{text!r} is not a size; write 500MB, 5GB or 2GiB"
    TOO_LARGE = "{text!r} is larger than any disk"


# Marker files in the folder of all recordings. Each marker file belongs to a lake and lists the segments in that lake.
_MARK_PATTERN: Final = ".pipeline.*.json"
_UNITS: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30}
_MAX_SIZE: Final = 2**63
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]I?)?B?", re.IGNORECASE)

# A lake whose last batch is older than this may be abandoned.
ABANDONED_S: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class LakeMark:
    """The contents of one lake's marker file.

    ``lake``: the path of the lake. ``at``: time of its last batch, epoch seconds, if known.

    ``done``: the segments in the lake, as paths relative to the folder.
    """

    file: Path
    lake: str = ""
    at: float | None = None
    done: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RetentionResult:
    """The result: total ``bytes`` of the remaining segments, and the numbers of ``removed`` and ``waiting`` segments.

    A segment is waiting if it is too old but not yet in every lake. ``unread``: the part of ``removed`` that was not
    yet in every lake; these segments exceeded the maximum size. ``lakes``: the lakes in which waiting or unread
    segments are missing.
    """

    bytes: int
    removed: int
    waiting: int
    lakes: tuple[LakeMark, ...] = ()
    unread: int = 0


def parse_size(text: str) -> int:
    """Return the bytes of ``5GB``, ``500M`` or ``1GiB``. Raises ``BadInput``."""
    found = _SIZE.fullmatch(text.strip())
    if found is None or (unit := (found[2] or "").upper()) not in _UNITS or float(found[1]) == 0:
        raise BadInput(SizeText.NOT_A_SIZE.render(text=text[:40]))
    if (size := float(found[1]) * _UNITS[unit]) > _MAX_SIZE:
        raise BadInput(SizeText.TOO_LARGE.render(text=text[:40]))
    return int(size)


def apply_retention(root: Path, *, keep_s: float | None, max_bytes: int | None, now: float) -> RetentionResult:
    """Delete segments older than ``keep_s`` seconds, and the oldest segments until the total is at most ``max_bytes``.

    ``now``: seconds since the epoch. Open segments are kept. If a lake has a marker file in this folder, old segments
    that are not yet in the lake are also kept. The maximum size is a hard limit: if deleting all other segments is not
    enough, the oldest segments are deleted although a lake has not read them. Otherwise a lake that nobody fills any
    more would fill the disk.
    """
    paths = list_segments(root)
    sizes = {path: sum(map(_file_size, (path, *paths_next_to(path)))) for path in paths}
    total, removed, unread = sum(sizes.values()), 0, 0
    marks = read_lake_marks(root)
    lakes: set[LakeMark] = set()
    waiting: list[Path] = []
    kept: list[Path] = []
    missing = {
        path: {mark for mark in marks if path.relative_to(root).as_posix() not in mark.done}
        for path in paths
        if not is_open(path)
    }
    for path, lacking in missing.items():
        old = keep_s is not None and segment_start(path) + SEGMENT_S < now - keep_s
        if lacking:
            (waiting if old else kept).append(path)
        elif old or (max_bytes is not None and total > max_bytes):
            _delete_segment(path)
            total -= sizes[path]
            removed += 1
    for path in waiting + kept:  # `waiting` has the older ones
        if max_bytes is None or total <= max_bytes:
            break
        _delete_segment(path)
        total -= sizes[path]
        removed, unread = removed + 1, unread + 1
        lakes |= missing[path]
    left = waiting[unread:]
    lakes |= {mark for path in left for mark in missing[path]}
    return RetentionResult(total, removed, len(left), tuple(mark for mark in marks if mark in lakes), unread)


def _delete_segment(path: Path) -> None:
    path.unlink(missing_ok=True)
    for each in paths_next_to(path):
        each.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # fails while the folder contains other segments
        path.parent.rmdir()


def lake_mark_name(lake_id: str) -> str:
    """Return the name of a lake's marker file in the folder of recordings."""
    return _MARK_PATTERN.replace("*", lake_id)


def lake_mark_text(lake: str, at: float, done: Iterable[str]) -> str:
    """Return the contents of a marker file; see ``LakeMark``."""
    return json.dumps({"version": 1, "lake": lake, "at": round(at, 3), "done": sorted(done)}) + "\n"


def read_lake_marks(root: Path) -> list[LakeMark]:
    """Return the marker files of all lakes that read this folder.

    A damaged marker file counts as a lake without segments, so no segment is deleted.
    """
    return [_read_lake_mark(file) for file in sorted(root.glob(_MARK_PATTERN))]


def delete_lake_marks(root: Path, lake: str) -> int:
    """Delete the marker files of a lake, so that retention no longer waits for it. Return their number.

    ``lake``: the path of the lake with its scheme, as in the marker file.
    """
    found = [mark.file for mark in read_lake_marks(root) if mark.lake == lake]
    for file in found:
        file.unlink(missing_ok=True)
    return len(found)


def stat_lake_marks(root: Path) -> list[tuple[Path, os.stat_result]]:
    """Return the marker files with their size and time, without reading them."""
    found = []
    for file in sorted(root.glob(_MARK_PATTERN)):
        with contextlib.suppress(FileNotFoundError):
            found.append((file, file.stat()))
    return found


def _read_lake_mark(file: Path) -> LakeMark:
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
        return LakeMark(file, str(raw["lake"]), float(raw["at"]), frozenset(map(str, raw["done"])))
    except (ValueError, KeyError, TypeError, OSError, OverflowError, RecursionError):
        return LakeMark(file)


def unread_bytes(root: Path) -> int:
    """Return the total bytes of sealed segments that are missing in a lake, according to the marker files."""
    marks = read_lake_marks(root)
    done = marks[0].done.intersection(*(mark.done for mark in marks)) if marks else frozenset()
    return sum(
        _file_size(path)
        for path in list_segments(root, unsealed=False)
        if path.relative_to(root).as_posix() not in done
    )


def _file_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
