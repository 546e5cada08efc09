"""From samples to minutes, hours and days: sums of what moved and of time, and percentiles weighted by time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from qmon.pipeline.bundles import KEY
from qmon.pipeline.packing import PACKED, encoded, needed, packing, unpacked
from qmon.pipeline.rates import Measured, ranks
from qmon.pipeline.schema import ROLLUPS
from qmon.pipeline.sums import Places, Stretches

GRAINS: Final = {"minutes": 60, "hours": 3600, "days": 86400}
"""Seconds of each."""
ROLLED: Final = StructType([StructField("grain", StringType()), *ROLLUPS.fields])
AT_ONCE: Final = 200_000
"""About so many samples are rolled up together; a queue's day is never split."""
_KEY: Final = (*KEY, "queue")


def rollups(samples: DataFrame, grains: Mapping[str, int] = GRAINS) -> DataFrame:
    """Sums over the stretches of each grain (name → seconds), from unique samples; ``grain`` says which it is.

    A sample's interval belongs to the stretch that it ends in. Percentiles come from the samples themselves, each as
    often as it lasted milliseconds, with a straight line between neighbours: never from other percentiles.
    """
    packed = samples.select(*PACKED.fieldNames()).mapInArrow(packing, PACKED)
    return _rolled_by(packed.select(_group(samples.count(), *_KEY), *PACKED.fieldNames()), unpacked, grains)


def rollups_of(bundles: DataFrame, samples: int, grains: Mapping[str, int] = GRAINS) -> DataFrame:
    """The same from bundles, of so many samples in all, which must be unique: Java looks into none of them."""
    return _rolled_by(bundles.select(_group(samples, *KEY, "share"), *KEY, "bundle"), needed, grains)


def _group(samples: int, *key: str) -> Column:
    """Rows with the same key are in the same one, and about ``AT_ONCE`` of so many samples in each."""
    return F.pmod(F.xxhash64(*key), F.lit(1 + samples // AT_ONCE)).cast("int").alias("group")


def _rolled_by(rows: DataFrame, samples: Callable[[pa.Table], pa.Table], grains: Mapping[str, int]) -> DataFrame:
    """Each ``group`` of rows rolled up, of which ``samples`` makes one row a sample."""
    seconds = dict(grains)

    def roll(group: pa.Table) -> pa.Table:
        return rolled(samples(group), seconds)

    return rows.groupBy("group").applyInArrow(roll, ROLLED)


def rolled(samples: pa.Table, grains: Mapping[str, int]) -> pa.Table:
    """The same for rows that are in memory: all samples of some queues' days."""
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
