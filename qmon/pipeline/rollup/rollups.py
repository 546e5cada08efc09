"""Rolls up samples to minutes, hours and days, with sums of moved messages and of time.

The order of polls does not matter here. After a restart, a counter reset or a gap, the recorder writes a sample without
``poll_s`` and ``span_s``. This sample covers no time. The time that a sample covers, and its moved messages, are split
at the borders of minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from qmon.pipeline.lake.schema import MINUTES, PERCENTILE_FIGURES, PERCENTILES, ROLLUPS
from qmon.recording.figure_rows.row_schema import BUCKETS
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

_ORIGIN: Final = ("zone", "environment")
_PIECE: Final = ("sampled_at", "start_at", "ends", "watched", "flow_s", "dead")

# Messages that moved in a longer span count in the minute in which the span ends. A span is as long as ten polls if the
# counters are read in every tenth poll.
LONGEST_FLOW_S: Final = 600.0

# The seconds that a sample covers, and the seconds that its counters cover.
_WATCHED_SQL: Final = f"IF(poll_s > 0 AND poll_s <= {LONGEST_SPAN_S}, poll_s, 0D)"
_FLOW_SQL: Final = "IF(span_s > 0 AND pushed IS NOT NULL AND popped IS NOT NULL, span_s, 0D)"
_PLACE: Final = (
    "to_date(timestamp_seconds(start_at)) AS date",
    f"CAST(pmod(crc32(target), {BUCKETS}) AS INT) AS bucket",  # same as `schema.bucket_for`
)


def period_start(at: Column, seconds: int) -> Column:
    """Return the start of the period, ``seconds`` long, that contains a time."""
    return F.floor(at / seconds) * F.lit(float(seconds))


def split_samples(samples: DataFrame) -> DataFrame:
    """Split the time of each sample at the borders of minutes. Return one row per sample and minute, a piece.

    ``start_at``: the minute. ``watched``, ``flow_s``: the parts of ``poll_s`` and ``span_s`` in this minute.
    ``pushed``, ``popped``, ``completed``: the share of the messages for ``flow_s``, null if no counter was read.
    ``ends``: true for the piece of the minute in which the sample was taken.
    """
    marked = samples.selectExpr(
        "*",
        f"{_WATCHED_SQL} AS whole_s",
        f"{_FLOW_SQL} AS span",
        f"{_period_start_sql('sampled_at', MINUTE_S)} AS minute_at",
    ).selectExpr("*", "sampled_at - minute_at AS offset_s")
    reach = f"greatest(whole_s, IF(span > {LONGEST_FLOW_S}, 0D, span))"
    back = f"CAST(greatest(0D, ceil(({reach} - offset_s) / {MINUTE_S})) AS INT)"
    each = marked.selectExpr("*", f"explode(sequence(0, {back})) AS earlier")
    pieces = each.withColumns(
        {
            "start_at": F.expr(f"minute_at - {float(MINUTE_S)}D * earlier"),
            "ends": F.expr("earlier = 0"),
            "watched": F.expr(_piece_sql("whole_s")),
            "flow_s": F.expr(f"IF(span > {LONGEST_FLOW_S}, IF(earlier = 0, span, 0D), {_piece_sql('span')})"),
        }
    )
    known = {name: f"IF(ends OR watched > 0, {column}, NULL) AS {column}" for name, column in _KNOWN.items()}
    moved = [f"IF(flow_s > 0, {name} * (flow_s / span), NULL) AS {name}" for name in _MOVED]
    columns = ("target", "queue", "recorder", "zone", "environment", *_PIECE)
    return pieces.selectExpr(*columns, *known.values(), *moved)


def _piece_sql(seconds: str) -> str:
    """Return the SQL for the part of the last ``seconds`` before a sample that is in the minute ``earlier``.

    The parts add up to ``seconds`` without an error of rounding, because no time of the epoch is subtracted from
    another.
    """
    before = f"least({seconds} - offset_s - {float(MINUTE_S)}D * (earlier - 1), {float(MINUTE_S)}D)"
    return f"IF(earlier = 0, least({seconds}, offset_s), greatest(0D, {before}))"


def minute_rows(pieces: DataFrame, *, shared: bool = True) -> DataFrame:
    """Return one row per queue and minute (``schema.MINUTES``), from the pieces of unique samples.

    If several recorders watched a minute, only the recorder that watched it longest counts; among equals, the first by
    name. Without ``shared``, this comparison is skipped.
    """
    sums = {
        "samples": "count_if(ends)",
        "seconds": "sum(watched)",
        "flow_s": "sum(flow_s)",
        **{name: f"sum({name})" for name in _MOVED},
    }
    for name, column in _KNOWN.items():
        sums |= {
            f"{name}_s": f"sum({column} * watched)",
            f"{name}_known_s": f"sum(IF({column} IS NULL, NULL, watched))",
            f"{name}_max": f"max(IF(watched > 0, {column}, NULL))",
        }
    sums |= {
        name: f"max_by({column}, IF({column} IS NOT NULL AND ends, sampled_at, NULL))" for name, column in _LAST.items()
    }
    sums["environment"] = "max_by(environment, sampled_at)"
    each = pieces.groupBy(*_ROW_KEY, "recorder", "zone").agg(*_named_columns(sums))
    if not shared:
        return each.selectExpr("*", *_PLACE).select(*MINUTES.fieldNames())
    whole = ", ".join(("recorder", "zone", *sums))
    longest = F.expr(f"min_by(struct({whole}), struct(-round(seconds, 3), recorder)) AS of")
    return each.groupBy(*_ROW_KEY).agg(longest).selectExpr(*_ROW_KEY, "of.*", *_PLACE).select(*MINUTES.fieldNames())


def hour_rows(minutes: DataFrame, pieces: DataFrame) -> DataFrame:
    """Return one row per queue and hour (``schema.ROLLUPS``), from minutes and from the pieces of these minutes."""
    values = [f"{rounded_sql(_KNOWN[name])} AS {name}" for name in PERCENTILE_FIGURES]
    hour = _period_start_sql("start_at", HOUR_S)
    each = pieces.where("watched > 0").selectExpr(
        "target", "queue", f"{hour} AS start_at", "floor(watched * 1000 + 0.5D) AS ms", *values
    )
    return _sum_periods(minutes, durations_of_values(each, _ROW_KEY), hour)


def day_rows(hours: DataFrame) -> DataFrame:
    """Return one row per queue and day, from its hours."""
    day = _period_start_sql("start_at", DAY_S)
    return _sum_periods(hours, sum_histograms(hours, _ROW_KEY, day), day)


def period_rows(hours: DataFrame) -> DataFrame:
    """Return one row per queue, summed over all these hours, without a start time."""
    one = "0D"
    return _sum_periods(hours, sum_histograms(hours, _ROW_KEY, one), one).drop("start_at", "date", "bucket", *_ORIGIN)


def counting_pieces(pieces: DataFrame, minutes: DataFrame) -> DataFrame:
    """Return, for each minute, the pieces of the recorder that was chosen for this minute."""
    key = ["target", "queue", "recorder", "start_at"]
    return pieces.join(minutes.select(*key), key, "left_semi")


def _sum_periods(finer: DataFrame, values: DataFrame, begins: str) -> DataFrame:
    """Add up periods to longer periods that begin at ``begins``.

    ``values``: input of ``histograms`` for the longer periods.
    """
    sums = {name: f"sum({name})" for name in _SUMMED}
    sums |= {f"{name}_max": f"max({name}_max)" for name in _KNOWN}
    sums |= {name: f"max_by({name}, IF({name} IS NULL, NULL, start_at))" for name in _LAST}
    sums |= {name: f"max_by({name}, start_at)" for name in _ORIGIN}
    found = finer.groupBy("target", "queue", F.expr(f"{begins} AS begins")).agg(*_named_columns(sums))
    found = found.withColumnRenamed("begins", "start_at")
    with_tails = found.join(build_histograms(values, _ROW_KEY), [*_ROW_KEY], "left")
    return with_tails.selectExpr("*", *_PLACE).select(*ROLLUPS.fieldNames())


def _named_columns(columns: dict[str, str]) -> list[Column]:
    return [F.expr(f"{expression} AS {name}") for name, expression in columns.items()]


def _period_start_sql(at: str, seconds: int) -> str:
    return f"floor({at} / {seconds}) * {float(seconds)}D"


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
