"""Stages the rows of segments: from their Parquet files in this process, or from the segments on the executors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs
import pyarrow.parquet as pq

from qmon.recording.figure_rows.line_rows import rows_from_segment
from qmon.recording.figure_rows.rows_file import read_rows_file

# Maximum number of rows in memory. Files of this size take about 1.5 MB.
_BUFFERED_ROWS: Final = 250_000
_KEY: Final = ("kind", "date", "bucket")


def staged_batches(segments: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Convert segments (``path``, ``content``) to rows of ``schema.STAGED``. This is a function for ``mapInArrow``."""
    for batch in segments:
        for path, content in zip(batch.column("path"), batch.column("content"), strict=True):
            yield from rows_from_segment(str(path.as_py()), content.as_py())


def stage_rows_files(segments: Mapping[str, int], folder: Path) -> list[str]:
    """Write the rows of segments that have a usable Parquet file to a folder, in the layout of Spark's partitions.

    Returns the other segments. ``segments``: full path of each segment on this machine, and its size in bytes.
    """
    writer, others = _PartitionedWriter(folder), list[str]()
    for path, size in segments.items():
        rows = read_rows_file(Path(path.removeprefix("file:")), size, path)
        if rows is None:
            others.append(path)
        else:
            writer.add_rows(rows)
    writer.write_buffer()
    return others


class _PartitionedWriter:
    """Writes rows to Parquet files below ``folder``, in folders for each kind, date and bucket."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tables: dict[tuple[object, ...], list[pa.Table]] = {}
        self._buffered = 0
        self._files = 0

    def add_rows(self, rows: pa.Table) -> None:
        for key in rows.group_by(_KEY).aggregate([]).to_pylist():
            found = rows
            for name, value in key.items():
                column = pc.field(name)
                found = found.filter(column.is_null() if value is None else column == value)
            self._tables.setdefault(tuple(key.values()), []).append(found.drop_columns(list(_KEY)))
        self._buffered += rows.num_rows
        if self._buffered >= _BUFFERED_ROWS:
            self.write_buffer()

    def write_buffer(self) -> None:
        for (kind, date, bucket), tables in self._tables.items():
            day = "__HIVE_DEFAULT_PARTITION__" if date is None else date
            place = self._folder / f"kind={kind}" / f"date={day}" / f"bucket={bucket}"
            pa.fs.LocalFileSystem().create_dir(str(place))  # like Spark, with the usual mode of new folders
            self._files += 1
            pq.write_table(pa.concat_tables(tables), place / f"rows-{self._files:05d}.parquet", compression="snappy")
        self._tables.clear()
        self._buffered = 0
