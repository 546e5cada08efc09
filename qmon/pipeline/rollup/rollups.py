"""From samples to minutes, hours and days: sums of what moved and of time, and percentiles weighted by time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from qmon.pipeline.lake.schema import ROLLUPS
from qmon.pipeline.rollup.bundles import BUNDLES, KEY, bundling, encoded, unbundled
from qmon.pipeline.rollup.rates import FIGURES, Measured, ranks
from qmon.pipeline.rollup.sums import Places, Stretches

GRAINS: Final = {"minutes": 60, "hours": 3600, "days": 86400}
"""Seconds of each."""
ROLLED: Final = StructType([StructField("grain", StringType()), *ROLLUPS.fields])
AT_ONCE: Final = 100_000
"""About so many samples are rolled up together; a queue's day is never split."""
_KEY: Final = (*KEY, "queue")
_NAMES: Final = ("queue", "recorder", "zone")
_FIGURES: Final = ("sampled_at", "span_s", *FIGURES)


def rollups(samples: DataFrame, grains: Mapping[str, int] = GRAINS) -> DataFrame:
    """Sums over the stretches of each grain (name → seconds), from unique samples; ``grain`` says which it is.

    A sample's interval belongs to the stretch that it ends in. Percentiles come from the samples themselves, each as
    often as it lasted milliseconds, with a straight line between neighbours: never from other percentiles.
    """
    columns = samples.select(*KEY, *_NAMES, *_FIGURES)
    return rollups_of(columns.mapInArrow(bundling, BUNDLES), samples.count(), grains)


def rollups_of(bundles: DataFrame, samples: int, grains: Mapping[str, int] = GRAINS) -> DataFrame:
    """The same from bundles, of so many samples in all, which must be unique: Java looks into none of them."""
    seconds = dict(grains)

    def roll(group: pa.Table) -> pa.Table:
        return rolled(needed(group), seconds)

    # Bundles with the same key are in the same group, and about ``AT_ONCE`` samples are in each.
    group = F.pmod(F.xxhash64(*KEY, "share"), F.lit(1 + samples // AT_ONCE)).cast("int").alias("group")
    return bundles.select(group, *KEY, "bundle").groupBy("group").applyInArrow(roll, ROLLED)


def needed(bundles: pa.Table) -> pa.Table:
    """Of bundles with ``KEY`` beside them what is rolled up, one row a sample; names as dictionaries of Arrow's."""
    parts = [unbundled(bundle.as_buffer(), (*_NAMES, *_FIGURES)) for bundle in bundles.column("bundle")]
    together = pa.Table.from_batches(parts)
    lengths = np.array([part.num_rows for part in parts])
    columns = {name: _repeated(bundles.column(name), lengths) for name in KEY}
    columns |= {name: encoded(together.column(name)) for name in _NAMES}
    return pa.table(columns | {name: together.column(name).combine_chunks() for name in _FIGURES})


def _repeated(column: pa.ChunkedArray, times: Places) -> pa.DictionaryArray:
    """Each name as often as it says."""
    names = encoded(column)
    places = np.repeat(names.indices.to_numpy(zero_copy_only=False), times)
    return pa.DictionaryArray.from_arrays(pa.array(places), names.dictionary)


def rolled(samples: pa.Table, grains: Mapping[str, int]) -> pa.Table:
    """The same for rows that are in memory, as ``needed`` gives them: all samples of some queues' days."""
    names = {name: encoded(samples.column(name)) for name in (*_KEY, "zone")}
    queues = np.zeros(samples.num_rows, np.int64)
    for name in _KEY:
        queues = queues * len(names[name].dictionary) + names[name].indices.to_numpy(zero_copy_only=False)
    measured = Measured(samples, queues)
    zones = ranks(names["zone"])[measured.order]
    in_order = pa.array(sorted(names["zone"].dictionary.to_pylist()))
    parts = []
    for grain, seconds in grains.items():
        at = np.floor(measured.at / seconds) * seconds
        new = np.ones(len(at), bool)
        new[1:] = (at[1:] != at[:-1]) | (measured.queues[1:] != measured.queues[:-1])
        starts = np.flatnonzero(new)
        columns = _summed(measured, Stretches(starts, len(at)))
        columns |= {"at": at[starts], "zone": in_order.take(pa.array(np.maximum.reduceat(zones, starts)))}
        first = pa.array(measured.order[starts])
        columns |= {name: names[name].take(first).dictionary_decode() for name in _KEY}
        columns["grain"] = pa.repeat(pa.scalar(grain), len(starts))
        parts.append(_table(columns))
    return pa.concat_tables(parts)


def _summed(measured: Measured, stretches: Stretches) -> dict[str, Any]:
    span, figures = measured.span_s, measured.figures
    ms: Places = np.floor(span * 1000 + 0.5).astype(np.int64)
    found: dict[str, Any] = {
        "samples": stretches.lengths,
        "seconds": stretches.sum(span),
        "flow_s": stretches.sum(np.where(measured.flowing, span, 0.0)),
        "ready_last": stretches.last(figures["ready"]),
        "dead_last": stretches.last(figures["dead"]),
    }
    for name in ("pushed", "popped", "completed"):
        found[name] = stretches.sum_known(figures[name])
    for name, figure in (("ready", "ready"), ("oldest", "oldest_s"), ("in_progress", "in_progress")):
        known = figures[figure]
        found[f"{name}_s"] = stretches.sum_known(known, span)
        found[f"{name}_known_s"] = stretches.sum_known(type(known)(span, known.known))
        found[f"{name}_max"] = stretches.highest(known.only(span > 0))
        if name != "in_progress":
            for share, values in stretches.percentiles(known, ms).items():
                found[f"{name}_p{share * 100:.0f}"] = values
    return found


def _table(columns: dict[str, Any]) -> pa.Table:
    schema = to_arrow_schema(ROLLED)
    arrays = {name: each if isinstance(each, pa.Array) else pa.array(each) for name, each in columns.items()}
    return pa.table([arrays[field.name].cast(field.type) for field in schema], schema=schema)
