"""Writes rows to Parquet files in a folder for each partition, with Arrow and without Spark."""

from __future__ import annotations

import contextlib
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs
import pyarrow.parquet as pq

from qmon.recording.figure_rows.row_schema import PARTITIONS

# Maximum number of rows in memory. Files of this size take about 2 MB.
_BUFFERED_ROWS: Final = 250_000

# The folder of rows without a value, as Spark names it.
_NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"


class PartitionWriter:
    """Writes rows below a folder, in the layout of Spark: ``kind=…/date=…/bucket=…/rows-00001.parquet``.

    ``folder``: path within ``place``.
    """

    def __init__(self, place: pa.fs.FileSystem, folder: str) -> None:
        self._place = place
        self._folder = folder
        self._tables: dict[str, list[pa.Table]] = {}
        self._buffered = 0
        self._files = 0

    def add_rows(self, rows: pa.Table, kind: str | None = None) -> None:
        """Add rows with the columns ``date`` and ``bucket``. ``kind``: another level of folders, above."""
        for values in rows.group_by(list(PARTITIONS)).aggregate([]).to_pylist():
            found = rows
            for name, value in values.items():
                if pc.count_distinct(rows[name], "all").as_py() > 1:
                    found = found.filter(pc.field(name).is_null() if value is None else pc.field(name) == value)
            self.add_partition(found.drop_columns(list(PARTITIONS)), values["date"], values["bucket"], kind)

    def add_partition(self, rows: pa.Table, date: object, bucket: object, kind: str | None = None) -> None:
        """Add rows of one partition, without partition columns."""
        if not rows.num_rows:
            return
        values = {"date": date, "bucket": bucket}
        folder = "/".join(f"{name}={_NO_VALUE if value is None else value}" for name, value in values.items())
        if kind is not None:
            folder = f"kind={kind}/{folder}"
        self._tables.setdefault(folder, []).append(rows)
        self._buffered += rows.num_rows
        if self._buffered >= _BUFFERED_ROWS:
            self.write_buffer()

    def write_buffer(self) -> None:
        """Write the rows that are still in memory."""
        for folder, tables in self._tables.items():
            self._files += 1
            path = f"{self._folder}/{folder}/rows-{self._files:05d}.parquet"
            with open_output(self._place, path) as output:
                pq.write_table(pa.concat_tables(tables), output, compression="zstd", compression_level=1)
        self._tables.clear()
        self._buffered = 0


def open_output(place: pa.fs.FileSystem, path: str) -> pa.NativeFile:
    """Create a file and, if the file system has folders, its folder."""
    with contextlib.suppress(NotImplementedError):  # an object store has no folders
        place.create_dir(path.rpartition("/")[0])
    return place.open_output_stream(path)
