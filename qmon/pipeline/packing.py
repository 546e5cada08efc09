"""Samples on their way to where they are rolled up: many rows of a queue as one, so that Spark moves few rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, DoubleType, StringType, StructField, StructType

from qmon.pipeline.bundles import KEY, unbundled
from qmon.pipeline.rates import FIGURES
from qmon.pipeline.sums import Places

SHARED: Final = ("target", "date", "queue", "recorder", "zone")
"""What all samples of a row have in common."""
_EACH: Final = ("sampled_at", "span_s", *FIGURES)
PACKED: Final = StructType(
    [
        *(StructField(name, StringType()) for name in SHARED),
        *(StructField(name, ArrayType(DoubleType())) for name in _EACH),
    ]
)
_SCHEMA: Final = to_arrow_schema(PACKED)


def packing(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """For ``mapInArrow``: samples in, with the columns of ``PACKED``; rows as in ``PACKED`` out, one list a figure."""
    for samples in batches:
        if samples.num_rows:
            yield packed(samples)


def packed(samples: pa.RecordBatch) -> pa.RecordBatch:
    """One row for all samples that have ``SHARED`` in common."""
    code = np.zeros(samples.num_rows, np.int64)
    for name in SHARED:
        names = encoded(samples.column(name))
        places = names.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        _, code = np.unique(code * len(names.dictionary) + places, return_inverse=True)  # so that it stays small
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.diff(code[order], prepend=-1))
    offsets = pa.array(np.append(starts, len(order)), pa.int32())
    columns = [samples.column(name).take(pa.array(order[starts])) for name in SHARED]
    columns += [pa.ListArray.from_arrays(offsets, samples.column(name).take(pa.array(order))) for name in _EACH]
    return pa.record_batch(
        [column.cast(field.type) for column, field in zip(columns, _SCHEMA, strict=True)], schema=_SCHEMA
    )


def unpacked(rows: pa.Table) -> pa.Table:
    """One row a sample again; what they have in common as dictionaries of Arrow's."""
    lengths = rows.column(_EACH[0]).combine_chunks().value_lengths().to_numpy(zero_copy_only=False)
    columns = {name: _repeated(rows.column(name), lengths) for name in SHARED}
    for name in _EACH:
        columns[name] = rows.column(name).combine_chunks().flatten()
    return pa.table(columns)


def needed(bundles: pa.Table) -> pa.Table:
    """Of bundles with ``KEY`` beside them what is rolled up, one row a sample, as ``unpacked`` gives it."""
    inside = [name for name in (*SHARED, *_EACH) if name not in KEY]
    parts = [unbundled(bundle.as_buffer(), inside) for bundle in bundles.column("bundle")]
    lengths = np.array([part.num_rows for part in parts])
    columns = {name: _repeated(bundles.column(name), lengths) for name in KEY}
    together = pa.Table.from_batches(parts)
    for name in inside:
        column = together.column(name).combine_chunks()
        columns[name] = encoded(column) if name in SHARED else column
    return pa.table(columns)


def _repeated(column: pa.ChunkedArray, times: Places) -> pa.DictionaryArray:
    """Each name as often as it says, as a dictionary of Arrow's."""
    names = encoded(column)
    places = np.repeat(names.indices.to_numpy(zero_copy_only=False), times)
    return pa.DictionaryArray.from_arrays(pa.array(places), names.dictionary)


def encoded(column: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    """A column of names as a dictionary and places in it."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole if isinstance(whole, pa.DictionaryArray) else whole.dictionary_encode()
