"""How long recordings are kept: the oldest sealed segments go; where there is a pipeline, once it has read them."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qmon.errors import BadInput
from qmon.recording.read.paths import begins_at, segments

MARK: Final = ".pipeline.json"
"""In the folder of all recordings: the segments that the pipeline is done with."""
_UNITS: Final = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30}
_LARGEST: Final = 2**63
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]I?)?B?", re.IGNORECASE)
_LONGEST_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class RetentionResult:
    """What is there: ``bytes`` of segments; ``removed`` just now; ``waiting``: due, but the pipeline is not done."""

    bytes: int
    removed: int
    waiting: int


def parse_size(text: str) -> int:
    """Bytes of ``5GB``, ``500M`` or ``1GiB``. Raises ``BadInput``."""
    found = _SIZE.fullmatch(text.strip())
    if found is None or (unit := (found[2] or "").upper()) not in _UNITS or float(found[1]) == 0:
        raise BadInput(f"{text[:40]!r} is no size; say it like 500MB, 5GB or 2GiB")
    if (size := float(found[1]) * _UNITS[unit]) > _LARGEST:
        raise BadInput(f"{text[:40]!r} is more than any disk holds")
    return int(size)


def retain(root: Path, *, keep_s: float | None, max_bytes: int | None, now: float) -> RetentionResult:
    """Remove what is older than ``keep_s`` seconds at ``now`` (since the epoch), and the oldest beyond ``max_bytes``.

    Open segments stay, and so do those that the pipeline is not done with, where it has left its mark.
    """
    paths = segments(root)
    sizes = {path: _size(path) for path in paths}
    total, removed, waiting = sum(sizes.values()), 0, 0
    done = pipeline_done(root)
    for path in (path for path in paths if not path.name.startswith("_")):
        old = keep_s is not None and begins_at(path) + _LONGEST_S < now - keep_s
        if not old and (max_bytes is None or total <= max_bytes):
            continue
        if done is not None and path.relative_to(root).as_posix() not in done:
            waiting += 1
            continue
        path.unlink(missing_ok=True)
        total -= sizes[path]
        removed += 1
        with contextlib.suppress(OSError):  # others of that day are still there
            path.parent.rmdir()
    return RetentionResult(total, removed, waiting)


def pipeline_done(root: Path) -> frozenset[str] | None:
    """The segments that the pipeline is done with, relative to the folder; ``None``: no pipeline reads it."""
    try:
        raw = json.loads((root / MARK).read_text(encoding="utf-8"))
        return frozenset(raw["done"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError, OSError):
        return frozenset()  # it reads it, and cannot be asked how far it is: nothing may go


def new_bytes(root: Path) -> int:
    """Bytes of the sealed segments that the pipeline is not done with, as far as its mark tells."""
    done = pipeline_done(root) or frozenset()
    return sum(_size(path) for path in segments(root, unsealed=False) if path.relative_to(root).as_posix() not in done)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
