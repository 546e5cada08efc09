"""Finds the hours that the polls of a batch affect, and whether polls are duplicates. Needs no Spark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from qmon.pipeline.rollup.minute_sums import HOUR_S, LONGEST_FLOW_S
from qmon.pipeline.rollup.row_groups import Flags, are_first

# These columns identify a line, even if the line is in several files.
LINE_KEY: Final = ("target", "recorder", "sequence")
_ORIGIN: Final = ("recorder", "zone", "environment")

# The columns of polls that are needed here.
POLL_COLUMNS: Final = (*LINE_KEY, "sampled_at", "zone", "environment")

# Target, and start in seconds since the epoch.
Hour = tuple[str, float]


@dataclass(slots=True)
class AffectedHour:
    """An hour that a batch affects.

    ``is_new``: true if the lake has no polls that affect the hour. ``recorders``: each recorder that watched the hour,
    with its time zone and the environment of the target.
    """

    is_new: bool = True
    recorders: set[tuple[str | None, ...]] = field(default_factory=set)

    @property
    def is_shared(self) -> bool:
        """True if several recorders watched the hour."""
        return len(self.recorders) > 1


@dataclass(frozen=True, slots=True)
class PollSurvey:
    """The hours that a batch affects.

    ``is_new``: true for each poll that is not in the lake and not earlier in the batch.
    """

    hours: dict[Hour, AffectedHour]
    is_new: Flags

    @property
    def is_unique(self) -> bool:
        """True if no poll is a duplicate."""
        return bool(self.is_new.all())


def survey_polls(polls: pa.Table, known: pa.Table) -> PollSurvey:
    """Return the hours that polls affect. A poll also affects the previous hour if its time may begin there.

    ``polls``: new polls, with ``POLL_COLUMNS``. ``known``: polls in the lake, with the same columns.
    """
    hours: dict[Hour, AffectedHour] = defaultdict(AffectedHour)
    for target, hour, *origin in _watched_hours(polls):
        hours[target, hour].recorders.add(tuple(origin))
    for target, hour, *origin in _watched_hours(known):
        if (found := hours.get((target, hour))) is not None:
            found.is_new = False
            found.recorders.add(tuple(origin))
    keys = pa.concat_tables([known.select(LINE_KEY), polls.select(LINE_KEY)])
    return PollSurvey(dict(hours), are_first(keys, LINE_KEY)[known.num_rows :])


def _watched_hours(polls: pa.Table) -> set[tuple[Any, ...]]:
    """Return each target, hour, recorder, zone and environment that occur together."""
    names, found = ("target", "hour", *_ORIGIN), set[tuple[Any, ...]]()
    for before_s in (0.0, LONGEST_FLOW_S):
        hour = pc.multiply(pc.floor(pc.divide(pc.subtract(polls["sampled_at"], before_s), HOUR_S)), float(HOUR_S))
        each = _distinct_rows(polls.append_column("hour", hour), names)
        found.update(zip(*(each[name].to_pylist() for name in names), strict=True))
    return found


def _distinct_rows(rows: pa.Table, names: Sequence[str]) -> pa.Table:
    return rows.select(names).group_by(list(names)).aggregate([])
