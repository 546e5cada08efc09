"""Splits the bytes of a segment into lines. An unreadable part becomes a row with a reason.

After a damaged frame, reading continues with the next frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from qmon.recording.format.frames import (
    FIGURE_KINDS,
    FRAME_MAGIC,
    Damaged,
    check_integer_range,
    inflate_frame,
    line_kind,
    line_spans,
    parse_bounded_json,
)
from qmon.texts import Text


class BadLineText(Text):
    """Why a line of a recording is unusable."""

    NOT_A_LINE = "not a line of a recording"
    EMPTY = "the file is empty"
    AT_BYTE = "byte {byte}: {problem}"
    CUT = "byte {byte}: the file ends in the middle of this frame"
    NOT_READABLE = "not JSON, or a value has the wrong type"
    NEWER = "written by a newer qmon, format {version}"
    INCOMPLETE = "the recorder, the number or the time is missing"
    WRONG_CLOCK = "the server's clock is more than one day away from the clock of the recorder"
    UNEVEN = "the line does not have one figure for each queue"
    NO_TARGET = "the target is unknown: neither the session line nor the folder has its name"


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """The parts of a session line that the pipeline needs. ``environment``: ``None`` if ``qmon.toml`` sets none."""

    target: str
    zone: str = "UTC"
    environment: str | None = None


@dataclass(slots=True)
class SegmentLine:
    """One line that the pipeline needs, or an unreadable part with the reason."""

    place: int
    session: RecordedSession
    kind: str
    text: bytes | None
    reason: str | None = None


def parse_segment(path: str, content: bytes) -> Iterator[SegmentLine]:
    """Yield the lines that the pipeline needs from one segment, in order. Never raises, whatever the segment contains.

    Lines of other kinds are skipped without parsing. A line without a kind is yielded as damaged. The target's name is
    read from the session line, or, if there is none, from the folder ``target=…``.
    """
    session, place = RecordedSession(target_from_path(path)), 0
    for text, reason in _read_frames(content):
        for begin, end in line_spans(text):
            place += 1
            kind = line_kind(text, begin, end)
            if not kind:
                yield SegmentLine(place, session, "", text[begin:end], BadLineText.NOT_A_LINE.render())
            elif kind in FIGURE_KINDS:
                line = text[begin:end]
                try:
                    check_integer_range(line)
                except Damaged as problem:
                    yield SegmentLine(place, session, "", line, str(problem))
                    continue
                if kind == "session":
                    session = _parse_session(line, session)
                else:
                    yield SegmentLine(place, session, kind, line)
        if reason:
            yield SegmentLine(place + 1, session, "", None, reason)


def _read_frames(content: bytes) -> Iterator[tuple[bytes, str]]:
    """Yield the text of each frame, and the error found after this text, or an empty text."""
    data, at = memoryview(content), 0
    if not content:
        yield b"", BadLineText.EMPTY.render()
    while at < len(data):
        try:
            text, used = inflate_frame(data[at:], allow_partial=True)
        except Damaged as problem:
            text, used, reason = b"", 0, BadLineText.AT_BYTE.render(byte=at, problem=problem)
        else:
            reason = "" if used else BadLineText.CUT.render(byte=at)
        if used:
            yield text, ""
            at += used
            continue
        yield text[: text.rfind(b"\n") + 1], reason
        following = content.find(FRAME_MAGIC, at + 1)
        at = following if following >= 0 else len(data)


def _parse_session(line: bytes, previous: RecordedSession) -> RecordedSession:
    try:
        session = parse_bounded_json(line)["session"]
        environment = str(session.get("environment") or "") or previous.environment
        return RecordedSession(str(session["target"]), str(session.get("zone") or previous.zone), environment)
    except (Damaged, KeyError, TypeError, AttributeError):
        return previous


def target_from_path(path: str) -> str:
    """Return the target in the folder ``target=…`` of a segment, or an empty text."""
    folders = [part.removeprefix("target=") for part in path.split("/") if part.startswith("target=")]
    return unquote(folders[-1]) if folders else ""
