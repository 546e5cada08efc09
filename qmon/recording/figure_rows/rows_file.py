"""The rows of a sealed segment in a Parquet file next to it, so that the pipeline need not parse lines.

The segment stays the truth. A file that is missing, damaged, or made by another version of qmon is not used. Then the
file of figures is used, if there is one (``qmon.recording.figures_file``).
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
from qmon.recording.figures_file import read_figures_file
from qmon.recording.read.recording_paths import rows_path

# Increase this number if the same segment gives other rows than before.
ROWS_VERSION: Final = 2
_KEY: Final = b"qmon"


def write_rows_file(segment: Path) -> Path:
    """Write the rows of a sealed segment to the Parquet file next to it. Return the path of this file.

    Raises ``OSError``.
    """
    size = segment.stat().st_size
    content = read_figures_file(segment, size) or segment.read_bytes()
    output, schema = pa.BufferOutputStream(), ROWS.with_metadata({_KEY: _stamp(size)})
    with pq.ParquetWriter(output, schema, compression="zstd", write_page_checksum=True) as writer:
        for rows in _tables_by_kind(rows_from_segment("/".join(segment.parts[-3:]), content)).values():
            writer.write_table(rows.cast(schema))
    path = rows_path(segment)
    files.replace_file(path, output.getvalue().to_pybytes())
    return path


def read_rows(segment: Path, size: int, file: str) -> dict[str, pa.Table] | None:
    """Return the rows of a segment from the files next to it, keyed by kind, or ``None`` if no file can be used.

    The rows have the columns of ``row_schema.ROWS``, except columns that this kind does not need.

    Args:
        segment: path of the segment.
        size: size of the segment in bytes.
        file: the path of the segment for the column ``line``.
    """
    found = _read_rows_file(segment, size)
    if found is not None:
        return {kind: rows if kind == "sample" else _with_file(rows, file) for kind, rows in found.items()}
    content = read_figures_file(segment, size)
    if content is None:
        return None
    kinds = _tables_by_kind(rows_from_segment(file, content))
    return {kind: rows.select(_columns_for(kind)) for kind, rows in kinds.items()}


def _read_rows_file(segment: Path, size: int) -> dict[str, pa.Table] | None:
    kinds: dict[str, list[pa.Table]] = {}
    try:
        with pq.ParquetFile(rows_path(segment), page_checksum_verification=True) as parquet:
            stamp = (parquet.metadata.metadata or {}).get(_KEY)
            if stamp != _stamp(size) or not parquet.schema_arrow.equals(ROWS):
                return None
            for group in range(parquet.num_row_groups):
                kind = parquet.metadata.row_group(group).column(0).statistics.min
                kinds.setdefault(kind, []).append(parquet.read_row_group(group, _columns_for(kind)))
    except (OSError, ValueError, pa.ArrowException):
        return None
    return {kind: pa.concat_tables(tables) for kind, tables in kinds.items()}


def _columns_for(kind: str) -> list[str]:
    """Return the columns that rows of a kind need. Only samples have no column ``line``."""
    return [name for name in ROWS.names if name != "kind" and (kind, name) != ("sample", "line")]


def _stamp(size: int) -> bytes:
    return json.dumps({"version": ROWS_VERSION, "segment_bytes": size}).encode()


def _tables_by_kind(batches: Iterable[pa.RecordBatch]) -> dict[str, pa.Table]:
    """Return one table for each kind of rows. Each batch has rows of one kind."""
    kinds: dict[str, list[pa.RecordBatch]] = {}
    for batch in batches:
        if batch.num_rows:
            kinds.setdefault(batch["kind"][0].as_py(), []).append(batch)
    return {kind: pa.Table.from_batches(kinds[kind], ROWS) for kind in sorted(kinds)}


def _with_file(rows: pa.Table, file: str) -> pa.Table:
    """Return rows with this path in the field ``file`` of the column ``line``."""
    column, field = rows.schema.get_field_index("line"), LINE_COLUMN.get_field_index("file")

    def replace_file(chunk: pa.StructArray) -> pa.StructArray:
        parts = chunk.flatten()
        parts[field] = pa.repeat(pa.scalar(file, pa.string()), len(chunk))
        return pa.StructArray.from_arrays(parts, fields=list(LINE_COLUMN))

    lines = pa.chunked_array([replace_file(chunk) for chunk in rows["line"].chunks], LINE_COLUMN)
    return rows.set_column(column, ROWS.field("line"), lines)
