"""Where recordings are: safe folder names, the order of segments, and which file is whose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from qmon.errors import BadInput
from qmon.recording.format.frames import OPEN, SUFFIX

_SAFE: Final = re.compile(r"[A-Za-z0-9._-]")
_STEM: Final = re.compile(r"(\d{8}T\d{6}Z)-([0-9a-f]{12})-(\d{4,})")
_LONGEST: Final = 200


def safe(name: str) -> str:
    """A target's name as a folder's: ``%`` and two hexadecimal digits a byte for whatever may not stand there."""
    written = "".join(c if _SAFE.fullmatch(c) else _bytes(c) for c in name)
    written = _bytes(written[0]) + written[1:] if written[:1] in (".", "_") else written
    if not 0 < len(written) <= _LONGEST:
        raise BadInput("the target's name is empty or too long to record it; give it a short one in qmon.toml")
    return written


def _bytes(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


def name_of(folder: str) -> str:
    """The target's name of its folder."""
    return unquote(folder.removeprefix("target="), errors="surrogatepass")


def stem(at: float, recorder: str, number: int) -> str:
    """The name of a segment that begins at ``at`` (seconds since the epoch), without its ending."""
    return f"{datetime.fromtimestamp(at, UTC):%Y%m%dT%H%M%SZ}-{recorder}-{number:04d}"


def folder(root: Path, target: str, at: float) -> Path:
    """The folder of the target's segments that begin on the day of ``at`` (UTC)."""
    return root / f"target={safe(target)}" / f"date={datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def begins_at(path: Path) -> float:
    """When a segment begins, seconds since the epoch, by its name; 0 for another name."""
    found = _STEM.match(path.name.removeprefix(OPEN))
    return datetime.strptime(found[1], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp() if found else 0.0


def is_segment(path: Path) -> bool:
    """Whether a file is called as segments are."""
    name = path.name.removeprefix(OPEN)
    return name.endswith(SUFFIX) and _STEM.fullmatch(name.removesuffix(SUFFIX)) is not None


def segments(root: Path, *, unsealed: bool = True) -> list[Path]:
    """The segments below a folder, in the order of time. An open one that has been sealed meanwhile is left out."""
    found = [path for path in root.rglob(f"*{SUFFIX}") if is_segment(path)]
    sealed = {path for path in found if not path.name.startswith(OPEN)}
    kept = [path for path in found if path in sealed or (unsealed and sealed_path(path) not in sealed)]
    return sorted(kept, key=lambda path: path.name.removeprefix(OPEN))


def sealed_path(path: Path) -> Path:
    """The name that an open segment will have."""
    return path.with_name(path.name.removeprefix(OPEN))


def targets(root: Path) -> Iterator[tuple[str, Path]]:
    """The targets that are recorded below a folder, with their folders."""
    for each in sorted(root.glob("target=*")):
        if each.is_dir():
            yield name_of(each.name), each
