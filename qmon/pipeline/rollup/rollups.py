"""Rolls up samples to minutes, hours and days, with sums of moved messages and of time.

The order of polls does not matter here. After a restart, a counter reset or a gap, the recorder writes a sample without
``poll_s`` and ``span_s``. This sample covers no time. The time that a sample covers counts in the period in which this
time ends.
"""

from __future__ import annotations

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from qmon.pipeline.lake.schema import BUCKETS, MINUTES, PERCENTILE_FIGURES, ROLLUPS
from qmon.pipeline.rollup.histograms import build_histograms, durations_of_values, rounded_sql, sum_histograms
from qmon.recording.history.buckets import LONGEST_SPAN_S

MINUTE_S: Final = 60
HOUR_S: Final = 3600
DAY_S: Final = 86400

# Figures with a mean over time: name in a rollup → column of a sample.
_KNOWN: Final = {"ready": "ready", "oldest": "oldest_s", "in_progress": "in_progress"}
_LAST: Final = {"ready_last": "ready", "dead_last": "dead"}
_MOVED: Final = ("pushed", "popped", "completed")
_ROW_KEY: Final = ("target", "queue", "start_at")
_SUMMED: Final = (
    "samples",
    "seconds",
    "flow_s",
    *_MOVED,
    *(f"{name}_{end}" for name in _KNOWN for end in ("s", "known_s")),
)

# The seconds that a sample covers.
_WATCHED_SQL: Final = f"IF(poll_s > 0 AND poll_s <= {LONGEST_SPAN_S}, poll_s, 0D)"
_FLOWING_SQL: Final = "span_s > 0 AND pushed IS NOT NULL AND popped IS NOT NULL"
_PLACE: Final = (
    "to_date(timestamp_seconds(start_at)) AS date",
    f"CAST(pmod(crc32(target), {BUCKETS}) AS INT) AS bucket",  # same as `schema.bucket_for`
)


def period_start(at: Column, seconds: int) -> Column:
    """Return the start of the period, ``seconds`` long, that contains a time."""
    return F.floor(at / seconds) * F.lit(float(seconds))


def minute_rows(samples: DataFrame, *, shared: bool = True) -> DataFrame:
    """Return one row per queue and minute (``schema.MINUTES``), from unique samples.

    ``poll_s`` is the time that a depth or an age covers. ``span_s`` is the time that the counters cover. For example,
    counters read in every tenth poll cover ten polls. If several recorders watched a minute, only the recorder that
    watched it longest counts; among equals, the first by name. Without ``shared``, this comparison is skipped.
    """
    sums = {
        "samples": "count(1)",
        "seconds": "sum(watched)",
        "flow_s": "sum(IF(flowing, span_s, 0D))",
        **{name: f"sum(IF(flowing, {name}, NULL))" for name in _MOVED},
    }
    for name, column in _KNOWN.items():
        sums |= {
            f"{name}_s": f"sum({column} * watched)",
            f"{name}_known_s": f"sum(IF({column} IS NULL, NULL, watched))",
            f"{name}_max": f"max(IF(watched > 0, {column}, NULL))",
        }
    sums |= {name: f"max_by({column}, IF({column} IS NULL, NULL, sampled_at))" for name, column in _LAST.items()}
    marked = samples.selectExpr(
        "*",
        f"{_WATCHED_SQL} AS watched",
        f"{_FLOWING_SQL} AS flowing",
        f"{_period_start_sql('sampled_at', MINUTE_S)} AS start_at",
    )
    each = marked.groupBy(*_ROW_KEY, "recorder", "zone").agg(*_named_columns(sums))
    if not shared:
        return each.selectExpr("*", *_PLACE).select(*MINUTES.fieldNames())
    whole = ", ".join(("recorder", "zone", *sums))
    longest = F.expr(f"min_by(struct({whole}), struct(-round(seconds, 3), recorder)) AS of")
    return each.groupBy(*_ROW_KEY).agg(longest).selectExpr(*_ROW_KEY, "of.*", *_PLACE).select(*MINUTES.fieldNames())


def hour_rows(minutes: DataFrame, samples: DataFrame) -> DataFrame:
    """Return one row per queue and hour (``schema.ROLLUPS``), from minutes and from the samples of these minutes."""
    values = [f"{rounded_sql(_KNOWN[name])} AS {name}" for name in PERCENTILE_FIGURES]
    each = samples.where(f"{_WATCHED_SQL} > 0").selectExpr(
        "target",
        "queue",
        f"{_period_start_sql('sampled_at', HOUR_S)} AS start_at",
        f"floor({_WATCHED_SQL} * 1000 + 0.5D) AS ms",
        *values,
    )
    return _sum_periods(minutes, durations_of_values(each, _ROW_KEY), _period_start_sql("start_at", HOUR_S))


def day_rows(hours: DataFrame) -> DataFrame:
    """Return one row per queue and day, from its hours."""
    day = _period_start_sql("start_at", DAY_S)
    return _sum_periods(hours, sum_histograms(hours, _ROW_KEY, day), day)


def period_rows(hours: DataFrame) -> DataFrame:
    """Return one row per queue, summed over all these hours, without a start time."""
    one = "0D"
    return _sum_periods(hours, sum_histograms(hours, _ROW_KEY, one), one).drop("start_at", "date", "bucket", "zone")


def counting_samples(samples: DataFrame, minutes: DataFrame) -> DataFrame:
    """Return, for each minute, the samples of the recorder that was chosen for this minute."""
    of = minutes.selectExpr("target", "queue", "recorder", "start_at AS minute")
    minute = samples.selectExpr("*", f"{_period_start_sql('sampled_at', MINUTE_S)} AS minute")
    return minute.join(of, ["target", "queue", "recorder", "minute"], "left_semi").drop("minute")


def _sum_periods(finer: DataFrame, values: DataFrame, begins: str) -> DataFrame:
    """Add up periods to longer periods that begin at ``begins``.

    ``values``: input of ``histograms`` for the longer periods.
    """
    sums = {name: f"sum({name})" for name in _SUMMED}
    sums |= {f"{name}_max": f"max({name}_max)" for name in _KNOWN}
    sums |= {name: f"max_by({name}, IF({name} IS NULL, NULL, start_at))" for name in _LAST}
    sums["zone"] = "max_by(zone, start_at)"
    found = finer.groupBy("target", "queue", F.expr(f"{begins} AS begins")).agg(*_named_columns(sums))
    found = found.withColumnRenamed("begins", "start_at")
    with_tails = found.join(build_histograms(values, _ROW_KEY), [*_ROW_KEY], "left")
    return with_tails.selectExpr("*", *_PLACE).select(*ROLLUPS.fieldNames())


def _named_columns(columns: dict[str, str]) -> list[Column]:
    return [F.expr(f"{expression} AS {name}") for name, expression in columns.items()]


def _period_start_sql(at: str, seconds: int) -> str:
    return f"floor({at} / {seconds}) * {float(seconds)}D"
