"""Stores how long each value lasted as a map from value to milliseconds. Maps can be added up and give percentiles.

Values are rounded to seven significant binary digits. So the distance between neighbouring values is at most a 64th of
the value, and the error is at most half of this distance: less than 0.8 %. Whole numbers up to 128 are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from qmon.pipeline.lake.schema import PERCENTILE_FIGURES, PERCENTILES

# Keeps the first seven of the 53 binary digits of a number (Veltkamp's splitting: three operations, no logarithm).
_SPLIT: Final = 2**46 + 1
_LARGEST: Final = "1e290D"


def rounded_sql(value: str) -> str:
    """Return the SQL that rounds a value for histograms. Zero and negative values are unchanged."""
    return f"IF({value} > 0 AND {value} < {_LARGEST}, {value} * {_SPLIT}D - ({value} * {_SPLIT}D - {value}), {value})"


def build_histograms(lasted: DataFrame, key: Sequence[str]) -> DataFrame:
    """Return one row per ``key`` with a map and percentiles for each of ``schema.PERCENTILE_FIGURES``.

    Takes rows from ``durations_of_values`` or ``sum_histograms``. A figure that was never known has no map.
    """
    lists = {
        name: f"array_sort(collect_list(IF(figure = {n}, struct(value, ms), NULL)))"
        for n, name in enumerate(PERCENTILE_FIGURES)
    }
    found = lasted.groupBy(*key).agg(*(F.expr(f"{entries} AS {name}") for name, entries in lists.items()))
    some = found.selectExpr(*key, *(f"IF(size({name}) > 0, {name}, NULL) AS {name}" for name in PERCENTILE_FIGURES))
    maps = [f"map_from_entries({name}) AS {name}_ms" for name in PERCENTILE_FIGURES]
    tails = [
        f"{_percentile_sql(name, share)} AS {name}_{p}"
        for name in PERCENTILE_FIGURES
        for p, share in PERCENTILES.items()
    ]
    return some.selectExpr(*key, *maps, *tails)


def durations_of_values(values: DataFrame, key: Sequence[str]) -> DataFrame:
    """Return how long each value lasted: one row per ``key``, ``figure`` and ``value``, with ``ms``.

    ``figure``: index in ``PERCENTILE_FIGURES``. Takes rows with ``key``, ``ms`` and a column for each of
    ``PERCENTILE_FIGURES``, null if unknown.
    """
    figure = " ".join(f"WHEN grouping({name}) = 0 THEN {n}" for n, name in enumerate(PERCENTILE_FIGURES))
    each = values.groupingSets([[*key, name] for name in PERCENTILE_FIGURES], *key, *PERCENTILE_FIGURES)
    found = each.agg(F.expr("sum(ms) AS ms"), F.expr(f"CASE {figure} END AS figure"))
    value = f"coalesce({', '.join(PERCENTILE_FIGURES)}) AS value"
    return found.selectExpr(*key, "figure", value, "ms").where("value IS NOT NULL AND ms > 0")


def sum_histograms(rows: DataFrame, key: Sequence[str], begins: str) -> DataFrame:
    """Return rows like those of ``durations_of_values``, summed from the maps of shorter periods.

    ``begins``: SQL of the last column of ``key``.
    """
    nothing = "CAST(map() AS map<double, bigint>)"
    parts = ", ".join(
        f"transform(map_entries(coalesce({name}_ms, {nothing})), "
        f"each -> struct({n} AS figure, each.key AS value, each.value AS ms))"
        for n, name in enumerate(PERCENTILE_FIGURES)
    )
    each = rows.selectExpr(*key[:-1], f"{begins} AS {key[-1]}", f"inline(concat({parts}))")
    return each.groupBy(*key, "figure", "value").agg(F.expr("sum(ms) AS ms"))


def _percentile_sql(entries: str, share: float) -> str:
    """Return SQL for the value at a share of the time, from entries (``value``, ``ms``) sorted by value."""
    total = f"aggregate({entries}, 0L, (so_far, each) -> so_far + each.ms)"
    step = (
        "(so_far, each) -> struct(so_far.ms + each.ms AS ms, "
        "IF(so_far.ms >= so_far.wanted, so_far.value, each.value) AS value, so_far.wanted AS wanted)"
    )
    first = f"struct(0L AS ms, CAST(NULL AS DOUBLE) AS value, CAST(ceil({total} * {share}D) AS BIGINT) AS wanted)"
    return f"aggregate({entries}, {first}, {step}, so_far -> so_far.value)"
