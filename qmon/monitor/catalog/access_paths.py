"""Find the index for each seek, so that the probes of a poll never scan a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from qmon.model.layout.layout import Layout, StateColumn
from qmon.model.layout.table_facts import Column, IndexName, ListPath, TableFacts
from qmon.model.layout.time_zones import TIME_TYPES
from qmon.model.rates.flow import pops_in_transaction
from qmon.model.reasons import Reason
from qmon.monitor.catalog.catalog import Index, SequenceRow, SequenceRows, TableDetails
from qmon.monitor.catalog.column_names import BOOLEAN_TYPES, RANDOM_ID_TYPES, TEXT_TYPES, WHOLE_TYPES
from qmon.monitor.catalog.state_values import known_values
from qmon.texts import Text


class IndexText(Text):
    """Missing indexes."""

    PARTITIONED = "partitions by {columns} divide each index on (`{column}`)"
    WHERE = " where `{column}` = {value}"
    INDEX_WOULD_HELP = "an index on (`{column}`){where} would help"
    FINISHED_ROWS_STAY = "finished rows stay in the index on the id"
    NOT_IN_ORDER = "the index on `{column}` is not read in its order"
    NO_INDEX_LEADS_EITHER = "no index leads with `{column}` or `{id}`"
    NO_INDEX_LEADS = "no index leads with `{column}`"


# Figures that come from the positions of a ring and the slots around these positions.
_RING_FIGURES: Final = ("ready", "in_progress", "oldest", "rates", "fill")

# Types of columns by which a list can be sorted. Equal values of these types have equal texts, and each text converts
# back to its value.
_LIST_TYPES: Final = (WHOLE_TYPES | TEXT_TYPES | RANDOM_ID_TYPES | TIME_TYPES | {"date"}) - {"enum", "ntext"}
_FALSE: Final = frozenset({"false", "f", "0", "no", "off", "n"})
_TRUE: Final = frozenset({"true", "t", "1", "yes", "on", "y"})


def table_facts(
    layout: Layout,
    details: TableDetails,
    data: TableDetails | None,
    sequences: SequenceRows,
    divided_by: frozenset[str] = frozenset(),
) -> TableFacts:
    """Return the facts about one completed layout.

    ``data``: the second table, if the queue has two. ``divided_by``: see ``TableFacts``.
    """
    reader = _FactCollector(layout, details, divided_by)
    readers: list[SequenceRow] = []
    if layout.ring is not None:
        reader.record_ring_index()
        push = sequences.find(layout.ring.push_sequence)
        pop = sequences.find(layout.ring.pop_sequence)
        found_readers = [sequences.find(name) for name in layout.ring.subscribers]
        readers = [each for each in found_readers if each is not None]
    else:
        reader.record_head_index()
        reader.record_in_progress_index()
        reader.record_dead_index()
        reader.record_blocked_index()
        reader.record_unknown_states_index()
        reader.record_priority_index()
        push = pop = None
    reader.mark_ages_without_zone()
    reader.mark_inapplicable_figures()
    sequence = reader.find_gap_sequence(sequences, [s for s in dict.fromkeys((push, pop, *readers)) if s is not None])
    return TableFacts(
        table_id=details.table.table_id,
        data_table_id=data.table.table_id if data else None,
        sequence_id=sequence.sequence_id if sequence else reader.identity_table_id(details.table.table_id),
        push_sequence_id=push.sequence_id if push else None,
        pop_sequence_id=pop.sequence_id if pop else None,
        subscriber_sequence_ids=tuple(each.sequence_id for each in readers),
        order_by=reader.order_by,
        order_by_number=reader.column_type(reader.order_by) in WHOLE_TYPES,
        newest_id_seek=reader.column_type(layout.id) in WHOLE_TYPES
        and any(index.keys[:1] == (layout.id,) and index.where is None for index in details.ordered_indexes),
        columns=details.facts_columns,
        payload=payload.for_facts if (payload := (data or details).column(layout.payload)) is not None else None,
        unknown=reader.unknown,
        slow=reader.slow,
        indexes=reader.indexes,
        filtered=frozenset(
            i.name for i in details.ordered_indexes if i.where is not None and i.name in reader.indexes.values()
        ),
        divided_by=divided_by,
        lists=reader.list_paths(),
    )


def walk_path_for(details: TableDetails, ids: Sequence[str], queue: str | None = None) -> ListPath | None:
    """Return an index for listing messages that contains all rows, preferably one that is sorted by one of ``ids``.

    ``queue``: the column with the name of the queue, if the table holds several queues.
    """
    whole = [each for each in details.ordered_indexes if each.where is None and _is_never_null(details, each.keys[0])]
    index = next((each for id in ids[::-1] for each in whole if each.keys[0] == id), None)
    if index is None and queue is not None:
        by_queue = next((each for each in whole if each.keys[:2] == (queue, ids[-1])), None)
        within, column = list_column(details, queue), list_column(details, ids[-1])
        if by_queue is not None and within is not None and column is not None and column.not_null:
            return ListPath(IndexName(by_queue.name), column, every=True, within=within)
    index = index or next(iter(whole), None)
    return None if index is None else ListPath(IndexName(index.name), list_column(details, index.keys[0]), every=True)


def _is_never_null(details: TableDetails, key: str | None) -> bool:
    column = details.column(key)
    return column is not None and column.not_null


def list_column(details: TableDetails, key: str | None) -> Column | None:
    """Return the key column of an index if its values can be written as text and found again by that text."""
    column = details.column(key)
    return None if column is None or column.type_name not in _LIST_TYPES else column.for_facts


class _FactCollector:
    """Collect the facts about the figures of one layout."""

    def __init__(self, layout: Layout, details: TableDetails, divided_by: frozenset[str]) -> None:
        self.divided_by = divided_by
        self.layout = layout
        self.details = details
        self.state = layout.state
        self.indexes: dict[str, str] = {}
        self.unknown: dict[str, str] = {}
        self.slow: dict[str, str] = {}
        self.order_by = self._choose_order()

    def column_type(self, column: str | None) -> str:
        """Return the type of a column; empty if it does not exist."""
        found = self.details.column(column)
        return found.type_name if found else ""

    def _choose_order(self) -> str | None:
        """Return the column by which the head is found: the id, or a time if there is no id or the ids are random.

        If pops sort by a time, and only an index on this time finds the ready rows in order, return the time. If the
        order of pops is unknown, an index of the ready rows by push time shows that pops use this order.
        """
        if self.layout.id is not None and self.column_type(self.layout.id) not in RANDOM_ID_TYPES:
            first = self._time_of_pops()
            if first is None or self._index_for_state("ready", (self.layout.id,)) is not None:
                return self.layout.id
            return first if self._index_for_state("ready", (first,)) is not None else self.layout.id
        for time in (self.layout.enqueued_at, self.layout.due_at):
            if time is not None and self._index_for_state("ready", (time,)) is not None:
                return time
        return None

    def _time_of_pops(self) -> str | None:
        """Return the time by which pops sort or may sort, in ascending order."""
        if self.layout.order:
            first = None if self.layout.order[0].descending else self.layout.order[0].column
        else:
            first = self.layout.enqueued_at if self.state and self.layout.traits.order == "fifo" else None
        column = self.details.column(first)
        return first if column is not None and column.not_null and column.type_name in TIME_TYPES else None

    def _is_same_value(self, value: str | None, other_value: object) -> bool:
        if value is None:
            return False
        if self.column_type(self.state.column if self.state else None) in ("boolean", "bit"):
            both = {str(value).lower(), str(other_value).lower()}
            return both <= _FALSE or both <= _TRUE
        return value == str(other_value)

    def _holds_only(self, index: Index, state: str) -> bool:
        """Return whether the index holds the rows of this state and no other rows."""
        if self.state is None or index.where is None or (wanted := getattr(self.state, state)) is None:
            return False
        allowed = index.where.values_if_only(self.state.column)
        return allowed is not None and len(allowed) == 1 and self._is_same_value(next(iter(allowed)), wanted)

    def _index_for_state(self, state: str, then: Sequence[str]) -> Index | None:
        """Return an index in which the rows of this state are adjacent and sorted by the columns in ``then``.

        If there is no state column, the index contains all rows.
        """
        for index in self.details.ordered_indexes:
            if self.state is None:
                if index.where is None and index.keys[: len(then)] == tuple(then):
                    return index
            elif self._holds_only(index, state):
                if index.keys[: len(then)] == tuple(then):
                    return index
            elif index.where is None and index.keys[: len(then) + 1] == (self.state.column, *then):
                return index
        return None

    def _describe_missing_index(self, state: str, column: str) -> str:
        """Describe for the user which index is missing, or why no new index would help."""
        if self.divided_by and column not in self.divided_by:
            by = ", ".join(f"`{each}`" for each in sorted(self.divided_by))
            return IndexText.PARTITIONED.render(columns=by, column=column)
        value = getattr(self.state, state) if self.state else None
        where = (
            IndexText.WHERE.render(column=self.state.column, value=value) if self.state and value is not None else ""
        )
        return IndexText.INDEX_WOULD_HELP.render(column=column, where=where)

    def record_head_index(self) -> None:
        """Record indexes for the oldest ready message, the bounded count of ready messages, and scheduled messages."""
        self._record_due_index()
        layout = self.layout
        if layout.due_at is not None and "due" in self.indexes:
            self.indexes["ready"] = self.indexes["head"] = self.indexes["due"]
            return
        if layout.due_at is not None:
            self.slow["ready"] = self.slow["oldest"] = self.slow["scheduled"]
            return
        if self.order_by is None:
            kind = self.column_type(layout.id)
            reason = Reason.IDS_IN_NO_ORDER.render(type=kind) if layout.id else Reason.NO_ORDER
            if layout.enqueued_at is None and layout.due_at is None:
                self.unknown["oldest"] = reason
            else:
                self.slow["oldest"] = Reason.NOT_SOUGHT.render(reason=reason)
            self.slow["ready"] = Reason.SCANNED_INSTEAD.render(reason=reason)
            if layout.id is None and self.state is None:
                self.slow["ready"] = Reason.SCANNED_UNLESS_SMALL.render(reason=reason)
                self.slow["oldest"] = Reason.FOUND_WHILE_SMALL.render(reason=reason)
            return
        if (ready := self._index_for_state("ready", (self.order_by,))) is not None:
            self.indexes["ready"] = self.indexes["head"] = ready.name
        elif (plain := self._leading_index(self.order_by)) is not None and self.state and self.state.done is None:
            self.indexes["head"] = plain.name
        if "head" not in self.indexes and (walk := self._index_by_time_and_state()) is not None:
            self.indexes["walk"] = walk.name
            self.order_by = walk.keys[0]
        elif "head" not in self.indexes:
            lead = self._leading_index(self.order_by)
            why = IndexText.FINISHED_ROWS_STAY if lead else self._describe_no_leading_index(self.order_by)
            text = Reason.NO_INDEX_FOR_READY.render(why=why, index=self._describe_missing_index("ready", self.order_by))
            self.slow["ready"] = self.slow["oldest"] = text

    def _index_by_time_and_state(self) -> Index | None:
        """Return an index of the rows of all states, sorted by a time. qmon then assumes that pops use this order."""
        if self.state is None or self.layout.traits.order != "fifo":
            return None
        for index in self.details.ordered_indexes:
            if index.where is None and len(index.keys) > 1 and index.keys[1] == self.state.column:
                column = self.details.column(index.keys[0])
                if column is not None and column.not_null and column.type_name in TIME_TYPES:
                    return index
        return None

    def _describe_no_leading_index(self, column: str) -> str:
        if any(each.keys[:1] == (column,) for each in self.details.indexes if not each.ordered):
            return IndexText.NOT_IN_ORDER.render(column=column)
        return IndexText.NO_INDEX_LEADS.render(column=column)

    def _leading_index(self, column: str) -> Index | None:
        return next((i for i in self.details.ordered_indexes if i.where is None and i.keys[:1] == (column,)), None)

    def _record_due_index(self) -> None:
        due = self.layout.due_at
        if due is None:
            self.unknown["scheduled"] = Reason.NO_DUE_TIME
            return
        column = self.details.column(due)
        if column is not None and not column.not_null:
            text = Reason.DUE_MAY_BE_NULL.render(column=due)
            self.slow["scheduled"] = text
        elif (index := self._index_for_state("ready", (due,))) is not None:
            self.indexes["due"] = index.name
        else:
            self.slow["scheduled"] = Reason.NO_INDEX_FOR_DUE.render(index=self._describe_missing_index("ready", due))

    def record_in_progress_index(self) -> None:
        """Record indexes for messages in progress and stuck messages."""
        state = self.state
        if pops_in_transaction(self.layout):
            if "head" not in self.indexes:
                reason: str = Reason.POP_DELETES if state is None else Reason.POP_FINISHES
                if self.order_by is None and self.layout.id is None and state is None:
                    reason = Reason.UNLESS_SMALL.render(reason=reason)
                self.unknown["in_progress"] = self.unknown["stuck"] = reason
            return
        if state is None or state.in_progress is None:
            reason = Reason.NO_PROGRESS_STATE
            self.unknown["in_progress"] = self.unknown["stuck"] = reason
            if state is not None and state.learnt and self.layout.pop is None and self.layout.traits.completes:
                self.unknown["pop_rate"] = self.unknown["complete_rate"] = Reason.UPDATES_ONLY.render(reason=reason)
            return
        started = self.layout.started_at
        if started is not None and (index := self._index_for_state("in_progress", (started,))) is not None:
            self.indexes["stuck"] = self.indexes["progress"] = index.name
        elif (index := self._index_for_state("in_progress", ())) is not None:
            self.indexes["progress"] = index.name
        else:
            wanted = self._describe_missing_index("in_progress", started or self.layout.id or state.column)
            text = Reason.NO_INDEX_FOR_PROGRESS.render(index=wanted)
            self.slow["in_progress"] = self.slow["stuck"] = text

    def mark_ages_without_zone(self) -> None:
        """Mark ages as unknown if the time zone of their column is unknown."""
        for column, figure in ((self.layout.enqueued_at, "oldest"), (self.layout.started_at, "stuck")):
            if column is not None and not self.layout.has_known_time(column):
                self.unknown.setdefault(figure, Reason.NO_TIME_ZONE.render(column=column))

    def record_dead_index(self) -> None:
        """Record an index for dead messages."""
        if self.state is None or self.state.dead is None:
            self.unknown["dead"] = Reason.NO_DEAD_STATE
        elif (index := self._index_for_state("dead", ())) is not None:
            self.indexes["dead"] = index.name
        else:
            column = self.layout.id or self.state.column
            text = Reason.NO_INDEX_FOR_DEAD.render(index=self._describe_missing_index("dead", column))
            self.slow["dead"] = text

    def record_unknown_states_index(self) -> None:
        """Record an index for messages in states that qmon does not know."""
        if self.state is None or self._has_known_values_only(self.state):
            return
        column = self.state.column
        if (index := self._leading_index(column)) is not None:
            self.indexes["states"] = index.name
        else:
            self.slow["states"] = Reason.NO_INDEX_FOR_STATES.render(column=column)

    def _has_known_values_only(self, state: StateColumn) -> bool:
        """Return whether the column has only known values.

        The type of the column or a check proves this. It is also true if only qmon's routines write the column.
        """
        if self.layout.routines or self.column_type(state.column) in BOOLEAN_TYPES:
            return True
        known = known_values(self.details, state.column)
        return known.closed and set(known.values) <= {str(value) for value in state.values}

    def record_blocked_index(self) -> None:
        """Record an index for blocked messages. Scans do not count blocked messages."""
        if self.state is None or self.state.blocked is None:
            return
        if (index := self._index_for_state("blocked", ())) is not None:
            self.indexes["blocked"] = index.name
        else:
            wanted = self._describe_missing_index("blocked", self.layout.id or self.state.column)
            self.unknown["blocked"] = Reason.NO_INDEX_FOR_BLOCKED.render(index=wanted)

    def list_paths(self) -> dict[str, ListPath]:
        """Return, for each state, the index by which its messages are listed."""
        layout, state = self.layout, self.state
        if layout.ring is not None or not layout.id_columns:
            return {}
        started, due = layout.started_at, layout.due_at
        wanted: dict[str, tuple[str, str | None]] = {"ready": ("ready", due or self.order_by)}
        if due is not None:
            wanted["scheduled"] = ("ready", due)
        if state is not None:
            wanted |= {
                each: (each, layout.id) for each in ("blocked", "dead", "done") if getattr(state, each) is not None
            }
            if state.in_progress is not None:
                wanted["in_progress"] = ("in_progress", started or layout.id)
        found = {name: self._list_path(*each) for name, each in wanted.items()}
        return {name: path for name, path in found.items() if path is not None}

    def _list_path(self, state: str, first: str | None) -> ListPath | None:
        """Return an index of the rows in this state, preferably sorted by ``first``.

        If no such index exists, return an index that contains all rows and is sorted by id.
        """
        index = self._index_for_state(state, () if first is None else (first,)) or self._index_for_state(state, ())
        if index is None:
            return walk_path_for(self.details, self.layout.id_columns)
        led = self.state is not None and index.keys[0] == self.state.column
        following = index.keys[1:] if led else index.keys
        column, then = (list_column(self.details, key) for key in (*following, None, None)[:2])
        if then is not None and not (then.not_null and self.layout.id_columns == (then.name,)):
            then = None
        return ListPath(IndexName(index.name, index.where is not None), column, then=then)

    def record_priority_index(self) -> None:
        """Record an index for the oldest ready message of each priority."""
        column, order = self.layout.priority, self.order_by
        if (
            column is None
            or order is None
            or self.layout.due_at is not None
            or self.column_type(column) not in WHOLE_TYPES
        ):
            return
        if (index := self._index_for_state("ready", (column, order))) is not None:
            self.indexes["priority"] = index.name

    def record_ring_index(self) -> None:
        """Record the index on the slots of a ring."""
        ring = self.layout.ring
        assert ring is not None  # noqa: S101 - the caller has checked it
        if (index := self._leading_index(ring.slot)) is not None:
            self.indexes["head"] = self.indexes["ready"] = index.name
        else:
            text = Reason.NO_INDEX_FOR_SLOT.render(column=ring.slot)
            self.slow |= dict.fromkeys(_RING_FIGURES, text)
        for figure, reason in (
            ("scheduled", Reason.RING_HAS_NO_DUE_TIME),
            ("dead", Reason.RING_HAS_NO_DEAD),
            ("stuck", Reason.RING_HAS_NO_PROGRESS),
        ):
            self.unknown[figure] = reason

    def identity_table_id(self, table_id: int) -> int | None:
        """Return the table id if its id column is an identity that no sequence fills (SQL Server)."""
        column = self.details.column(self.layout.id)
        return table_id if column is not None and column.is_identity and column.sequence_id is None else None

    def mark_inapplicable_figures(self) -> None:
        """Mark as unknown the figures that do not exist for the design."""
        if not self.layout.traits.completes:
            self.unknown["complete_rate"] = Reason.POPS_ARE_COMPLETIONS
        if self.layout.ring is None:
            self.unknown["fill"] = Reason.NO_SLOTS

    def find_gap_sequence(self, sequences: SequenceRows, positions: Iterable[SequenceRow]) -> SequenceRow | None:
        """Return the sequence that issues ids. If there is no sequence, record why the gap is unknown."""
        hidden = [s for s in positions if not s.readable]
        sequence = sequences.find(self.layout.sequence) if self.layout.sequence else None
        if self.layout.ring is None:
            column = self.details.column(self.layout.id)
            if column is None:
                self.unknown["gap"] = Reason.NO_ID
            elif column.type_name not in WHOLE_TYPES:
                self.unknown["gap"] = Reason.IDS_NOT_NUMBERS.render(type=column.type_name)
            elif sequence is None and not column.is_identity:
                self.unknown["gap"] = Reason.NO_SEQUENCE.render(column=column.column_name)
            elif sequence is not None and not sequence.readable:
                hidden.append(sequence)
        if hidden:
            names = [str(s.name) for s in hidden]
            self.unknown["gap"] = Reason.SEQUENCE_UNREADABLE.render(
                names=" and ".join(names), sequences=", ".join(names)
            )
            if self.layout.ring is not None:
                self.unknown |= dict.fromkeys(_RING_FIGURES, self.unknown["gap"])
        return sequence
