"""How long each value lasted, as a map from values to milliseconds: it can be added up, and percentiles are read of it.

Values are rounded to seven binary places, so the step at a value is at most a 64th of it and the error at most half
of that: less than 0.8 %. Whole numbers up to 128 are as they were.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from qmon.pipeline.lake.schema import PERCENTILES, TAILED

_PLACES = 7


def rounded(value: Column) -> Column:
    """A value as histograms have it; zero and less stay as they are."""
    step = F.pow(F.lit(2.0), F.floor(F.log2(value)) - (_PLACES - 1))
    return F.when(value > 0, F.rint(value / step) * step).otherwise(value)


def histograms(weighted: DataFrame, key: Sequence[str]) -> DataFrame:
    """One row a ``key`` with a map and percentiles for each of ``schema.TAILED``.

    From rows with ``key``, ``figure`` (the place in ``TAILED``), ``value`` and ``ms``. A figure that was never known
    has no map.
    """
    each = weighted.groupBy(*key, "figure", "value").agg(F.sum("ms").alias("ms"))
    entry = F.struct("value", "ms")
    found = each.groupBy(*key).agg(
        *(
            F.array_sort(F.collect_list(F.when(F.col("figure") == n, entry))).alias(name)
            for n, name in enumerate(TAILED)
        )
    )
    some = {name: F.when(F.size(name) > 0, F.col(name)) for name in TAILED}
    tails = [
        percentile(some[name], share).alias(f"{name}_{p}") for name in TAILED for p, share in PERCENTILES.items()
    ]  # fmt: skip
    maps = (F.map_from_entries(some[name]).alias(f"{name}_ms") for name in TAILED)
    return found.select(*key, *maps, *tails)


def weights(rows: DataFrame, key: Sequence[str]) -> DataFrame:
    """For ``histograms``: the maps of rows one entry a row."""
    parts = [_entries(F.lit(n), F.col(f"{name}_ms")) for n, name in enumerate(TAILED)]
    return rows.select(*key, F.explode(F.concat(*parts)).alias("e")).select(*key, "e.*")


def _entries(figure: Column, lasted: Column) -> Column:
    """A map's entries with the figure that they are of; of no map none."""
    entries = F.map_entries(F.coalesce(lasted, F.create_map().cast("map<double,bigint>")))
    return F.transform(
        entries, lambda each: F.struct(figure.alias("figure"), each.key.alias("value"), each.value.alias("ms"))
    )


def percentile(entries: Column, share: float) -> Column:
    """Of entries (``value``, ``ms``) in the order of values: the value at that share of the time."""
    total = F.aggregate(entries, F.lit(0).cast("long"), lambda so_far, each: so_far + each.ms)
    wanted = F.ceil(total * F.lit(share))
    start = F.struct(F.lit(0).cast("long").alias("ms"), F.lit(None).cast("double").alias("value"))

    def step(so_far: Column, each: Column) -> Column:
        reached = so_far.ms >= wanted
        return F.struct(
            (so_far.ms + each.ms).alias("ms"),
            F.when(reached, so_far.value).otherwise(each.value).alias("value"),
        )

    return F.aggregate(entries, start, step, lambda so_far: so_far.value)
