"""Merges maps from values to durations, and computes their percentiles, with Arrow and without Spark.

``qmon.pipeline.rollup.rollups`` does the same in Spark, for hours whose samples are spread over several batches or
recorders.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import to_arrow_schema

from qmon.pipeline.lake.schema import HISTOGRAMS, PERCENTILE_FIGURES, PERCENTILES
from qmon.pipeline.rollup.minute_sums import HOUR_S, Places, sum_durations

_SCHEMA: Final = to_arrow_schema(HISTOGRAMS)
_KEY: Final = ("target", "queue", "start_at")

# The columns that are merged.
MERGED_COLUMNS: Final = (*_KEY, *(f"{name}_ms" for name in PERCENTILE_FIGURES))


def merge_hours(rows: pa.Table) -> pa.Table:
    """Return one row per target, queue and hour (``schema.HISTOGRAMS``), from rows with ``MERGED_COLUMNS``."""
    hour = pc.multiply(pc.floor(pc.divide(rows["start_at"], HOUR_S)), float(HOUR_S))
    keyed = rows.set_column(rows.column_names.index("start_at"), "start_at", hour)
    numbered = keyed.select(_KEY).append_column("row", pa.array(np.arange(rows.num_rows)))
    groups = numbered.group_by(list(_KEY)).aggregate([("row", "list")])
    members = groups["row_list"].combine_chunks()
    group = np.empty(rows.num_rows, np.int64)
    group[members.flatten().to_numpy()] = np.repeat(np.arange(groups.num_rows), members.value_lengths().to_numpy())
    found: dict[str, Any] = {name: groups[name] for name in _KEY}
    for name in PERCENTILE_FIGURES:
        found |= _merge_maps(name, rows[f"{name}_ms"], group, groups.num_rows)
    return pa.table({each.name: found[each.name] for each in _SCHEMA}, schema=_SCHEMA)


def _merge_maps(figure: str, maps: pa.ChunkedArray, group: Places, groups: int) -> dict[str, pa.Array]:
    """Return the map of each group and its percentiles. A group without values has no map."""
    one = pa.concat_arrays(maps.chunks) if maps.num_chunks else pa.array([], maps.type)
    entries = np.repeat(group, np.diff(one.offsets.to_numpy()))
    entries, values, total = sum_durations(entries, one.keys.to_numpy(), one.items.to_numpy())
    bounds = np.searchsorted(entries, np.arange(groups + 1))
    empty = np.diff(bounds) == 0
    offsets = pa.array(bounds.astype(np.int32), mask=np.append(empty, False))
    found = {f"{figure}_ms": pa.MapArray.from_arrays(offsets, pa.array(values), pa.array(total))}
    so_far = np.concatenate(([0], np.cumsum(total)))
    before, whole = so_far[bounds[:-1]], np.diff(so_far[bounds])
    for label, share in PERCENTILES.items():
        wanted = before + np.ceil(whole * share).astype(np.int64)
        place = np.minimum(np.searchsorted(so_far[1:], wanted), max(len(values) - 1, 0))
        known = values[place] if len(values) else np.zeros(groups)
        found[f"{figure}_{label}"] = pa.array(known, mask=empty)
    return found
