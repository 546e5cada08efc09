"""Compares rows that were just written with the expected values, because triggers may have changed the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from qmon.engines.sql.queries import Name
from qmon.operate.row_set import marks_for
from qmon.operate.run.batches import RowRefused
from qmon.operate.sql import Names, Sql
from qmon.operate.table_structure import TableStructure
from qmon.texts import Text


class TriggerText(Text):
    """What triggers or policies did to the rows that qmon wrote."""

    PUT_BACK = "a trigger puts rows back into the table, or inserts other rows: {triggers}"
    INSERTED = "a trigger inserts further rows into the table: {triggers}"
    UNCOUNTED = "track_counts is off, so the effects of the table's triggers are unknown: {triggers}"
    CHANGED_OTHERS = "a trigger changes or deletes other rows of the table: {triggers}"
    PREVENTED = "the table's triggers or policies prevent the change"
    CHANGED_VALUES = "a trigger changed the written values of {columns}"
    CHANGED_AGAIN = "a trigger changed the row again, or deleted it"


_STILL_AT_STATEMENT: Final = "still_at"
_ROW_COUNTS_STATEMENT: Final = "row_counts"


@dataclass(frozen=True, slots=True)
class WrittenRow:
    """A row that a statement wrote.

    ``place``: the row's new place (PostgreSQL). ``same``: the row has the expected values.
    """

    place: str
    same: bool


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Numbers of rows that a session has inserted, updated and deleted in some tables."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0

    def __add__(self, more: RowCounts) -> RowCounts:
        return RowCounts(self.inserted + more.inserted, self.updated + more.updated, self.deleted + more.deleted)

    def __sub__(self, before: RowCounts) -> RowCounts:
        return RowCounts(self.inserted - before.inserted, self.updated - before.updated, self.deleted - before.deleted)


class TriggerWatch:
    """Detect rows that triggers write to the tables of a queue during a batch, in addition to the batch's own rows.

    Create the watch in the transaction of the batch, before the statement that writes. ``event`` is the event that this
    statement causes: ``insert``, ``update`` or ``delete``. If no trigger fires on the event, nothing is counted. On SQL
    Server nothing is counted either, because that server does not count the rows of a session.
    """

    def __init__(self, sql: Sql, event: str, *tables: TableStructure | None) -> None:
        self._sql = sql
        self._tables = [each.table for each in tables if each is not None]
        named = [name for each in tables if each is not None for name in each.obstacle_names(f"on {event}")]
        self._triggers = ", ".join(named)
        self._watches = bool(named) and self.is_supported(sql)
        self._uncounted = any(each is not None and each.obstacle_names("uncounted") for each in tables)
        self._before = self._read_counts()

    @staticmethod
    def is_supported(sql: Sql) -> bool:
        """Return whether the server counts the rows that a session writes."""
        return sql.has_statement(_ROW_COUNTS_STATEMENT)

    def _read_counts(self) -> RowCounts:
        if not self._watches:
            return RowCounts()
        found = [
            each
            for table in self._tables
            for each in self._sql.fetch(RowCounts, _ROW_COUNTS_STATEMENT, {"table": table.parts})
        ]
        return sum(found, RowCounts())

    def check_deleted(self, count: int) -> None:
        """Raise ``RowRefused`` unless ``count`` rows were deleted and nothing else was written."""
        self._check_counts(self._written_so_far(), RowCounts(deleted=count), TriggerText.PUT_BACK)

    def check_inserted(self, count: int, *, touched: bool) -> None:
        """Raise ``RowRefused`` unless ``count`` rows were inserted and nothing else was written.

        ``touched``: triggers have updated some of these rows. The caller compares these rows with the expected values.
        """
        now = self._written_so_far()
        self._check_counts(now, RowCounts(count, min(count, now.updated) if touched else 0), TriggerText.INSERTED)

    def check_updated(self, count: int) -> None:
        """Raise ``RowRefused`` unless ``count`` rows were updated and nothing else was written."""
        # An update that moves a row to another partition counts as one deleted and one inserted row.
        now = self._written_so_far()
        self._check_counts(now, RowCounts(now.deleted, count - now.deleted, now.deleted), TriggerText.INSERTED)

    def check_no_inserts(self) -> None:
        """Raise ``RowRefused`` if rows were inserted."""
        now = self._written_so_far()
        self._check_counts(now, RowCounts(0, now.updated, now.deleted), TriggerText.PUT_BACK)

    def _written_so_far(self) -> RowCounts:
        if not self._watches:
            return RowCounts()
        fire_deferred_triggers(self._sql)
        return self._read_counts() - self._before

    def _check_counts(self, now: RowCounts, expected: RowCounts, inserts: TriggerText) -> None:
        if not self._watches:
            return
        if self._uncounted:
            raise RowRefused(TriggerText.UNCOUNTED.render(triggers=self._triggers))
        if now == expected:
            return
        what = inserts if now.inserted > expected.inserted else TriggerText.CHANGED_OTHERS
        raise RowRefused(what.render(triggers=self._triggers))


def check_written(
    sql: Sql, names: Names, rows: Sequence[WrittenRow], expected: int, columns: Sequence[str], triggers: Sequence[str]
) -> None:
    """Raise ``RowRefused`` unless ``expected`` rows were written, have the written values, and still exist.

    ``columns``: the written columns. ``triggers``: the triggers of the table.
    """
    if len(rows) != expected:
        raise RowRefused(TriggerText.PREVENTED)
    if not all(row.same for row in rows):
        raise RowRefused(TriggerText.CHANGED_VALUES.render(columns=", ".join(columns)))
    if triggers and not is_still_as_written(sql, names["table"], [row.place for row in rows]):
        raise RowRefused(TriggerText.CHANGED_AGAIN)


def is_still_as_written(sql: Sql, table: Name, places: Sequence[str]) -> bool:
    """Return whether no trigger has changed the rows since they were written, not even a deferred trigger.

    Always true on SQL Server: there, the statements that write also read the rows again, and deferred triggers do not
    exist.
    """
    if not sql.has_statement(_STILL_AT_STATEMENT):
        return True
    fire_deferred_triggers(sql)
    marks = [(place, "") for place in places]
    return sql.fetch_count(_STILL_AT_STATEMENT, {"table": table}, marks_for(sql.engine.name, marks)) == len(places)


def fire_deferred_triggers(sql: Sql) -> None:
    """Fire deferred triggers now, on servers that have deferred triggers."""
    if sql.has_statement("fire"):
        sql.execute("fire", {})
