"""Adds up samples to minutes, with Arrow and without Spark. This is the only code that splits the time of samples.

The order of polls does not matter here. After a restart, a counter reset or a gap, the recorder writes a sample without
``poll_s`` and ``span_s``. This sample covers no time. The time that a sample covers, and its moved messages, are split
at the borders of minutes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from qmon.pipeline.lake.schema import MINUTE_SUMS, PERCENTILE_FIGURES
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

_LARGEST_CODE: Final = 2**62

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


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


def add_up_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the sums of samples for each batch, with maps of minutes. This is a function for ``mapInArrow``."""
    for batch in batches:
        yield add_up_minutes(pa.Table.from_batches([batch]), MINUTE_S)


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
        number = {name: _numbers(samples, name) for name in _NUMBERS}
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
        key, minute = _encode_keys(samples)[sample], minute[sample] - earlier
        order = np.lexsort((at[sample], minute, key))
        self._sample, earlier, self._key, self._minute = sample[order], earlier[order], key[order], minute[order]
        new = (np.diff(self._key) != 0) | (np.diff(self._minute) != 0)
        self._starts = np.concatenate(([0], np.flatnonzero(new) + 1))
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
        texts = self._samples.select(_KEY).take(pa.array(self._sample[self._starts]))
        found: dict[str, Any] = {name: texts[name].combine_chunks() for name in _KEY}
        found |= {
            "start_at": self._minute[self._starts] * float(MINUTE_S),
            "samples": self._sum(self._ends.astype(np.int64)),
            "seconds": self._sum(self._watched),
            "flow_s": self._sum(self._flow),
        }
        for name in MOVED:
            values = self._number[name]
            found[name] = self._sum_known(values * self._flow_share, (self._flow > 0) & ~np.isnan(values))
        for name, column in KNOWN.items():
            values, known = self._number[column], self._is_counted(column)
            found[f"{name}_s"] = self._sum_known(values * self._watched, known)
            found[f"{name}_known_s"] = self._sum_known(self._watched, known)
            found[f"{name}_max"] = self._greatest(values, known & (self._watched > 0))
        for name, column in LAST.items():
            place = self._last_place(self._ends & ~np.isnan(self._number[column]))
            found[name] = _nullable(self._number[column][place], place < 0)
            found[f"{name}_at"] = _nullable(self._number["sampled_at"][place], place < 0)
        row = self._map_rows(map_s)
        found |= {f"{name}_ms": self._durations(KNOWN[name], row) for name in PERCENTILE_FIGURES}
        return pa.record_batch([pa.array(found[each.name], each.type) for each in _SCHEMA], schema=_SCHEMA)

    def _is_counted(self, column: str) -> Flags:
        """Return true for each piece for which a figure counts: of watched time, or at the time of the sample."""
        known: Flags = ~np.isnan(self._number[column]) & (self._ends | (self._watched > 0))
        return known

    def _sum(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = np.add.reduceat(values, self._starts)
        return found

    def _sum_known(self, values: Numbers, known: Flags) -> pa.Array:
        return _nullable(self._sum(np.where(known, values, 0.0)), self._sum(known.astype(np.int64)) == 0)

    def _greatest(self, values: Numbers, known: Flags) -> pa.Array:
        found = np.maximum.reduceat(np.where(known, values, -np.inf), self._starts)
        return _nullable(found, self._sum(known.astype(np.int64)) == 0)

    def _last_place(self, known: Flags) -> Places:
        """Return the place of the newest piece of each row for which ``known`` is true, or -1."""
        found: Places = np.maximum.reduceat(np.where(known, np.arange(len(known)), -1), self._starts)
        return found

    def _map_rows(self, map_s: int) -> Places:
        """Return, for each piece, the row that has its maps."""
        period = self._minute[self._starts] // (map_s // MINUTE_S)
        key = self._key[self._starts]
        first = np.concatenate(([True], (np.diff(key) != 0) | (np.diff(period) != 0)))
        rows = np.maximum.accumulate(np.where(first, np.arange(len(first)), 0))
        return np.repeat(rows, np.diff(np.append(self._starts, len(self._sample))))

    def _durations(self, column: str, row: Places) -> pa.Array:
        """Return for each row a map from each value of a figure to the milliseconds for which it lasted."""
        lasted = self._is_counted(column) & (self._watched > 0)
        values, row = round_values(self._number[column][lasted]), row[lasted]
        ms = np.floor(self._watched[lasted] * 1000 + 0.5).astype(np.int64)
        row, values, ms = sum_durations(row, values, ms)
        row, values, ms = row[ms > 0], values[ms > 0], ms[ms > 0]
        offsets = np.searchsorted(row, np.arange(len(self._starts) + 1))
        return pa.MapArray.from_arrays(
            pa.array(offsets, pa.int32()), pa.array(values, pa.float64()), pa.array(ms, pa.int64())
        )


def _numbers(samples: pa.Table, name: str) -> Numbers:
    """Return a column, with NaN for unknown values."""
    found: Numbers = samples[name].cast(pa.float64()).to_numpy()
    return found


def _encode_keys(samples: pa.Table) -> Places:
    """Return a number for each sample. Two samples have the same number if they have the same values of ``_KEY``."""
    code, limit = np.zeros(samples.num_rows, np.int64), 1
    for name in _KEY:
        texts = samples[name].combine_chunks().dictionary_encode()
        count = len(texts.dictionary) + 1  # the last one is null
        if limit * count > _LARGEST_CODE:
            code = np.unique(code, return_inverse=True)[1]
            limit = samples.num_rows
        code = code * count + texts.indices.fill_null(count - 1).to_numpy(zero_copy_only=False)
        limit *= count
    return code


def _share(seconds: Numbers, offset: Numbers, earlier: Places) -> Numbers:
    """Return the part of the last ``seconds`` before each sample that is in the minute ``earlier``.

    ``offset``: seconds between the start of the sample's minute and the sample. The parts add up to ``seconds`` without
    an error of rounding, because no time of the epoch is subtracted from another.
    """
    before = np.clip(seconds - offset - float(MINUTE_S) * (earlier - 1), 0.0, float(MINUTE_S))
    return np.where(earlier == 0, np.minimum(seconds, offset), before)


def _nullable(values: Numbers, unknown: Flags) -> pa.Array:
    return pa.array(values, mask=unknown)
