"""Adds up samples to minutes, with Arrow and without Spark. This is the only code that splits the time of samples.

The order of polls does not matter here. After a restart, a counter reset or a gap, the recorder writes a sample without
``poll_s`` and ``span_s``. This sample covers no time. The time that a sample covers, and its moved messages, are split
at the borders of minutes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from qmon.pipeline.lake.schema import MINUTE_SUMS, PERCENTILE_FIGURES
from qmon.pipeline.rollup.row_groups import Flags, Numbers, Places, RowGroups, encode_rows, nullable, numbers
from qmon.recording.history.buckets import LONGEST_SPAN_S

MINUTE_S: Final = 60
HOUR_S: Final = 3600

# Messages that moved in a longer span count in the minute in which the span ends. A span is as long as ten polls if the
# counters are read in every tenth poll.
LONGEST_FLOW_S: Final = 600.0

# Figures with a mean over time: name in a rollup → column of a sample.
KNOWN: Final = {"ready": "ready", "oldest": "oldest_s", "in_progress": "in_progress"}
LAST: Final = {"ready_last": "ready", "dead_last": "dead"}
MOVED: Final = ("pushed", "popped", "completed")

_KEY: Final = ("target", "queue", "recorder", "zone", "environment")
_NUMBERS: Final = ("sampled_at", "poll_s", "span_s", *MOVED, *KNOWN.values(), "dead")

# The columns of samples that are added up.
SAMPLE_COLUMNS: Final = (*_KEY, *_NUMBERS)
_SCHEMA: Final = to_arrow_schema(MINUTE_SUMS)

# Keeps the first seven of the 53 binary digits of a number (Veltkamp's splitting: three operations, no logarithm).
_SPLIT: Final = float(2**46 + 1)
_LARGEST: Final = 1e290


def add_up_minutes(samples: pa.Table, map_s: int) -> pa.RecordBatch:
    """Return the sums of samples for each minute (``schema.MINUTE_SUMS``): one row per queue, recorder and minute.

    Sums of other samples of the same minute can be added. Samples must be unique.

    Args:
        samples: has at least ``SAMPLE_COLUMNS``. A value that is not a number counts as unknown.
        map_s: seconds that the maps ``ready_ms`` and ``oldest_ms`` cover. With ``MINUTE_S``, each row has the maps of
            its minute. With ``HOUR_S``, the first row of an hour has the maps of the hour, and other rows have none.
    """
    if not samples.num_rows:
        return pa.record_batch([pa.nulls(0, each.type) for each in _SCHEMA], schema=_SCHEMA)
    with np.errstate(over="ignore", invalid="ignore"):  # a recording may contain any numbers
        return _Pieces(samples).add_up(map_s)


def round_values(values: Numbers) -> Numbers:
    """Round values for maps: to seven significant binary digits. Zero and negative values are unchanged."""
    split = values * _SPLIT
    return np.where((values > 0) & (values < _LARGEST), split - (split - values), values)


def sum_durations(row: Places, values: Numbers, ms: Places) -> tuple[Places, Numbers, Places]:
    """Add up the durations (``ms``) of equal values of each row. The result is sorted by row and value."""
    order = np.lexsort((values, row))
    row, values, ms = row[order], values[order], ms[order]
    new = (np.diff(row) != 0) | (np.diff(values) != 0)
    starts = np.flatnonzero(np.concatenate(([True], new))[: len(row)])
    return row[starts], values[starts], np.add.reduceat(ms, starts) if len(starts) else ms


class _Pieces:
    """One piece for each sample and each minute that the sample covers, sorted by queue, recorder, minute and time."""

    def __init__(self, samples: pa.Table) -> None:
        self._samples = samples
        number = {name: numbers(samples, name) for name in _NUMBERS}
        at, poll_s, span_s = (number[name] for name in ("sampled_at", "poll_s", "span_s"))
        whole_s = np.where((poll_s > 0) & (poll_s <= LONGEST_SPAN_S), poll_s, 0.0)
        flowing = (span_s > 0) & ~np.isnan(number["pushed"]) & ~np.isnan(number["popped"])
        flow_s = np.where(flowing, span_s, 0.0)
        minute = np.floor(at / MINUTE_S).astype(np.int64)
        offset = at - minute * float(MINUTE_S)
        reach = np.maximum(whole_s, np.where(flow_s > LONGEST_FLOW_S, 0.0, flow_s))
        back = np.maximum(np.ceil((reach - offset) / MINUTE_S), 0.0).astype(np.int64)

        sample = np.repeat(np.arange(len(at)), back + 1)
        earlier = np.arange(len(sample)) - np.repeat(np.cumsum(back + 1) - (back + 1), back + 1)
        key, minute = encode_rows(samples, _KEY)[sample], minute[sample] - earlier
        self._groups = RowGroups((key, minute), (at[sample],))
        order = self._groups.order
        self._sample, earlier, self._key, self._minute = sample[order], earlier[order], key[order], minute[order]
        self._number = {name: values[self._sample] for name, values in number.items()}

        offset, flow_s = offset[self._sample], flow_s[self._sample]
        self._ends = earlier == 0
        self._watched = _share(whole_s[self._sample], offset, earlier)
        self._flow = np.where(
            flow_s > LONGEST_FLOW_S, np.where(self._ends, flow_s, 0.0), _share(flow_s, offset, earlier)
        )
        self._flow_share = self._flow / np.where(flow_s > 0, flow_s, 1.0)

    def add_up(self, map_s: int) -> pa.RecordBatch:
        """Return the rows. The arguments are those of ``add_up_minutes``."""
        texts = self._samples.select(_KEY).take(pa.array(self._sample[self._groups.starts]))
        found: dict[str, Any] = {name: texts[name].combine_chunks() for name in _KEY}
        found |= {
            "start_at": self._minute[self._groups.starts] * float(MINUTE_S),
            "samples": self._groups.add_up(self._ends.astype(np.int64)),
            "seconds": self._groups.add_up(self._watched),
            "flow_s": self._groups.add_up(self._flow),
        }
        for name in MOVED:
            values = self._number[name]
            found[name] = self._groups.add_up_known(values * self._flow_share, (self._flow > 0) & ~np.isnan(values))
        for name, column in KNOWN.items():
            values, known = self._number[column], self._is_counted(column)
            found[f"{name}_s"] = self._groups.add_up_known(values * self._watched, known)
            found[f"{name}_known_s"] = self._groups.add_up_known(self._watched, known)
            found[f"{name}_max"] = self._groups.maximum(values, known & (self._watched > 0))
        for name, column in LAST.items():
            place = self._groups.last_place(self._ends & ~np.isnan(self._number[column]))
            found[name] = nullable(self._number[column][place], place < 0)
            found[f"{name}_at"] = nullable(self._number["sampled_at"][place], place < 0)
        row = self._map_rows(map_s)
        found |= {f"{name}_ms": self._durations(KNOWN[name], row) for name in PERCENTILE_FIGURES}
        return pa.record_batch([pa.array(found[each.name], each.type) for each in _SCHEMA], schema=_SCHEMA)

    def _is_counted(self, column: str) -> Flags:
        """Return true for each piece for which a figure counts: of watched time, or at the time of the sample."""
        known: Flags = ~np.isnan(self._number[column]) & (self._ends | (self._watched > 0))
        return known

    def _map_rows(self, map_s: int) -> Places:
        """Return, for each piece, the row that has its maps."""
        period = self._minute[self._groups.starts] // (map_s // MINUTE_S)
        key = self._key[self._groups.starts]
        first = np.concatenate(([True], (np.diff(key) != 0) | (np.diff(period) != 0)))
        rows = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
        return np.repeat(rows, self._groups.lengths)

    def _durations(self, column: str, row: Places) -> pa.Array:
        """Return for each row a map from each value of a figure to the milliseconds for which it lasted."""
        lasted = self._is_counted(column) & (self._watched > 0)
        values, row = round_values(self._number[column][lasted]), row[lasted]
        ms = np.floor(self._watched[lasted] * 1000 + 0.5).astype(np.int64)
        row, values, ms = sum_durations(row, values, ms)
        row, values, ms = row[ms > 0], values[ms > 0], ms[ms > 0]
        offsets = np.searchsorted(row, np.arange(len(self._groups.starts) + 1))
        return pa.MapArray.from_arrays(
            pa.array(offsets, pa.int32()), pa.array(values, pa.float64()), pa.array(ms, pa.int64())
        )


def _share(seconds: Numbers, offset: Numbers, earlier: Places) -> Numbers:
    """Return the part of the last ``seconds`` before each sample that is in the minute ``earlier``.

    ``offset``: seconds between the start of the sample's minute and the sample. The parts add up to ``seconds`` without
    an error of rounding, because no time of the epoch is subtracted from another.
    """
    before = np.clip(seconds - offset - float(MINUTE_S) * (earlier - 1), 0.0, float(MINUTE_S))
    return np.where(earlier == 0, np.minimum(seconds, offset), before)
