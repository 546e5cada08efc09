"""Exports part of a recording as one file: an ordinary segment whose line numbers start at 1."""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qmon.errors import BadInput
from qmon.recording.read.recording_reader import RecordingReader
from qmon.recording.write.rolling_writer import RollingWriter
from qmon.recording.write.segment_writer import CannotWrite, SegmentWriter
from qmon.texts import Text


class ExportText(Text):
    """Why nothing was exported."""

    EMPTY_RANGE = "--from must be before --to; nothing was written"
    EXISTS = "{path} already exists; nothing was written"
    UNWRITABLE = "cannot write {path}: {reason}"
    NOTHING_RECORDED = "nothing was recorded between --from and --to; nothing was written"


# Seconds of earlier data to include, so that the first figures have rates.
LEAD_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The result of an export. ``first_at`` and ``last_at``: times of the first and last snapshot, epoch seconds."""

    snapshots: int
    first_at: float
    last_at: float
    bytes: int


def export_range(reader: RecordingReader, since_at: float, until_at: float, path: Path) -> ExportResult:
    """Write the recording between two times (seconds since the epoch) to a new file.

    The two minutes before the first time are also written. Raises ``BadInput`` if nothing was recorded between the two
    times, if the file exists, or if it cannot be written.
    """
    if since_at >= until_at:
        raise BadInput(ExportText.EMPTY_RANGE)
    if path.exists():
        raise BadInput(ExportText.EXISTS.render(path=path))
    work = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        return _write_range(reader, since_at, until_at, path, work)
    except (CannotWrite, OSError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise BadInput(ExportText.UNWRITABLE.render(path=path, reason=reason)) from problem
    finally:
        with contextlib.suppress(OSError):  # the file was already renamed, or never created
            work.unlink()


def _write_range(reader: RecordingReader, since_at: float, until_at: float, path: Path, work: Path) -> ExportResult:
    times: list[float] = []
    writer: RollingWriter | None = None
    for segment, line in reader.read_lines(since_at - LEAD_S):
        if line.at > until_at:
            break
        if writer is None:
            writer = RollingWriter(work.parent, secrets.token_hex(6), segment.session or reader.session)
            writer.begin_segment(SegmentWriter(work, path), line.at)
        if line.kind == "snapshot":
            times.append(line.at)
            writer.roll_frame(line.at)
        if line.kind == "session":
            writer.session = segment.decode_line(line) or writer.session
        if line.kind not in ("index", "end"):
            writer.add_line(line)
        writer.flush(line.at)
    if writer is None or not any(at >= since_at for at in times):
        if writer is not None:
            writer.abandon_segment()
        raise BadInput(ExportText.NOTHING_RECORDED)
    writer.seal_segment(times[-1], None)
    return ExportResult(len(times), times[0], times[-1], path.stat().st_size)
