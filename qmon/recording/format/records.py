"""The lines of a recording: what each kind holds, and how one is written and read. FORMAT.md shows an example of each.

Every line is one JSON object with the format's version, the recorder's id, the line's number (1, 2, 3 … without a
hole, over all segments of that recorder) and the time on the clock of the recording machine.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from qmon.model.figure import Verdict
from qmon.model.operations import Operation
from qmon.model.snapshot import Snapshot
from qmon.recording.format.codec import decode
from qmon.recording.format.figures import Figures
from qmon.recording.format.frames import FORMAT, LINE_BYTES, Damaged, plain_json


@dataclass(frozen=True, slots=True)
class SessionLine:
    """What was recorded by whom. ``zone``: IANA name of the recording machine's time zone; ``interval_s``: as asked."""

    target: str
    engine: str
    version: str
    qmon: str
    zone: str
    interval_s: float
    started_at: float
    host: str = ""
    environment: str = ""


@dataclass(frozen=True, slots=True)
class VerdictsLine:
    """All verdicts that hold for a queue from now on, the worst first; written when a code or a severity changes.

    A ``cannot tell`` is written once it has lasted. ``repeated``: they held before; a segment begins. ``undecided``:
    codes of verdicts that held before and are not known to be over. ``ahead_s``: seconds by which the server's clock is
    ahead of that of the line.
    """

    queue: str
    holds: tuple[Verdict, ...] = ()
    repeated: bool = False
    undecided: tuple[str, ...] = ()
    ahead_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Changed:
    """The source has changed its phase: connecting, live, late, lost, closed."""

    phase: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """Snapshots that were not recorded since the line before, and why."""

    lost: int
    reason: str


@dataclass(frozen=True, slots=True)
class End:
    """The recorder ended in order, or stopped, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment worth jumping to: ``kind`` operation or verdict (at least a warning that has begun)."""

    at: float
    kind: str
    queue: str
    text: str


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: where it begins in the file, the times of its first and last line, and its lines' numbers.

    ``verdicts``: how many of its lines are verdicts, so that frames without any need not be read for them.
    """

    offset: int
    first_at: float
    last_at: float
    first: int
    lines: int
    verdicts: int = 0


@dataclass(frozen=True, slots=True)
class IndexLine:
    """The last line of a sealed segment: everything that is needed to read from the middle."""

    session: SessionLine | None
    frames: tuple[Frame, ...] = ()
    marks: tuple[Mark, ...] = ()


KINDS: Final[dict[str, type]] = {
    "session": SessionLine,
    "snapshot": Snapshot,
    "figures": Figures,
    "state": Changed,
    "verdict": VerdictsLine,
    "operation": Operation,
    "gap": Gap,
    "end": End,
    "index": IndexLine,
}
KIND_OF: Final = {kind: name for name, kind in KINDS.items()}


@dataclass(frozen=True, slots=True)
class Line:
    """One line as read; ``value`` is the JSON of a record of the type that ``KINDS`` says."""

    recorder: str
    number: int
    at: float
    kind: str
    value: bytes

    def record(self) -> Any:
        """The record. Raises ``Damaged``."""
        return decode(KINDS[self.kind], self.value)


def line(read: Line) -> bytes:
    """The line, ready to be written."""
    head = b'{"v":%d,"r":"%s","n":%d,"at":%r,"k":"%s",' % (
        FORMAT,
        read.recorder.encode(),
        read.number,
        read.at,
        read.kind.encode(),
    )
    return head + b'"%s":%s}\n' % (read.kind.encode(), read.value)


# The year 10000: a time beyond it is none.
LATEST: Final = 253_402_300_800.0
_GREATEST: Final = 2**63


class _Head(msgspec.Struct):
    v: int
    r: str
    n: int
    at: float
    k: str


# Built at import, so that no two threads have msgspec examine these types: see ``qmon.recording.format.codec``.
_HEAD: Final = msgspec.json.Decoder(_Head)
_LINE: Final = msgspec.json.Decoder(
    msgspec.defstruct("_Line", [(kind, msgspec.Raw, msgspec.Raw()) for kind in KINDS], bases=(_Head,), kw_only=True)
)


def read_line(text: bytes) -> Line | None:
    """The line; ``None`` if its version or kind is newer than this qmon. Raises ``Damaged`` if it is no line."""
    if len(text) > LINE_BYTES:
        raise Damaged(f"not a line of a recording: it has more than {LINE_BYTES // 2**20} MB")
    try:
        raw: Any = _LINE.decode(text)
        values = raw.v, raw.r, raw.n, raw.at, raw.k
        value = bytes(getattr(raw, raw.k)) if raw.k in KINDS else b"-"
    except (msgspec.DecodeError, RecursionError):  # or something in it that Python's own reader knows
        values, value = _read_by_python(text)
    version, recorder, number, at, kind = values
    if version > FORMAT or kind not in KINDS:
        return None
    if not value:
        raise Damaged(f"not a line of a recording: it has no {kind}")
    if not (abs(at) < LATEST and abs(number) < _GREATEST):  # NaN neither
        raise Damaged("not a line of a recording: its number or its time is none")
    return Line(recorder, number, at, kind, value)


def _read_by_python(text: bytes) -> tuple[tuple[int, str, int, float, str], bytes]:
    try:
        raw = plain_json(text)
        head = msgspec.convert(raw, _HEAD.type)
        value = json.dumps(raw[head.k]).encode() if head.k in raw else b""
    except (ValueError, RecursionError, Damaged) as problem:
        raise Damaged(f"not a line of a recording: {problem}") from None
    return (head.v, head.r, head.n, head.at, head.k), value
