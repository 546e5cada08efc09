"""Defines, reads and writes the kinds of lines in a recording. FORMAT.md has examples.

Every line is one JSON object with the version of the format, the recorder's id, the line's number and the time on the
recording machine's clock. Lines are numbered 1, 2, 3 … without gaps over all segments of a recorder.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from qmon.model.figure import Verdict
from qmon.model.operation_records import Operation
from qmon.model.snapshot import Snapshot
from qmon.recording.format.codec import decode
from qmon.recording.format.frames import FORMAT_VERSION, LINE_BYTES, Damaged, parse_bounded_json
from qmon.recording.format.poll_figures import Figures
from qmon.texts import Text


class RecordText(Text):
    """Why a line is not a line of a recording."""

    TOO_LONG = "it is longer than {megabytes} MB"
    NO_KEY = "it has no {key}"
    NO_NUMBER_OR_TIME = "its number or its time is invalid"
    NOT_A_LINE = "not a line of a recording: {problem}"


@dataclass(frozen=True, slots=True)
class SessionLine:
    """The recorded target.

    ``zone``: IANA time zone of the recording machine. ``interval_s``: the requested poll interval.
    """

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
    """All verdicts of a queue from this time on, worst first. The line is written when a code or a severity changes.

    A ``cannot tell`` is only written if it lasts. ``repeated``: a segment begins here, and the verdicts already held
    before. ``undecided``: codes of earlier verdicts that may still hold. ``ahead_s``: seconds by which the server's
    clock is ahead of the clock of the recording machine.
    """

    queue: str
    holds: tuple[Verdict, ...] = ()
    repeated: bool = False
    undecided: tuple[str, ...] = ()
    ahead_s: float = 0.0


@dataclass(frozen=True, slots=True)
class PhaseChange:
    """The source entered another phase: connecting, live, late, lost or closed."""

    phase: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """The number of snapshots that were lost since the previous line, and the reason."""

    lost: int
    reason: str


@dataclass(frozen=True, slots=True)
class End:
    """The last line of a recorder that was closed or that stopped, with the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class JumpPoint:
    """A time that a replay can jump to. ``kind``: ``operation``, or ``verdict`` (the start of a warning or worse)."""

    at: float
    kind: str
    queue: str
    text: str


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame: its offset in the file, the times of its first and last line, its first line number and line count.

    ``verdicts``: number of verdict lines, so that a search for verdicts can skip frames without verdicts.
    """

    offset: int
    first_at: float
    last_at: float
    first: int
    lines: int
    verdicts: int = 0


@dataclass(frozen=True, slots=True)
class IndexLine:
    """The last line of a sealed segment, with everything needed to start reading in the middle of the segment."""

    session: SessionLine | None
    frames: tuple[Frame, ...] = ()
    marks: tuple[JumpPoint, ...] = ()


KINDS: Final[dict[str, type]] = {
    "session": SessionLine,
    "snapshot": Snapshot,
    "figures": Figures,
    "state": PhaseChange,
    "verdict": VerdictsLine,
    "operation": Operation,
    "gap": Gap,
    "end": End,
    "index": IndexLine,
}
KIND_BY_TYPE: Final = {kind: name for name, kind in KINDS.items()}


@dataclass(frozen=True, slots=True)
class Line:
    """One line as read. ``value``: JSON of a record of the type given by ``KINDS``."""

    recorder: str
    number: int
    at: float
    kind: str
    value: bytes

    def decode_record(self) -> Any:
        """Decode the record in ``value``. Raises ``Damaged``."""
        return decode(KINDS[self.kind], self.value)


def encode_line(parsed: Line) -> bytes:
    """Return the bytes of the line, with its newline."""
    head = b'{"v":%d,"r":"%s","n":%d,"at":%r,"k":"%s",' % (
        FORMAT_VERSION,
        parsed.recorder.encode(),
        parsed.number,
        parsed.at,
        parsed.kind.encode(),
    )
    return head + b'"%s":%s}\n' % (parsed.kind.encode(), parsed.value)


# The year 10000. Later times are invalid.
LATEST_TIME: Final = 253_402_300_800.0
_GREATEST: Final = 2**63


class _Head(msgspec.Struct):
    v: int
    r: str
    n: int
    at: float
    k: str


# Built at import, so that two threads never make msgspec build these types: see ``qmon.recording.format.codec``.
_HEAD: Final = msgspec.json.Decoder(_Head)
_LINE: Final = msgspec.json.Decoder(
    msgspec.defstruct("_Line", [(kind, msgspec.Raw, msgspec.Raw()) for kind in KINDS], bases=(_Head,), kw_only=True)
)


def parse_line(text: bytes) -> Line | None:
    """Return the parsed line, or ``None`` if this qmon is too old for its version or kind.

    Raises ``Damaged`` if the line is invalid.
    """
    if len(text) > LINE_BYTES:
        raise Damaged(RecordText.NOT_A_LINE.render(problem=RecordText.TOO_LONG.render(megabytes=LINE_BYTES // 2**20)))
    try:
        raw: Any = _LINE.decode(text)
        values = raw.v, raw.r, raw.n, raw.at, raw.k
        value = bytes(getattr(raw, raw.k)) if raw.k in KINDS else b"-"
    except (msgspec.DecodeError, RecursionError):  # damaged, or only readable with Python's `json`
        values, value = _parse_with_python(text)
    version, recorder, number, at, kind = values
    if version > FORMAT_VERSION or kind not in KINDS:
        return None
    if not value:
        raise Damaged(RecordText.NOT_A_LINE.render(problem=RecordText.NO_KEY.render(key=kind)))
    if not (abs(at) < LATEST_TIME and abs(number) < _GREATEST):  # also false for NaN
        raise Damaged(RecordText.NOT_A_LINE.render(problem=RecordText.NO_NUMBER_OR_TIME))
    return Line(recorder, number, at, kind, value)


def _parse_with_python(text: bytes) -> tuple[tuple[int, str, int, float, str], bytes]:
    try:
        raw = parse_bounded_json(text)
        head = msgspec.convert(raw, _HEAD.type)
        value = json.dumps(raw[head.k]).encode() if head.k in raw else b""
    except (ValueError, RecursionError, Damaged) as problem:
        raise Damaged(RecordText.NOT_A_LINE.render(problem=problem)) from None
    return (head.v, head.r, head.n, head.at, head.k), value
