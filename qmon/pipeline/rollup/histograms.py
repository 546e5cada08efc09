"""Merges maps from values to durations, and computes their percentiles, with Arrow and without Spark."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from qmon.pipeline.lake.schema import PERCENTILES
from qmon.pipeline.rollup.minute_sums import sum_durations
from qmon.pipeline.rollup.row_groups import Places


def merge_maps(figure: str, maps: pa.ChunkedArray, group: Places, groups: int) -> dict[str, pa.Array]:
    """Return the map of each group and its percentiles, keyed by column. A group without values has no map.

    Args:
        figure: one of ``schema.PERCENTILE_FIGURES``.
        maps: a map, or null, of each row.
        group: number of the group of each row.
        groups: number of groups.
    """
    one = pa.concat_arrays(maps.chunks) if maps.num_chunks else pa.array([], maps.type)
    entries = np.repeat(group, np.diff(one.offsets.to_numpy()))
    entries, values, total = sum_durations(entries, one.keys.to_numpy(), one.items.to_numpy())
    bounds = np.searchsorted(entries, np.arange(groups + 1))
    empty = np.diff(bounds) == 0
    offsets = pa.array(bounds.astype(np.int32), mask=np.append(empty, False))
    found: dict[str, Any] = {f"{figure}_ms": pa.MapArray.from_arrays(offsets, pa.array(values), pa.array(total))}
    so_far = np.concatenate(([0], np.cumsum(total)))
    before, whole = so_far[bounds[:-1]], np.diff(so_far[bounds])
    for label, share in PERCENTILES.items():
        wanted = before + np.ceil(whole * share).astype(np.int64)
        place = np.minimum(np.searchsorted(so_far[1:], wanted), max(len(values) - 1, 0))
        known = values[place] if len(values) else np.zeros(groups)
        found[f"{figure}_{label}"] = pa.array(known, mask=empty)
    return found
