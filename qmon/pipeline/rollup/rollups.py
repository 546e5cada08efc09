"""Rolls up the parts of minutes to minutes, hours and days, with Arrow and without Spark.

``qmon.pipeline.rollup.minute_sums`` computes the parts from samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from qmon.pipeline.lake.schema import MINUTES, PERCENTILE_FIGURES, ROLLUPS, file_schema
from qmon.pipeline.rollup.histograms import merge_maps
from qmon.pipeline.rollup.minute_sums import HOUR_S, KNOWN, LAST, MINUTE_S, MOVED
from qmon.pipeline.rollup.row_groups import Numbers, RowGroups, encode_rows, nullable, numbers
from qmon.recording.figure_rows.row_schema import PARTITIONS

DAY_S: Final = 86400

# Longer than all periods: the only period begins at 0.
_ALL_S: Final = 10**12

_FRACTIONS: Final = ("seconds", "flow_s", *MOVED, *(f"{name}_{end}" for name in KNOWN for end in ("s", "known_s")))
_ORIGIN: Final = ("zone", "environment")


def counting_parts(parts: pa.Table) -> pa.Table:
    """Return the parts of minutes (``schema.MINUTE_SUMS``) that count.

    If several recorders watched a minute, only the recorder that watched it longest counts; among equals, the first by
    name.
    """
    queue, recorder = encode_rows(parts, ("target", "queue")), encode_rows(parts, ("recorder",))
    each = RowGroups((queue, numbers(parts, "start_at"), recorder))
    first = each.order[each.starts]
    seconds = np.round(each.add_up(numbers(parts, "seconds")[each.order]), 3)
    minutes = RowGroups((queue[first], numbers(parts, "start_at")[first]), (-seconds, recorder[first]))
    if len(minutes.starts) == len(each.starts):
        return parts
    counts = np.zeros(len(first), np.bool_)
    counts[minutes.order[minutes.starts]] = True
    return parts.filter(pa.array(counts[each.group_numbers()]))


def minute_rows(parts: pa.Table) -> pa.Table:
    """Return one row per queue and minute (``schema.MINUTES``, without partitions), from the parts that count."""
    groups = _queue_periods(parts, MINUTE_S)
    ends = {name: numbers(parts, f"{name}_at")[groups.order] for name in LAST}
    return _as_table(_sums(parts, groups, ends, ("target", "queue", "recorder", *_ORIGIN)), MINUTES)


def hour_rows(minutes: pa.Table, parts: pa.Table) -> pa.Table:
    """Return one row per queue and hour (``schema.ROLLUPS``, without partitions).

    ``minutes``: all minutes of these hours. ``parts``: the parts that ``minutes`` were computed from, with the maps.
    """
    return _rollup_rows(minutes, parts, HOUR_S)


def day_rows(hours: pa.Table) -> pa.Table:
    """Return one row per queue and day (``schema.ROLLUPS``, without partitions), from all hours of these days."""
    return _rollup_rows(hours, hours, DAY_S)


def period_rows(hours: DataFrame) -> DataFrame:
    """Return one row per queue, summed over all these hours, without a start time. Spark runs it per target."""
    left_out = {"start_at", *_ORIGIN, *PARTITIONS}
    kind = StructType([each for each in ROLLUPS.fields if each.name not in left_out])
    names = kind.fieldNames()

    def add_up_target(rows: pa.Table) -> pa.Table:
        return _rollup_rows(rows, rows, _ALL_S).select(names)

    return hours.drop(*PARTITIONS).groupBy("target").applyInArrow(add_up_target, kind)


def _rollup_rows(finer: pa.Table, with_maps: pa.Table, seconds: int) -> pa.Table:
    groups, start_at = _queue_periods(finer, seconds), numbers(finer, "start_at")
    ends = {name: np.where(np.isnan(numbers(finer, name)), np.nan, start_at)[groups.order] for name in LAST}
    found = _sums(finer, groups, ends, ("target", "queue", *_ORIGIN))
    found["start_at"] = np.floor(found["start_at"] / seconds) * float(seconds)
    numbered = _queue_periods(with_maps, seconds).group_numbers()
    for name in PERCENTILE_FIGURES:
        found |= merge_maps(name, with_maps[f"{name}_ms"], numbered, len(groups.starts))
    return _as_table(found, ROLLUPS)


def _queue_periods(rows: pa.Table, seconds: int) -> RowGroups:
    """Return groups of the rows of each queue and period, sorted by time."""
    start_at = numbers(rows, "start_at")
    return RowGroups((encode_rows(rows, ("target", "queue")), np.floor(start_at / seconds)), (start_at,))


def _sums(rows: pa.Table, groups: RowGroups, ends: Mapping[str, Numbers], texts: Sequence[str]) -> dict[str, Any]:
    """Return the columns of sums for each group of rows, and the texts and the start of its last row.

    ``ends``: for each of ``LAST``, the sorted times of its values, or NaN.
    """
    last = pa.array(groups.order[groups.ends])
    found: dict[str, Any] = {name: pc.take(rows[name], last) for name in texts}
    found["start_at"] = numbers(rows, "start_at")[groups.order][groups.ends]
    found["samples"] = groups.add_up(rows["samples"].to_numpy()[groups.order])
    for name in _FRACTIONS:
        values = numbers(rows, name)[groups.order]
        found[name] = groups.add_up_known(values, ~np.isnan(values))
    for name in KNOWN:
        values = numbers(rows, f"{name}_max")[groups.order]
        found[f"{name}_max"] = groups.maximum(values, ~np.isnan(values))
    for name, at in ends.items():
        newest = groups.maximum(at, ~np.isnan(at)).fill_null(np.nan).to_numpy(zero_copy_only=False)
        place = groups.last_place(at == np.repeat(newest, groups.lengths))
        found[name] = nullable(numbers(rows, name)[groups.order][place], place < 0)
    return found


def _as_table(columns: Mapping[str, Any], kind: StructType) -> pa.Table:
    schema = file_schema(kind)
    return pa.table({each.name: columns[each.name] for each in schema}, schema=schema)
