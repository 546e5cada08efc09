"""Converts lines to columns. Arrow parses many lines of JSON at once, without Python objects.

A line without the expected shape becomes a row with the reason why the line is unusable.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from qmon.recording.figure_rows.row_schema import FIGURES, LINE, LINE_COLUMN, ROWS, bucket_for
from qmon.recording.figure_rows.segment_lines import BadLineText, SegmentLine, parse_segment
from qmon.recording.format.frames import FORMAT_VERSION, Damaged, parse_bounded_json

# Bytes of lines that are parsed at a time, so that memory does not depend on the size of a segment.
_BATCH_BYTES: Final = 4 * 1024 * 1024

# Maximum difference between the server's clock and the clock of the recording machine. With a greater difference, the
# samples would count on a wrong day.
FARTHEST_S: Final = 86_400.0

# The year 10000. Later times are invalid.
_LATEST: Final = 253_402_300_800.0
_SHOWN_CHARACTERS: Final = 200

Places = npt.NDArray[np.int64]


def rows_from_segment(file: str, content: bytes) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a segment, in batches of one kind. Never raises, whatever the segment contains.

    ``file``: the path of the segment, for the column ``line``.
    """
    reads, size = list[SegmentLine](), 0
    for read in parse_segment(file, content):
        reads.append(read)
        size += len(read.text or b"")
        if size >= _BATCH_BYTES:
            yield from rows_from_lines(file, reads)
            reads, size = [], 0
    yield from rows_from_lines(file, reads)


def rows_from_lines(file: str, reads: list[SegmentLine]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of some lines of one segment, one batch per kind."""
    good = _parse_good_lines([read for read in reads if read.reason is None])
    for part, lines in good:
        of = _ParsedLines(file, part, lines)
        polls, reasons = of.is_poll(), of.rejection_reasons()
        for read, reason in zip(part, reasons, strict=True):
            read.reason = reason
        whole = np.array([reason is None for reason in reasons])
        yield from of.staged_rows(whole & polls, whole & ~polls)
    bad = [read for read in reads if read.reason is not None]
    if bad:
        said = {
            "file": file,
            "place": [read.place for read in bad],
            "text": [_shown_text(read.text) for read in bad],
            "reason": [read.reason for read in bad],
        }
        target = bad[0].session.target
        place = {"target": target, "bucket": bucket_for(target)}
        yield _staged_batch({"kind": "bad", "line": _line_struct_column(said, len(bad)), **place}, len(bad))


def _parse_good_lines(reads: list[SegmentLine]) -> Iterator[tuple[list[SegmentLine], pa.Table]]:
    """Parse lines with Arrow, all at once. After an error, split the lines in halves until only bad lines are left.

    Each bad line gets a reason.
    """
    if not reads:
        return
    try:
        lines = _parse_json_lines(b"\n".join(read.text or b"" for read in reads))
        if lines.num_rows != len(reads):
            raise pa.ArrowInvalid("not one JSON object per line")
    except pa.ArrowInvalid:
        if len(reads) == 1:
            reads[0].reason = _parse_failure(reads[0].text or b"")
            return
        middle = len(reads) // 2
        yield from _parse_good_lines(reads[:middle])
        yield from _parse_good_lines(reads[middle:])
    else:
        yield reads, lines


def _parse_json_lines(text: bytes) -> pa.Table:
    return pa.json.read_json(
        pa.BufferReader(text),
        read_options=pa.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
        parse_options=pa.json.ParseOptions(explicit_schema=LINE, unexpected_field_behavior="ignore"),
    )


def _parse_failure(text: bytes) -> str:
    """Return why Arrow cannot parse a line: a newer format, or an unknown shape."""
    try:
        version = parse_bounded_json(text)["v"]
        newer = version > FORMAT_VERSION
    except (Damaged, KeyError, TypeError):
        newer, version = False, 0
    return _newer_format_text(version) if newer else BadLineText.NOT_READABLE.render()


def _newer_format_text(version: object) -> str:
    return BadLineText.NEWER.render(version=version)


def _shown_text(text: bytes | None) -> str | None:
    return None if text is None else text.decode("utf-8", "replace")[:_SHOWN_CHARACTERS]


class _ParsedLines:
    """The parsed lines of one segment, as columns."""

    def __init__(self, file: str, reads: list[SegmentLine], lines: pa.Table) -> None:
        self._file, self._reads, self._lines = file, reads, lines
        self._figures = lines.column("figures").combine_chunks()
        self._operation = lines.column("operation").combine_chunks()
        self._lists = {name: _ListColumn(self._figures.field(name)) for name in FIGURES}

    def is_poll(self) -> npt.NDArray[np.bool_]:
        """Return true for each line that has figures."""
        found: npt.NDArray[np.bool_] = self._figures.is_valid().to_numpy(zero_copy_only=False)
        return found

    def rejection_reasons(self) -> list[str | None]:
        """Return why each line is unusable; ``None`` for a usable line."""
        at = pc.coalesce(self._figures.field("sampled_at"), self._operation.field("started_at"))
        timed = pc.fill_null(pc.and_(pc.greater(at, 0.0), pc.less(at, _LATEST)), False)
        written = self._column("at")
        apart = pc.abs(pc.subtract(self._figures.field("sampled_at"), written))
        far = pc.fill_null(pc.greater(apart, FARTHEST_S), False).to_numpy(zero_copy_only=False)
        named = pc.and_(pc.and_(self._column("r").is_valid(), self._column("n").is_valid()), written.is_valid())
        whole = pc.and_(timed, named).to_numpy(zero_copy_only=False)
        count = self._lists["queue"].lengths
        even = np.ones(len(self._reads), bool)
        for column in self._lists.values():
            even &= (column.lengths == 0) | (column.lengths == count)
        found: list[str | None] = [None] * len(self._reads)
        for place, (read, version) in enumerate(zip(self._reads, self._column("v").to_pylist(), strict=True)):
            if version is not None and version > FORMAT_VERSION:
                found[place] = _newer_format_text(version)
            elif not whole[place]:
                found[place] = BadLineText.INCOMPLETE.render()
            elif far[place]:
                found[place] = BadLineText.WRONG_CLOCK.render()
            elif not even[place]:
                found[place] = BadLineText.UNEVEN.render()
            elif not read.session.target:
                found[place] = BadLineText.NO_TARGET.render()
        return found

    def staged_rows(self, polls: npt.NDArray[np.bool_], operations: npt.NDArray[np.bool_]) -> Iterator[pa.RecordBatch]:
        """Yield the rows that the lines contain: kinds ``poll``, ``sample`` and ``operation``."""
        if polls.any():
            lines = np.flatnonzero(polls)
            common = self._common_columns(lines, self._figures.field("sampled_at").take(lines))
            common |= {
                "poll": self._figures.field("sequence").take(lines),
                "poll_s": self._figures.field("poll_s").take(lines),
            }
            samples, counts = self._sample_rows(lines, common)
            said = {
                "file": self._file,
                "queues": counts,
                "wait": self._figures.field("wait").take(lines),
                "sessions": self._figures.field("sessions").take(lines),
            }
            yield _staged_batch(common | {"kind": "poll", "line": _line_struct_column(said, len(lines))}, len(lines))
            yield samples
        if operations.any():
            lines = np.flatnonzero(operations)
            done = self._operation.take(lines)
            said = {"file": self._file, "operation": done}
            kind = {"kind": "operation", "line": _line_struct_column(said, len(lines))}
            yield _staged_batch(self._common_columns(lines, done.field("started_at")) | kind, len(lines))

    def _common_columns(self, lines: Places, at: pa.Array) -> dict[str, Any]:
        """Return the columns common to all rows of a line."""
        sessions = [self._reads[line].session for line in lines]
        names = {name: bucket_for(name) for name in {session.target for session in sessions}}
        return {
            "target": [session.target for session in sessions],
            "zone": [session.zone for session in sessions],
            "environment": pa.array([session.environment for session in sessions], pa.string()),
            "recorder": self._column("r").take(lines),
            "sequence": self._column("n").take(lines),
            "sampled_at": at,
            "date": _dates(at),
            "bucket": pa.array([names[session.target] for session in sessions], pa.int32()),
        }

    def _sample_rows(self, lines: Places, common: dict[str, Any]) -> tuple[pa.RecordBatch, pa.Array]:
        """Return one row per queue and line, sorted by queue, and the number of rows for each line.

        Queues without a name are dropped. If a line names a queue twice, only one row is kept.
        """
        counts = self._lists["queue"].lengths[lines]
        names = self._lists["queue"].values_for(lines, counts).dictionary_encode()
        line = np.repeat(np.arange(len(lines)), counts)
        code = names.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        order = np.lexsort((line, code))
        again = np.zeros(len(order), bool)
        again[1:] = (np.diff(code[order]) == 0) & (np.diff(line[order]) == 0)
        order = order[(code[order] >= 0) & ~again]
        at_line, places = pa.array(line[order]), pa.array(order)
        columns: dict[str, Any] = {
            name: _broadcast_column(value, len(lines)).take(at_line) for name, value in common.items()
        }
        columns |= {name: each.values_for(lines, counts).take(places) for name, each in self._lists.items()}
        kept = np.bincount(line[order], minlength=len(lines))
        return _staged_batch(columns | {"kind": "sample"}, len(order)), pa.array(kept, pa.int32())

    def _column(self, name: str) -> pa.Array:
        return self._lines.column(name).combine_chunks()


class _ListColumn:
    """A column with one list per line. A missing list counts as empty."""

    def __init__(self, lists: pa.Array) -> None:
        self.lengths: Places = pc.fill_null(lists.value_lengths(), 0).to_numpy(zero_copy_only=False).astype(np.int64)
        self._starts = np.cumsum(self.lengths) - self.lengths
        self._values = lists.flatten()

    def values_for(self, lines: Places, counts: Places) -> pa.Array:
        """Return the values of some lines in sequence: ``counts`` values for each line. An empty list gives nulls."""
        lengths, total = self.lengths[lines], int(counts.sum())
        if not lengths.any():
            return pa.nulls(total, self._values.type)
        if len(self._values) == total and np.array_equal(lengths, counts):
            return self._values
        within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        places = np.repeat(self._starts[lines], counts) + within
        return self._values.take(pa.array(places, mask=np.repeat(lengths == 0, counts)))


def _dates(at: pa.Array) -> pa.Array:
    """Return the day of each time, in UTC."""
    return pc.floor(pc.divide(at, 86400.0)).cast(pa.int32()).cast(pa.date32())


def _line_struct_column(fields: dict[str, Any], rows: int) -> pa.Array:
    """Return the column ``line`` of ``row_schema.ROWS``."""
    kind = LINE_COLUMN
    return pa.StructArray.from_arrays(
        [_broadcast_column(fields.get(field.name), rows, field.type).cast(field.type) for field in kind],
        fields=list(kind),
    )


def _staged_batch(columns: dict[str, Any], rows: int) -> pa.RecordBatch:
    """Return rows of ``row_schema.ROWS``. Missing columns are null; a single value is repeated for all rows."""
    return pa.record_batch(
        [_broadcast_column(columns.get(f.name), rows, f.type).cast(f.type) for f in ROWS], schema=ROWS
    )


def _broadcast_column(value: object, rows: int, kind: pa.DataType | None = None) -> pa.Array:
    if value is None:
        return pa.nulls(rows, kind)
    if isinstance(value, list):
        return pa.array(value, kind)
    return value if isinstance(value, pa.Array) else pa.repeat(pa.scalar(value), rows)
