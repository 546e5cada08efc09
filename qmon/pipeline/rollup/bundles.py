"""Samples on their way through Spark: those of some queues of a day as one value, so that Java moves few rows and looks
into none. A value is a stream of Arrow's, compressed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BinaryType, IntegerType, LongType, StringType, StructField, StructType

from qmon.pipeline.lake.schema import SAMPLES
from qmon.pipeline.rollup.sums import Places

SHARES: Final = 64
"""Queues are told apart by their names into so many shares; all samples of a queue's day are in bundles of one share,
so that a share of a day can be rolled up alone.
"""
AT_MOST: Final = 2048
"""Samples of a bundle: Spark reads some hundred rows at a time."""
KEY: Final = ("target", "date")
"""What stands beside a bundle, and is the same for all that is in it."""
UNBUNDLED: Final = StructType(
    [*SAMPLES.fields, StructField("source", LongType()), StructField("place", LongType())],
)
_UNBUNDLED: Final = to_arrow_schema(UNBUNDLED)
INSIDE: Final = pa.schema([field for field in _UNBUNDLED if field.name not in KEY])
"""The columns of a bundle."""
BUNDLES: Final = StructType(
    [
        *(StructField(name, StringType()) for name in KEY),
        StructField("share", IntegerType()),
        StructField("bundle", BinaryType()),
    ]
)
"""Rows of bundles."""
_BUNDLES: Final = to_arrow_schema(BUNDLES)
_WRITING: Final = pa.ipc.IpcWriteOptions(compression="lz4")


def share(queue: str) -> int:
    """The share that a queue belongs to, the same on every machine."""
    return zlib.crc32(queue.encode("utf-8", "surrogatepass")) % SHARES


def bundled(samples: pa.RecordBatch) -> bytes:
    """Rows as in ``INSIDE`` as one value."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, samples.schema, options=_WRITING) as stream:
        stream.write_batch(samples)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def unbundled(value: pa.Buffer, columns: Iterable[str] | None = None) -> pa.RecordBatch:
    """The rows again; of these columns alone where any are named."""
    fields = None if columns is None else [INSIDE.get_field_index(name) for name in columns]
    with pa.ipc.open_stream(value, options=pa.ipc.IpcReadOptions(included_fields=fields)) as stream:
        return stream.read_next_batch()


def bundling(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For ``mapInArrow``: samples in, each with a queue; rows as in ``BUNDLES`` out."""
    for samples in batches:
        if samples.num_rows:
            yield _rows_of_bundles(samples)


def _rows_of_bundles(samples: pa.RecordBatch) -> pa.RecordBatch:
    queues = encoded(samples.column("queue"))
    shares = np.array([share(name) for name in queues.dictionary.to_pylist()], np.int64)[_places(queues)]
    code = shares
    for name in KEY:
        names = encoded(samples.column(name))
        code = code * len(names.dictionary) + _places(names)
        _, code = np.unique(code, return_inverse=True)  # so that it stays small
    order = np.argsort(code, kind="stable")
    starts = cuts(code[order])
    in_order, ends = samples.take(pa.array(order)), np.append(starts[1:], len(order))
    flat = pa.record_batch(
        [
            in_order.column(field.name).cast(field.type)
            if field.name in samples.schema.names
            else pa.nulls(len(order), field.type)
            for field in INSIDE
        ],
        schema=INSIDE,
    )
    columns = [in_order.column(name).take(pa.array(starts)) for name in KEY]
    columns.append(pa.array(shares[order][starts], pa.int32()))
    columns.append([bundled(flat.slice(start, end - start)) for start, end in zip(starts, ends, strict=True)])
    return pa.record_batch(columns, schema=_BUNDLES)


def unbundling(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For ``mapInArrow``: ``KEY`` and ``bundle`` in, rows as in ``UNBUNDLED`` out."""
    for batch in batches:
        for place in range(batch.num_rows):
            rows = unbundled(batch.column("bundle")[place].as_buffer())
            beside = {name: pa.repeat(batch.column(name)[place], rows.num_rows) for name in KEY}
            columns = [beside[name] if name in beside else rows.column(name) for name in _UNBUNDLED.names]
            yield pa.record_batch(columns, schema=_UNBUNDLED)


def cuts(keys: Places) -> Places:
    """Where bundles begin, of rows whose key says what may stand together."""
    new = np.ones(len(keys), bool)
    new[1:] = keys[1:] != keys[:-1]
    begins = np.flatnonzero(new)
    since = np.arange(len(keys)) - np.repeat(begins, np.diff(np.append(begins, len(keys))))
    return np.flatnonzero(since % AT_MOST == 0)


def encoded(column: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    """A column of names as a dictionary and places in it."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole if isinstance(whole, pa.DictionaryArray) else whole.dictionary_encode()


def _places(names: pa.DictionaryArray) -> Places:
    found: Places = names.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return found
