"""Paths of recordings: safe folder names, the order of segments, and the target of each segment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from qmon.errors import BadInput
from qmon.recording.format.frames import OPEN_PREFIX, SEGMENT_SUFFIX
from qmon.texts import Text


class PathText(Text):
    """Why a target cannot be recorded."""

    BAD_NAME = "cannot record: the target's name is empty or too long; give the target a shorter name in qmon.toml"


_SAFE: Final = re.compile(r"[A-Za-z0-9._-]")
_STEM: Final = re.compile(r"(\d{8}T\d{6}Z)-([0-9a-f]{12})-(\d{4,})")
_LONGEST: Final = 200

# Suffixes of the files next to a sealed segment. These files are optional.
ROWS_SUFFIX: Final = ".figures.parquet"
FIGURES_SUFFIX: Final = ".figures.zst"

# A segment covers at most one hour (UTC).
SEGMENT_S: Final = 3600.0


def folder_name_for(name: str) -> str:
    """Return a target's name as a folder name. Unsafe characters become ``%`` and two hexadecimal digits per byte.

    Raises ``BadInput`` if the result is empty or too long.
    """
    written = "".join(c if _SAFE.fullmatch(c) else _percent_encode(c) for c in name)
    written = _percent_encode(written[0]) + written[1:] if written[:1] in (".", "_") else written
    if not 0 < len(written) <= _LONGEST:
        raise BadInput(PathText.BAD_NAME)
    return written


def _percent_encode(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


def target_from_folder(folder: str) -> str:
    """Return the target's name from its folder name."""
    return unquote(folder.removeprefix("target="), errors="surrogatepass")


def segment_stem(at: float, recorder: str, number: int) -> str:
    """Return the file name, without suffix, of a segment that begins at ``at`` (seconds since the epoch)."""
    return f"{datetime.fromtimestamp(at, UTC):%Y%m%dT%H%M%SZ}-{recorder}-{number:04d}"


def segment_folder(root: Path, target: str, at: float) -> Path:
    """Return the folder for segments of the target that begin on the UTC day of ``at``."""
    return root / f"target={folder_name_for(target)}" / f"date={datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def segment_start(path: Path) -> float:
    """Return the start of a segment from its name, seconds since the epoch; 0 for any other name."""
    found = _STEM.match(path.name.removeprefix(OPEN_PREFIX))
    return datetime.strptime(found[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp() if found else 0.0


def is_segment(path: Path) -> bool:
    """Return true if the file name is that of a segment."""
    name = path.name.removeprefix(OPEN_PREFIX)
    return name.endswith(SEGMENT_SUFFIX) and _STEM.fullmatch(name.removesuffix(SEGMENT_SUFFIX)) is not None


def is_open(path: Path) -> bool:
    """Return true if a segment is open, or was never sealed."""
    return path.name.startswith(OPEN_PREFIX)


def list_segments(root: Path, *, unsealed: bool = True) -> list[Path]:
    """Return the segments below a folder in chronological order.

    If a segment exists both as an open file and as a sealed file, the open file is left out.
    """
    found = [path for path in root.rglob(f"*{SEGMENT_SUFFIX}") if is_segment(path)]
    sealed = {path for path in found if not is_open(path)}
    kept = [path for path in found if path in sealed or (unsealed and sealed_path(path) not in sealed)]
    return sorted(kept, key=lambda path: path.name.removeprefix(OPEN_PREFIX))


def rows_path(segment: Path) -> Path:
    """Return the path of the Parquet file with the rows of a sealed segment."""
    return segment.with_name(segment.name.removesuffix(SEGMENT_SUFFIX) + ROWS_SUFFIX)


def figures_path(segment: Path) -> Path:
    """Return the path of the file with the lines about figures of a sealed segment."""
    return segment.with_name(segment.name.removesuffix(SEGMENT_SUFFIX) + FIGURES_SUFFIX)


def paths_next_to(segment: Path) -> tuple[Path, Path]:
    """Return the paths of the optional files of a sealed segment."""
    return rows_path(segment), figures_path(segment)


def sealed_path(path: Path) -> Path:
    """Return the name that an open segment will have when it is sealed."""
    return path.with_name(path.name.removeprefix(OPEN_PREFIX))


def recorded_targets(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield the recorded targets below a folder, with their folders."""
    for each in sorted(root.glob("target=*")):
        if each.is_dir():
            yield target_from_folder(each.name), each
