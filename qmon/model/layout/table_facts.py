"""Facts about a queue's tables. qmon reads the facts from the catalog once and then knows which probes need no scan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from qmon.model.layout.layout import ObjectName


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the catalog. ``type`` is the base type's name in lower case (``bigint``, ``nvarchar``)."""

    name: str
    type: str
    not_null: bool = False


@dataclass(frozen=True, slots=True)
class IndexName:
    """An index. ``filtered``: true if the index contains only some of the rows."""

    name: str
    filtered: bool = False


@dataclass(frozen=True, slots=True)
class ListPath:
    """An index for listing the messages in one state.

    Attributes:
        column: the column that the index sorts by; ``None`` if no column of the index can mark the start of a page.
        every: true if the index contains rows of all states, so that a list must search for rows of its state.
        within: the column that comes before ``column`` in the index and contains the queue's name.
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

    Identifiers are those of the server: oids on PostgreSQL, object ids on SQL Server. An identifier is ``None`` if the
    layout has no such object or the object does not exist.

    Attributes:
        table_id: the table with the messages. If two tables share the columns, the table with the state.
        data_table_id: the second table of a design with two tables.
        sequence_id: the sequence that issues ids.
        push_sequence_id: a ring's push position.
        pop_sequence_id: a ring's pop position.
        subscriber_sequence_ids: the pop positions of a ring's subscribers, in the order of the subscribers.
        spare_id: the table of a ring's spare numbers (SQL Server). The next consumer uses these numbers instead of
            drawing a new number.
        spare: the name of the table of spare numbers.
        order_by: the column that orders the search for the first message, unless the layout has a due time. It is
            usually the id. It is a time column with a usable index if there is no id, if ids are random (such as a
            uuid), or if the id has no usable index. ``None``: no column orders the messages.
        order_by_number: true if ``order_by`` is a whole number, so that differences between its values have a meaning.
        newest_id_seek: true if an index finds the greatest id and the id is a whole number.
        columns: the columns of ``table_id``, in order.
        payload: the column with the message. If the queue has two tables, it is a column of the second table. ``None``:
            unknown.
        unknown: figure → why this layout cannot have the figure, in one line.
        slow: figure → why no probe of a poll may read the figure, in one line. Scans of the table still count the
            figure.
        indexes: seek → the index that finds the rows of a statement directly, so that the cost does not depend on the
            depth. Without such an index no poll runs the statement, and ``slow`` contains the reason. ``head``: finds
            the ready rows in the order of ``order_by`` without passing finished rows. ``ready``: the index of ``head``,
            if it contains only ready rows (the index is partial, or its first column is the state) or if every row is
            ready. Otherwise the search also reads the rows in progress and the dead rows before the first message.
            ``walk``: contains rows of all states in the order of ``order_by``. A bounded walk from a known place finds
            the ready rows. ``progress``: finds the rows in progress. ``stuck``: finds the rows in progress in the order
            of their start time. ``dead``: finds the dead rows. ``due``: finds the rows that are not due yet.
            ``priority``: finds the ready rows of each priority. ``states``: finds the values of the state column, if it
            may contain values that the layout does not have.
        filtered: the names in ``indexes`` of indexes that contain only some of the rows.
        divided_by: columns that partition the table and also each new index (SQL Server). A new index can be read in
            its order only if its first column is one of these columns.
        lists: state (ready, scheduled, in_progress, dead, done) → the index for listing the messages in this state. A
            state without an index is not listed.
    """

    table_id: int
    data_table_id: int | None = None
    sequence_id: int | None = None
    push_sequence_id: int | None = None
    pop_sequence_id: int | None = None
    subscriber_sequence_ids: tuple[int, ...] = ()
    spare_id: int | None = None
    spare: ObjectName | None = None
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
    def has_scanned_figures(self) -> bool:
        """True if some figures come from scans of the table, because no index supports these figures."""
        return bool(self.slow.keys() - {"states"}) and self.push_sequence_id is None

    @property
    def needs_range_scan(self) -> bool:
        """True if the table is scanned range by range, even if only to find unknown states."""
        return bool(self.slow) and self.push_sequence_id is None

    @property
    def tables(self) -> tuple[int, ...]:
        """The ids of the queue's tables: one id, or two ids if another table contains the payloads."""
        return (self.table_id,) if self.data_table_id is None else (self.table_id, self.data_table_id)

    @property
    def object_ids(self) -> tuple[int, ...]:
        """The ids of the queue's tables and sequences. Permissions are granted on these objects."""
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
        """Return the column with this name. The type is empty if the catalog shows no such column."""
        return None if name is None else self.column(name) or Column(name, "")

    def index_for(self, seek: str) -> IndexName | None:
        """Return the index that serves this seek, or ``None`` if there is no such index."""
        name = self.indexes.get(seek)
        return None if name is None else IndexName(name, name in self.filtered)
