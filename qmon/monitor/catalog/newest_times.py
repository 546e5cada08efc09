"""Compare the newest times of a column without a time zone with the clock, so that the user can choose the time zone.

qmon does not choose the time zone itself, because sessions may insert in different time zones, and a row may be old.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

from qmon.errors import QueryFailed
from qmon.model.formatting import duration
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.layout.time_zones import UNKNOWN_ZONE
from qmon.monitor.catalog.catalog import Catalog, TableDetails
from qmon.texts import Text


class NewestTimeText(Text):
    """Comparisons of the newest times with the server's clock."""

    NEWEST = (
        "the newest message has `{column}` {newest}; the clock is {utc} in UTC and {local} in the server's local time"
        ": {conclusion}"
    )
    GOES_BACK = (
        "among the newest {count:,} messages, `{column}` goes back by {time}: sessions may insert times of different"
        " time zones"
    )
    FITS = "{zones} would fit"
    AHEAD = "if that message is new, the time zone is {time} ahead of UTC"
    BEHIND = "if that message is new, the time zone is {time} behind UTC"
    OTHER_CLOCK = "the message is not new, or its time comes from another clock"


# A time fits a clock if it is at most this many seconds behind the clock. Rows are not always new, and each transaction
# began before its row was committed.
_NEW_S: Final = 300.0

# A time also fits a clock if it is at most this many seconds ahead of the clock. Times here are rounded to whole
# seconds.
_AHEAD_S: Final = 2.0
_CLOSE_S: Final = 60.0
_QUARTER_S: Final = 900
_MOST_AHEAD_S: Final = 14 * 3600

# In id order, times may go back by up to this many seconds, because transactions start before they get ids.
_BACK_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class TimesRow:
    """Texts without zones: the time of a row, and the time of the reading in UTC and in the server's local time."""

    newest: str
    utc: str
    local: str


def compare_with_clock(
    catalog: Catalog, layout: Layout, details: TableDetails, columns: Iterable[str]
) -> tuple[str, ...]:
    """Return lines that compare the newest rows with the clock, for each of these columns without a time zone.

    Returns no lines if no index leads to the newest rows, or if the table cannot be read now.
    """
    id = layout.id
    led = any(index.keys[:1] == (id,) and index.where is None for index in details.ordered_indexes)
    if id is None or not led or not details.table.readable:
        return ()
    return tuple(line for column in dict.fromkeys(columns) for line in _read_comparison(catalog, details, id, column))


def compare_unknown_zones_with_clock(catalog: Catalog, layouts: Iterable[Layout]) -> dict[ObjectName, tuple[str, ...]]:
    """Return lines about columns of unknown time zone, keyed by table. Reads nothing if there are no such columns."""
    asked = {layout.table: layout for layout in layouts if columns_of_unknown_zone(layout)}
    if not asked:
        return {}
    known = catalog.read_details([row for row in catalog.read_tables() if row.name in asked]).values()
    named = {details.table.name: details for details in known}
    return {
        table: compare_with_clock(catalog, asked[table], found, columns_of_unknown_zone(asked[table]))
        for table, found in named.items()
    }


def columns_of_unknown_zone(layout: Layout) -> tuple[str, ...]:
    """Return the columns of a layout whose time zone is unknown."""
    return tuple(column for column, zone in layout.zones if zone == UNKNOWN_ZONE)


def _read_comparison(catalog: Catalog, details: TableDetails, id: str, column: str) -> tuple[str, ...]:
    names = {"table": details.table.name.parts, "id": id, "column": column}
    try:
        if catalog.is_masked(details.table, column):
            return ()
        return comparison_lines(column, catalog.read_records(TimesRow, "catalog/peek_times", names))
    except QueryFailed:
        return ()


def comparison_lines(column: str, rows: Sequence[TimesRow]) -> tuple[str, ...]:
    """Return the lines of one column. ``rows``: newest first; without rows there are no lines."""
    if not rows:
        return ()
    newest, utc, local = (datetime.fromisoformat(text) for text in (rows[0].newest, rows[0].utc, rows[0].local))
    lines = [
        NewestTimeText.NEWEST.render(
            column=column, newest=newest, utc=utc, local=local, conclusion=_describe_fit(newest, utc, local)
        )
    ]
    # The rows are in id order, newest first, so an older row should not have a later time.
    times = [datetime.fromisoformat(row.newest) for row in rows]
    back_s = max(((older - newer).total_seconds() for newer, older in pairwise(times)), default=0.0)
    if back_s > _BACK_S:
        lines.append(NewestTimeText.GOES_BACK.render(count=len(rows), column=column, time=duration(back_s)))
    return tuple(lines)


def _describe_fit(newest: datetime, utc: datetime, local: datetime) -> str:
    fits = [
        name
        for name, clock in (('"utc"', utc), ('"local"', local))
        if -_AHEAD_S <= (clock - newest).total_seconds() <= _NEW_S
    ]
    if fits:
        return NewestTimeText.FITS.render(zones=" and ".join(fits))
    ahead_s = (newest - utc).total_seconds()
    quarter_s = round(ahead_s / _QUARTER_S) * _QUARTER_S
    if abs(ahead_s - quarter_s) <= _CLOSE_S and quarter_s and abs(quarter_s) <= _MOST_AHEAD_S:
        text = NewestTimeText.AHEAD if quarter_s > 0 else NewestTimeText.BEHIND
        return text.render(time=duration(abs(quarter_s)))
    return NewestTimeText.OTHER_CLOCK
