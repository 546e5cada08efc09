"""The rows of a sealed segment in a Parquet file next to it, so that the pipeline need not read the segment.

The segment stays the truth. A file that is missing, damaged, or made by another version of qmon is not used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from qmon import files
from qmon.recording.figure_rows.line_rows import rows_from_segment
from qmon.recording.figure_rows.row_schema import LINE_COLUMN, ROWS
from qmon.recording.read.recording_paths import rows_path

# Increase this number if the same segment gives other rows than before.
ROWS_VERSION: Final = 1
_KEY: Final = b"qmon"


def write_rows_file(segment: Path) -> Path:
    """Write the rows of a sealed segment to the Parquet file next to it. Return the path of this file.

    Raises ``OSError``.
    """
    content = segment.read_bytes()
    rows = _sort_by_kind(rows_from_segment("/".join(segment.parts[-3:]), content))
    found = rows.replace_schema_metadata({_KEY: _stamp(len(content))})
    output = pa.BufferOutputStream()
    pq.write_table(found, output, compression="zstd", write_page_checksum=True)
    path = rows_path(segment)
    files.replace_file(path, output.getvalue().to_pybytes())
    return path


def read_rows_file(segment: Path, size: int, file: str) -> pa.Table | None:
    """Return the rows of a segment (``row_schema.ROWS``) from its Parquet file, or ``None`` if it cannot be used.

    Args:
        segment: path of the segment.
        size: size of the segment in bytes.
        file: the path of the segment for the column ``line``.
    """
    try:
        with pq.ParquetFile(rows_path(segment), page_checksum_verification=True) as parquet:
            stamp = (parquet.metadata.metadata or {}).get(_KEY)
            if stamp != _stamp(size) or not parquet.schema_arrow.equals(ROWS):
                return None
            rows = parquet.read()
    except (OSError, ValueError, pa.ArrowException):
        return None
    return rows.set_column(ROWS.get_field_index("line"), ROWS.field("line"), _with_file(rows["line"], file))


def _stamp(size: int) -> bytes:
    return json.dumps({"version": ROWS_VERSION, "segment_bytes": size}).encode()


def _sort_by_kind(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Return the batches, of one kind each, as a table in which the rows of a kind are next to each other."""
    kinds: dict[str, list[pa.RecordBatch]] = {}
    for batch in batches:
        if batch.num_rows:
            kinds.setdefault(batch["kind"][0].as_py(), []).append(batch)
    return pa.Table.from_batches([batch for kind in sorted(kinds) for batch in kinds[kind]], ROWS)


def _with_file(lines: pa.ChunkedArray, file: str) -> pa.ChunkedArray:
    """Return the column ``line`` with this path in its field ``file``. Rows without a line stay null."""
    place = LINE_COLUMN.get_field_index("file")

    def replace_file(chunk: pa.StructArray) -> pa.StructArray:
        parts = chunk.flatten()
        parts[place] = pa.repeat(pa.scalar(file, pa.string()), len(chunk))
        return pa.StructArray.from_arrays(parts, fields=list(LINE_COLUMN), mask=chunk.is_null())

    return pa.chunked_array([replace_file(chunk) for chunk in lines.chunks], LINE_COLUMN)
