"""How long each value lasted, as a map from values to milliseconds: it can be added up, and percentiles are read of it.

Values are rounded to seven binary places, so the step at a value is at most a 64th of it and the error at most half
of that: less than 0.8 %. Whole numbers up to 128 are as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from qmon.pipeline.lake.schema import PERCENTILES, TAILED

_STEPS: Final = 6
"""Binary places behind the first."""


def rounded(value: str) -> str:
    """A value as histograms have it; zero and less stay as they are."""
    step = f"power(2D, floor(log2({value})) - {_STEPS})"
    return f"IF({value} > 0, rint({value} / {step}) * {step}, {value})"


def histograms(weighted: DataFrame, key: Sequence[str]) -> DataFrame:
    """One row a ``key`` with a map and percentiles for each of ``schema.TAILED``.

    From rows with ``key``, ``figure`` (the place in ``TAILED``), ``value`` and ``ms``. A figure that was never known
    has no map.
    """
    each = weighted.groupBy(*key, "figure", "value").agg({"ms": "sum"}).withColumnRenamed("sum(ms)", "ms")
    lists = {
        name: f"array_sort(collect_list(IF(figure = {n}, struct(value, ms), NULL)))" for n, name in enumerate(TAILED)
    }
    found = each.groupBy(*key).agg(*(F.expr(f"{entries} AS {name}") for name, entries in lists.items()))
    some = found.selectExpr(*key, *(f"IF(size({name}) > 0, {name}, NULL) AS {name}" for name in TAILED))
    maps = [f"map_from_entries({name}) AS {name}_ms" for name in TAILED]
    tails = [f"{_percentile(name, share)} AS {name}_{p}" for name in TAILED for p, share in PERCENTILES.items()]
    return some.selectExpr(*key, *maps, *tails)


def weights(rows: DataFrame, key: Sequence[str]) -> DataFrame:
    """For ``histograms``: the maps of rows one entry a row; ``key`` as SQL."""
    nothing = "CAST(map() AS map<double, bigint>)"
    parts = ", ".join(
        f"transform(map_entries(coalesce({name}_ms, {nothing})), "
        f"each -> struct({n} AS figure, each.key AS value, each.value AS ms))"
        for n, name in enumerate(TAILED)
    )
    return rows.selectExpr(*key, f"inline(concat({parts}))")


def _percentile(entries: str, share: float) -> str:
    """Of entries (``value``, ``ms``) in the order of values: the value at that share of the time."""
    total = f"aggregate({entries}, 0L, (so_far, each) -> so_far + each.ms)"
    step = (
        "(so_far, each) -> struct(so_far.ms + each.ms AS ms, "
        "IF(so_far.ms >= so_far.wanted, so_far.value, each.value) AS value, so_far.wanted AS wanted)"
    )
    first = f"struct(0L AS ms, CAST(NULL AS DOUBLE) AS value, CAST(ceil({total} * {share}D) AS BIGINT) AS wanted)"
    return f"aggregate({entries}, {first}, {step}, so_far -> so_far.value)"
