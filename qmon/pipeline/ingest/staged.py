"""The segments of a batch as rows, checked against schemas. Bad lines are stored separately, each with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs
from pyspark.sql.pandas.types import to_arrow_schema

from qmon.pipeline.lake.delta import TableLog, WrittenFiles
from qmon.pipeline.lake.partition_writer import PartitionWriter
from qmon.pipeline.lake.schema import STAGED
from qmon.pipeline.lake.storage import Storage
from qmon.pipeline.rollup.minute_sums import HOUR_S, add_up_minutes
from qmon.pipeline.rollup.trouble_runs import RUN_COLUMNS, select_trouble
from qmon.recording.figure_rows.line_rows import rows_from_segment
from qmon.recording.figure_rows.row_schema import PARTITIONS, bucket_for
from qmon.recording.figure_rows.rows_file import read_rows

_FOLDER: Final = "_staged"
_DAY_S: Final = 86400.0


@dataclass(frozen=True, slots=True)
class StagedBatch:
    """The staged rows of a batch. They are decoded once and stored in separate files for each kind."""

    storage: Storage
    stamp: str

    @property
    def _log(self) -> TableLog:
        return TableLog(self.storage.full_path(_FOLDER), STAGED)

    def kind_folder(self, kind: str) -> str:
        """Return the folder of one kind of rows, relative to the lake."""
        return f"{_FOLDER}/{self.stamp}/kind={kind}"

    def kind_files(self, kind: str) -> WrittenFiles:
        """Return the files of one kind."""
        return self._log.written_files(f"{self.stamp}/kind={kind}")

    def read_files(self, files: WrittenFiles, names: Sequence[str]) -> pa.Table:
        """Return columns of staged files. A name with a dot is a field of a column."""
        return self._log.read_columns(files.paths, names)

    def read_partitions(
        self, files: WrittenFiles, names: Sequence[str]
    ) -> Iterator[tuple[dict[str, str | None], pa.Table]]:
        """Yield the values of the partition columns and the rows of each file."""
        for add in files.adds:
            yield dict(add.partition_values), self._log.read_columns([add.path], names)

    def read_minutes(self, files: WrittenFiles) -> pa.Table:
        """Return the sums of minutes (``schema.MINUTE_SUMS``) in files of the kind ``minute``."""
        minutes = self.read_files(files, ["minute"])["minute"]
        fields = list(minutes.type)
        return pa.table([pc.struct_field(minutes, each.name) for each in fields], schema=pa.schema(fields))

    def delete_files(self) -> None:
        """Delete all staged files, including the files of interrupted batches."""
        self.storage.delete_path(_FOLDER)


def stage_segments(storage: Storage, segments: Mapping[str, int], stamp: str) -> StagedBatch:
    """Write the rows of segments to the staging folder. ``segments``: full path and size in bytes of each segment.

    If the lake and a segment are on this machine, the rows are copied from the files that the recorder wrote next to
    the segment. Without a usable file, the segment is decoded on the executors.
    """
    here = storage.local_folder()
    near = {path: size for path, size in segments.items() if here is not None and path.startswith("file:")}
    rest = [path for path in segments if path not in near]
    if here is not None and near:
        rest += stage_rows_files(near, here / _FOLDER / stamp)
    if rest:
        read = storage.session.read.format("binaryFile").option("__globPaths__", "false").load(rest)
        rows = read.select("path", "content").mapInArrow(staged_batches, STAGED)
        place = storage.full_path(_FOLDER, stamp)
        rows.write.mode("append").partitionBy("kind", *PARTITIONS).parquet(place)
    return StagedBatch(storage, stamp)


def staged_batches(segments: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Convert segments (``path``, ``content``) to rows of ``schema.STAGED``. This is a function for ``mapInArrow``."""
    schema = to_arrow_schema(STAGED)
    for batch in segments:
        for path, content in zip(batch.column("path"), batch.column("content"), strict=True):
            for rows in rows_from_segment(str(path.as_py()), content.as_py()):
                yield _full_rows(rows, schema)
                if rows.num_rows and rows["kind"][0].as_py() == "sample":
                    for kind, more in _rows_from_samples(pa.Table.from_batches([rows])).items():
                        for part in more.append_column("kind", pa.repeat(pa.scalar(kind), more.num_rows)).to_batches():
                            yield _full_rows(part, schema)


def _full_rows(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return rows with all columns of a schema. Missing columns are null."""
    there = set(rows.schema.names)
    columns = [rows[each.name] if each.name in there else pa.nulls(rows.num_rows, each.type) for each in schema]
    return pa.record_batch(columns, schema=schema)


def _rows_from_samples(samples: pa.Table) -> dict[str, pa.Table]:
    """Return the rows of the kinds ``minute`` and ``trouble`` for samples of one segment."""
    sums = add_up_minutes(samples, HOUR_S)
    days = np.floor(sums["start_at"].to_numpy() / _DAY_S).astype(np.int32)
    targets = sums["target"].dictionary_encode()
    buckets = pa.array([bucket_for(target) for target in targets.dictionary.to_pylist()], pa.int32())
    found: dict[str, Any] = {"minute": sums.to_struct_array(), "date": pa.array(days).cast(pa.date32())}
    found["bucket"] = buckets.take(targets.indices)
    return {"minute": pa.table(found), "trouble": select_trouble(samples).select([*RUN_COLUMNS, *PARTITIONS])}


def stage_rows_files(segments: Mapping[str, int], folder: Path) -> list[str]:
    """Write the rows of segments that have a usable file next to them to a folder, in the layout of Spark's partitions.

    Returns the other segments. ``segments``: full path of each segment on this machine, and its size in bytes.
    """
    place, others = pa.fs.LocalFileSystem(), list[str]()
    # The folder is also listed if no segment has rows. Like Spark, create it with the usual mode of new folders.
    place.create_dir(str(folder))
    writer = PartitionWriter(place, str(folder))
    for path, size in segments.items():
        kinds = read_rows(Path(path.removeprefix("file:")), size, path)
        if kinds is None:
            others.append(path)
            continue
        if "sample" in kinds:
            kinds |= _rows_from_samples(kinds["sample"])
        for kind, rows in kinds.items():
            writer.add_rows(rows, kind)
    writer.write_buffer()
    return others
