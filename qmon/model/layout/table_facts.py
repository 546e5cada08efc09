"""Facts about a queue's tables, read from the catalogue once at connect: what the probes may ask without a scan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from qmon.model.layout.layout import TableName


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the catalogue has it. ``type`` is the base type's name in lower case (``bigint``, ``nvarchar``)."""

    name: str
    type: str
    not_null: bool = False


@dataclass(frozen=True, slots=True)
class IndexName:
    """An index by its name. ``filtered``: it holds only some of the rows."""

    name: str
    filtered: bool = False


@dataclass(frozen=True, slots=True)
class ListPath:
    """An index along which the messages in one state are listed.

    ``column``: what it has them in the order of, ``None``: of nothing that says where a page begins. ``every``: it
    holds the rows of every state, so that those of this one are looked for among them. ``within``: the column before
    it, which has the name of the queue. ``then``: the id, by which it has those with the same value.
    """

    index: IndexName
    column: Column | None
    every: bool = False
    within: Column | None = None
    then: Column | None = None


@dataclass(frozen=True, slots=True)
class TableFacts:
    """What the catalogue says about the tables of one layout.

    Identifiers are the server's: oids on PostgreSQL, object ids on SQL Server; ``None`` where the layout has no such
    thing, or it is not there.

    Attributes:
        table_id: the table that holds the messages (of split tables the one with the state).
        data_table_id: the second half of split tables.
        sequence_id: the sequence that issues ids.
        push_sequence_id: a ring's push position.
        pop_sequence_id: a ring's pop position.
        subscriber_sequence_ids: the pop positions of a ring's subscribers where it has several, in their order.
        spare_id: the table of a ring's spare numbers (SQL Server): drawn, and waiting for whoever comes next.
        spare: the name of that table.
        order_by: the column that the head is sought along where the layout has no due time: the id, or a time where
            there is no id (or only a random one, such as a uuid, and an index on the time).
        order_by_number: ``order_by`` is a whole number, so that differences of it mean something.
        newest_id_seek: an index leads to the greatest id, which is a whole number.
        columns: the columns of ``table_id``, in order.
        payload: the column with the message, of the second table if the queue has two; ``None``: not known.
        unknown: figure → why this layout cannot have it at all, one line.
        slow: figure → why no probe of a poll may ask for it, one line; scans of the table still count it.
        indexes: seek → the index that leads a statement straight to its rows, so that it costs no more on a deep queue.
            Without one a poll must not ask, and ``slow`` has the reason.
            ``head``: the ready rows in the order of ``order_by`` without a walk over finished ones. ``ready``: that
            index holds the ready rows alone (partial, or led by the state), or every row is ready; where it does not,
            rows in progress and dead ones that lie before the head are walked over. ``walk``: the rows of every state
            in the order of ``order_by``: a walk from a known place finds the ready ones, and must be bounded.
            ``progress``: the rows in progress; ``stuck``: in the order of their start time. ``dead``: the dead rows.
            ``due``: those that are not due yet. ``priority``: the ready rows of each priority. ``states``: the values
            of the state, where it may have some that the layout lacks.
        filtered: those of these indexes that hold only some of the rows.
        lists: state (ready, scheduled, in_progress, dead, done) → the index along which its messages are listed. Those
            without one are not.
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
    lists: Mapping[str, ListPath] = field(default_factory=dict)

    @property
    def scanned(self) -> bool:
        """Whether figures come from scans of the table, since no index leads to them."""
        return bool(self.slow.keys() - {"states"}) and self.push_sequence_id is None

    @property
    def read_by_range(self) -> bool:
        """Whether the table is scanned range by range, if only for states that are not known."""
        return bool(self.slow) and self.push_sequence_id is None

    @property
    def tables(self) -> tuple[int, ...]:
        """The ids of the queue's tables: one, or two where the payloads are in another."""
        return (self.table_id,) if self.data_table_id is None else (self.table_id, self.data_table_id)

    @property
    def object_ids(self) -> tuple[int, ...]:
        """The tables and sequences of the queue, for granting rights on them."""
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
        """The column of that name, if the table has it."""
        return next((column for column in self.columns if column.name == name), None)

    def typed(self, name: str | None) -> Column | None:
        """The same, of unknown type where the table is not known to have it."""
        return None if name is None else self.column(name) or Column(name, "")

    def index(self, seek: str) -> IndexName | None:
        """The index that serves this seek, if there is one."""
        name = self.indexes.get(seek)
        return None if name is None else IndexName(name, name in self.filtered)
