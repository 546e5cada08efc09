"""Rolls up the parts of minutes to minutes, hours and days.

``qmon.pipeline.rollup.minute_sums`` computes the parts from samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from qmon.pipeline.lake.schema import MINUTE_SUMS, MINUTES, PERCENTILE_FIGURES, PERCENTILES, ROLLUPS
from qmon.pipeline.rollup.minute_sums import HOUR_S, KNOWN, LAST, MOVED, SAMPLE_COLUMNS, add_up_batches
from qmon.recording.figure_rows.row_schema import BUCKETS

DAY_S: Final = 86400

_ROW_KEY: Final = ("target", "queue", "start_at")
_SUMMED: Final = (
    "samples",
    "seconds",
    "flow_s",
    *MOVED,
    *(f"{name}_{end}" for name in KNOWN for end in ("s", "known_s")),
)

_ORIGIN: Final = ("zone", "environment")
_PLACE: Final = (
    "to_date(timestamp_seconds(start_at)) AS date",
    f"CAST(pmod(crc32(target), {BUCKETS}) AS INT) AS bucket",  # same as `schema.bucket_for`
)


def period_start(at: Column, seconds: int) -> Column:
    """Return the start of the period, ``seconds`` long, that contains a time."""
    return F.floor(at / seconds) * F.lit(float(seconds))


def minute_parts(samples: DataFrame) -> DataFrame:
    """Return parts of minutes (``schema.MINUTE_SUMS``), with maps of minutes, from unique samples."""
    return samples.select(*SAMPLE_COLUMNS).mapInArrow(add_up_batches, MINUTE_SUMS)


def minute_rows(parts: DataFrame, *, shared: bool = True) -> DataFrame:
    """Return one row per queue and minute (``schema.MINUTES``), from the parts of minutes (``schema.MINUTE_SUMS``).

    If several recorders watched a minute, only the recorder that watched it longest counts; among equals, the first by
    name. Without ``shared``, this comparison is skipped.
    """
    sums = {name: f"sum({name})" for name in _SUMMED}
    sums |= {f"{name}_max": f"max({name}_max)" for name in KNOWN}
    sums |= {name: f"max_by({name}, {name}_at)" for name in LAST}
    each = parts.groupBy(*_ROW_KEY, "recorder", *_ORIGIN).agg(*_named_columns(sums))
    if not shared:
        return each.selectExpr("*", *_PLACE).select(*MINUTES.fieldNames())
    whole = ", ".join(("recorder", *_ORIGIN, *sums))
    longest = F.expr(f"min_by(struct({whole}), struct(-round(seconds, 3), recorder)) AS of")
    return each.groupBy(*_ROW_KEY).agg(longest).selectExpr(*_ROW_KEY, "of.*", *_PLACE).select(*MINUTES.fieldNames())


def hour_histograms(parts: DataFrame) -> DataFrame:
    """Return one row per queue and hour (``schema.HISTOGRAMS``), from the maps of the parts that count."""
    return build_histograms(sum_histograms(parts, _ROW_KEY, _period_start_sql("start_at", HOUR_S)), _ROW_KEY)


def hour_rows(minutes: DataFrame, histograms: DataFrame) -> DataFrame:
    """Return one row per queue and hour (``schema.ROLLUPS``), from minutes and from ``schema.HISTOGRAMS``."""
    return _sum_periods(minutes, histograms, _period_start_sql("start_at", HOUR_S))


def day_rows(hours: DataFrame) -> DataFrame:
    """Return one row per queue and day, from its hours."""
    day = _period_start_sql("start_at", DAY_S)
    return _sum_periods(hours, build_histograms(sum_histograms(hours, _ROW_KEY, day), _ROW_KEY), day)


def period_rows(hours: DataFrame) -> DataFrame:
    """Return one row per queue, summed over all these hours, without a start time."""
    one = "0D"
    histograms = build_histograms(sum_histograms(hours, _ROW_KEY, one), _ROW_KEY)
    return _sum_periods(hours, histograms, one).drop("start_at", "date", "bucket", *_ORIGIN)


def counting_parts(parts: DataFrame, minutes: DataFrame) -> DataFrame:
    """Return, for each minute, the parts of the recorder that was chosen for this minute."""
    key = ["target", "queue", "recorder", "start_at"]
    return parts.join(minutes.select(*key), key, "left_semi")


def _sum_periods(finer: DataFrame, histograms: DataFrame, begins: str) -> DataFrame:
    """Add up periods to longer periods that begin at ``begins``. ``histograms``: those of the longer periods."""
    sums = {name: f"sum({name})" for name in _SUMMED}
    sums |= {f"{name}_max": f"max({name}_max)" for name in KNOWN}
    sums |= {name: f"max_by({name}, IF({name} IS NULL, NULL, start_at))" for name in LAST}
    sums |= {name: f"max_by({name}, start_at)" for name in _ORIGIN}
    found = finer.groupBy("target", "queue", F.expr(f"{begins} AS begins")).agg(*_named_columns(sums))
    found = found.withColumnRenamed("begins", "start_at")
    with_tails = found.join(histograms, [*_ROW_KEY], "left")
    return with_tails.selectExpr("*", *_PLACE).select(*ROLLUPS.fieldNames())


def _named_columns(columns: dict[str, str]) -> list[Column]:
    return [F.expr(f"{expression} AS {name}") for name, expression in columns.items()]


def _period_start_sql(at: str, seconds: int) -> str:
    return f"floor({at} / {seconds}) * {float(seconds)}D"


def build_histograms(lasted: DataFrame, key: Sequence[str]) -> DataFrame:
    """Return one row per ``key`` with a map and percentiles for each of ``schema.PERCENTILE_FIGURES``.

    Takes rows from ``sum_histograms``. A figure that was never known has no map.
    """
    columns = {}
    for n, name in enumerate(PERCENTILE_FIGURES):
        columns[name] = f"sort_array(collect_list(IF(figure = {n}, struct(value, ms), NULL)))"
        columns[f"{name}_total"] = f"sum(IF(figure = {n}, ms, NULL))"
    found = lasted.groupBy(*key).agg(*_named_columns(columns))
    tails = [f"{_percentiles_sql(name, f'{name}_total')} AS {name}_tails" for name in PERCENTILE_FIGURES]
    maps = [f"IF(size({name}) > 0, map_from_entries({name}), NULL) AS {name}_ms" for name in PERCENTILE_FIGURES]
    each = found.selectExpr(*key, *maps, *tails)
    flat = [f"{name}_tails.{label} AS {name}_{label}" for name in PERCENTILE_FIGURES for label in PERCENTILES]
    return each.selectExpr(*key, *(f"{name}_ms" for name in PERCENTILE_FIGURES), *flat)


def sum_histograms(rows: DataFrame, key: Sequence[str], begins: str) -> DataFrame:
    """Return how long each value lasted: one row per ``key``, ``figure`` and ``value``, with ``ms``.

    ``rows``: rows with the maps of shorter periods. ``begins``: SQL of the last column of ``key``. ``figure``: index in
    ``PERCENTILE_FIGURES``.
    """
    nothing = "CAST(map() AS map<double, bigint>)"
    parts = ", ".join(
        f"transform(map_entries(coalesce({name}_ms, {nothing})), "
        f"each -> struct({n} AS figure, each.key AS value, each.value AS ms))"
        for n, name in enumerate(PERCENTILE_FIGURES)
    )
    each = rows.selectExpr(*key[:-1], f"{begins} AS {key[-1]}", f"inline(concat({parts}))")
    return each.groupBy(*key, "figure", "value").agg(F.expr("sum(ms) AS ms"))


def _percentiles_sql(entries: str, total: str) -> str:
    """Return SQL for a struct of ``schema.PERCENTILES``: the values at these shares of the time.

    ``entries``: structs of ``value`` and ``ms``, sorted by value. ``total``: sum of ``ms``.
    """
    first = ", ".join(f"CAST(NULL AS DOUBLE) AS {label}" for label in PERCENTILES)
    step = ", ".join(
        f"IF(so_far.ms < {total} * {share}D, each.value, so_far.{label}) AS {label}"
        for label, share in PERCENTILES.items()
    )
    steps = f"(so_far, each) -> struct({step}, so_far.ms + each.ms AS ms)"
    return f"aggregate({entries}, struct({first}, 0L AS ms), {steps})"
