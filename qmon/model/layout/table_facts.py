"""Facts about a queue's tables, read from the catalog once at connect. They decide which probes need no scan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from qmon.model.layout.layout import TableName


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the catalog. ``type`` is the base type's name in lower case (``bigint``, ``nvarchar``)."""

    name: str
    type: str
    not_null: bool = False


@dataclass(frozen=True, slots=True)
class IndexName:
    """An index. ``filtered``: it contains only some of the rows."""

    name: str
    filtered: bool = False


@dataclass(frozen=True, slots=True)
class ListPath:
    """An index for listing the messages in one state.

    Attributes:
        column: the column that the index sorts by; ``None``: no column of the index can mark where a page starts.
        every: the index contains rows of all states, so the list must search them for rows of this state.
        within: the column before ``column`` in the index. It contains the queue's name.
        then: the id column, which sorts rows with equal values.
    """

    index: IndexName
    column: Column | None
    every: bool = False
    within: Column | None = None
    then: Column | None = None


@dataclass(frozen=True, slots=True)
class TableFacts:
    """Facts from the catalog about the tables of one layout.

    Identifiers are the server's: oids on PostgreSQL, object ids on SQL Server. ``None``: the layout has no such object,
    or it does not exist.

    Attributes:
        table_id: the table with the messages; for split tables, the one with the state.
        data_table_id: the other table of a split design.
        sequence_id: the sequence that issues ids.
        push_sequence_id: a ring's push position.
        pop_sequence_id: a ring's pop position.
        subscriber_sequence_ids: the pop positions of a ring's subscribers if it has several, in their order.
        spare_id: the table of a ring's spare numbers (SQL Server). These were drawn, and the next consumer uses them.
        spare: the name of that table.
        order_by: the column by which the search for the head is ordered if the layout has no due time. It is the id. It
            is a time if there is no id, or if the id is random (such as a uuid) and the time has an index.
        order_by_number: ``order_by`` is a whole number, so differences between its values have a meaning.
        newest_id_seek: an index leads to the greatest id, which is a whole number.
        columns: the columns of ``table_id``, in order.
        payload: the column with the message, of the second table if the queue has two; ``None``: unknown.
        unknown: figure → one line that says why this layout cannot have it at all.
        slow: figure → one line that says why no probe of a poll may read it. Scans of the table still count it.
        indexes: seek → the index that leads a statement directly to its rows, so that its cost does not depend on the
            depth. Without such an index no poll runs the statement, and ``slow`` contains the reason. ``head``: the
            ready rows in the order of ``order_by`` without passing finished ones. ``ready``: the index of ``head``
            contains only ready rows (it is partial, or the state is its first column), or every row is ready. Otherwise
            the search also reads the rows in progress and the dead rows before the head. ``walk``: rows of all states
            in the order of ``order_by``. A walk from a known place finds the ready rows. It must be bounded.
            ``progress``: the rows in progress. ``stuck``: the rows in progress in the order of their start time.
            ``dead``: the dead rows. ``due``: rows that are not due yet. ``priority``: the ready rows of each priority.
            ``states``: the values of the state column, if it may contain values that the layout does not have.
        filtered: the indexes among these that contain only some of the rows.
        divided_by: columns that partition the table and also each new index (SQL Server). A new index can be read in
            its order only if its first column is one of these.
        lists: state (ready, scheduled, in_progress, dead, done) → the index for listing its messages. States without
            one are not listed.
    """

    table_id: int
    data_table_id: int | None = None
    sequence_id: int | None = None
    push_sequence_id: int | None = None
    pop_sequence_id: int | None = None
    subscriber_sequence_ids: tuple[int, ...] = ()
    spare_id: int | None = None
    spare: TableName | None = None
    order_by: str | None = None
    order_by_number: bool = False
    newest_id_seek: bool = False
    columns: tuple[Column, ...] = ()
    payload: Column | None = None
    unknown: Mapping[str, str] = field(default_factory=dict)
    slow: Mapping[str, str] = field(default_factory=dict)
    indexes: Mapping[str, str] = field(default_factory=dict)
    filtered: frozenset[str] = frozenset()
    divided_by: frozenset[str] = frozenset()
    lists: Mapping[str, ListPath] = field(default_factory=dict)

    @property
    def is_scanned(self) -> bool:
        """True if some figures come from scans of the table, because they have no index."""
        return bool(self.slow.keys() - {"states"}) and self.push_sequence_id is None

    @property
    def is_read_by_range(self) -> bool:
        """True if the table is scanned range by range, even if only to find unknown states."""
        return bool(self.slow) and self.push_sequence_id is None

    @property
    def tables(self) -> tuple[int, ...]:
        """The ids of the queue's tables: one, or two if another table has the payloads."""
        return (self.table_id,) if self.data_table_id is None else (self.table_id, self.data_table_id)

    @property
    def object_ids(self) -> tuple[int, ...]:
        """The tables and sequences of the queue, for granting permissions on them."""
        ids = (
            self.table_id,
            self.data_table_id,
            self.sequence_id,
            self.push_sequence_id,
            self.pop_sequence_id,
            *self.subscriber_sequence_ids,
            self.spare_id,
        )
        return tuple(dict.fromkeys(each for each in ids if each is not None))

    def column(self, name: str) -> Column | None:
        """Return the column with this name, or ``None`` if the table does not have it."""
        return next((column for column in self.columns if column.name == name), None)

    def column_or_untyped(self, name: str | None) -> Column | None:
        """Return the column with this name. Its type is empty if the catalog shows no such column."""
        return None if name is None else self.column(name) or Column(name, "")

    def index_for(self, seek: str) -> IndexName | None:
        """Return the index that serves this seek, or ``None`` without one."""
        name = self.indexes.get(seek)
        return None if name is None else IndexName(name, name in self.filtered)
