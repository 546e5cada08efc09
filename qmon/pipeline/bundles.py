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
from pyspark.sql.types import LongType, StructField, StructType

from qmon.pipeline.schema import SAMPLES
from qmon.pipeline.sums import Places

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
