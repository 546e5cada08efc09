"""Discover by shape which tables look like queues, and why.

The results are marked as guesses. The user confirms a guess by writing it into the configuration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, cast

from qmon.errors import BadInput, LockTimeout, QueryFailed
from qmon.model.groups.configured_queue import LAYOUT_ONLY_KEYS
from qmon.model.groups.group import Group
from qmon.model.groups.group_parser import group_from_dict
from qmon.model.layout.layout import Layout, LayoutSource, ObjectName, Ring, StateValue
from qmon.model.layout.layout_io import layout_to_dict
from qmon.model.layout.time_zones import LOCAL_ZONE, TIME_TYPES, UNKNOWN_ZONE
from qmon.model.reasons import Reason
from qmon.monitor.catalog.catalog import Activity, Catalog, ColumnRow, SequenceRows, TableDetails, TableRow
from qmon.monitor.catalog.column_names import (
    BOOLEAN_TYPES,
    TEXT_TYPES,
    column_for_role,
    delay_interval_column,
    epoch_column_for_role,
    normalize_name,
    split_words,
)
from qmon.monitor.catalog.column_zones import with_zones
from qmon.monitor.catalog.complete_layout import complete_layout, unowned_sequence
from qmon.monitor.catalog.discovery.listed_states import (
    Never,
    OtherQueues,
    find_other_queues,
    has_flag_of_state,
    states_by_due_time,
    states_by_marks,
    states_by_values,
    steps_by_time,
)
from qmon.monitor.catalog.discovery.relatives import Relatives, are_halves
from qmon.monitor.catalog.discovery.shape import ENOUGH_ROWS, Shape, may_be_queue, name_type_pairs, score_shape
from qmon.monitor.catalog.state_values import (
    MAX_VALUES,
    KnownValues,
    existing_values,
    find_queue_state_column,
    is_not_a_state,
    known_values,
    needs_list_of_states,
    states_due_never,
    unexplained_values,
    unexplained_values_text,
    unit_of_times,
    values_text,
    words_by_state,
)
from qmon.texts import Text


class CandidateText(Text):
    """The properties of a table that may be a queue, and the reasons why it cannot be watched."""

    NO_END = (
        "how to recognize a done message: no column has the name of an end time or of a flag for done messages, and the"
        " server's counters do not show deleted rows"
    )
    NO_RIGHT = "the right to read {table}: {grant}"
    RING_COLUMNS = "has slots (`{slot}`), a message number (`{number}`) and a reference count (`{count}`)"
    NO_SEQUENCES = "the sequences of its push and pop positions; name them in ring = {{ … }}"
    SEQUENCES = "push and pop positions in the sequences {push} and {pop}"
    NO_SIZE = "its number of slots; write ring = {{ size = … }}"
    SLOTS = "{size:,} slots"
    PAYLOADS = "payloads in `{table}`, joined by `{column}`"
    SEVERAL_QUEUES = "one queue for each value of `{column}` ({values}); without `queue`, all are one queue"
    POPS_DELETE = "pops delete rows: {deleted:,} rows were deleted, and almost no rows were updated"
    DUE_AFTER = "when a message is due: after the interval `{column}`"
    NUMBERS = "the meaning of the numbers in `{column}`: write times"
    COUNTED = "of {inserted:,} inserted rows, {updated:,} were updated and {deleted:,} deleted"
    NO_POP_COLUMN = "which column shows that a message was popped: {counted}"
    NO_POPS_SEEN = "how to recognize a popped message: {counted}"


LIKELY: Final = 0.6

# The design assumed for a queue in two tables that was found by shape. The design batch_split has the same tables.
_SPLIT_DESIGN: Final = "batch_fast"
POSSIBLE: Final = 0.4
# If pops delete rows, at least this share of the inserted rows is deleted, and at most this share is updated.
_DELETED_SHARE: Final = 0.01
_UPDATED_SHARE: Final = 0.5
# A message in one of these states was popped.
_POPPED: Final = frozenset({"in_progress", "done", "dead"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A table that looks like a queue.

    ``score``: a table with at least ``LIKELY`` counts as a queue. A table with at least ``POSSIBLE`` is proposed as a
    possible queue. ``why``: the evidence, one phrase each. ``how``: how each part of the layout was found. ``missing``:
    what the user must specify before the table can be watched. ``written``: the queue as a table of ``qmon.toml``, if
    conditions define the states of its rows. ``locked``: the id of the table, if a lock that blocks even readers
    prevents reading it. ``times``: lines that compare the newest rows with the clock, for times of unknown zone.
    ``queue_column``: the column with the names of several queues in the table; empty if there is no such column.
    ``other_queues``: queues with the scheduled or dead messages of other queues. ``steps``: the steps of each queue.
    """

    layout: Layout
    score: float
    why: tuple[str, ...] = ()
    how: tuple[str, ...] = ()
    missing: str = ""
    written: Mapping[str, object] | None = None
    locked: int | None = None
    times: tuple[str, ...] = ()
    queue_column: str = ""
    other_queues: OtherQueues | None = None
    steps: tuple[Mapping[str, object], ...] = ()

    @property
    def proposal(self) -> Mapping[str, object] | None:
        """The queue as a table of ``qmon.toml``, if conditions or the names of several queues need one."""
        if not self.queue_column:
            return self.written
        entry = dict(self.written or layout_to_dict(self.layout))
        entry = {key: value for key, value in entry.items() if key not in LAYOUT_ONLY_KEYS}
        if self.steps:
            entry = {key: value for key, value in entry.items() if key != "counters"} | {"steps": list(self.steps)}
        return entry | {"queue": self.queue_column if self.other_queues is None else self.other_queues.names}

    @property
    def group(self) -> Group | None:
        """The queue in ``written``."""
        if self.written is None:
            return None
        table = self.layout.table
        return group_from_dict(self.written, table, where=str(table), source=LayoutSource.DISCOVERY)

    @property
    def summary(self) -> str:
        """The evidence in one line."""
        return "; ".join(self.why)


@dataclass(frozen=True, slots=True)
class SlotsRow:
    """The number of slots of a ring."""

    slots: int | None


@dataclass(slots=True)
class _Candidates:
    """The tables whose names, columns or counters suggest a queue."""

    catalog: Catalog
    sequences: SequenceRows
    details: dict[int, TableDetails]
    seen: Mapping[str, Collection[str]]
    taken: set[int] = field(default_factory=set)


def is_likely(finding: Candidate) -> bool:
    """Return whether the table counts as a queue and its layout is complete enough to watch it."""
    return finding.score >= LIKELY and not finding.missing


def discover_queues(
    catalog: Catalog,
    tables: Sequence[TableRow] | None = None,
    sequences: SequenceRows | None = None,
    seen_states: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> list[Candidate]:
    """Return the tables that look like queues, the most certain first.

    ``seen_states``: state values that polls have found, by queue.
    The function reads the catalog. From tables, it reads only the values of a state column (if an index exists or the
    table is small) and the last slot of a ring. Raises the errors of ``Connection.fetch``.
    """
    tables = catalog.read_tables() if tables is None else tables
    sequences = catalog.read_sequences() if sequences is None else sequences
    columns = catalog.read_columns(tables)
    activity = catalog.read_activity(tables)
    near = [t for t in tables if may_be_queue(t.table_name, columns.get(t.table_id, ()), activity.get(t.table_id))]
    chosen = {t.table_id for t in near}
    near += [t for t in _second_halves(tables, near, columns) if t.table_id not in chosen]
    catalog.prefetch_masks(near)
    work = _Candidates(catalog, sequences, catalog.read_details(near), seen_states)
    found = _without_relatives(
        [*_ring_candidates(work), *_split_candidates(work), *_single_candidates(work)], catalog, tables
    )
    by_name = {table.name: table for table in tables}
    found = [_with_missing_right(each, catalog, by_name) for each in found]
    names = Counter(finding.layout.queue for finding in found)
    return sorted(
        (_with_unique_name(each, names) for each in found if each.score >= POSSIBLE or each.locked is not None),
        key=lambda finding: (-finding.score, finding.layout.queue),
    )


def _without_relatives(candidates: list[Candidate], catalog: Catalog, tables: Sequence[TableRow]) -> list[Candidate]:
    """Remove tables that inherit from a queue, and add a reason to tables that may be detached partitions."""
    if not candidates:
        return candidates
    ids = {table.name: table.table_id for table in tables}
    queues = frozenset(ids[finding.layout.table] for finding in candidates if is_likely(finding))
    relatives = Relatives(catalog, tables)
    out = []
    for finding in candidates:
        table_id = ids[finding.layout.table]
        if relatives.inherits(table_id, queues):
            continue
        why = relatives.why_detached(table_id)
        out.append(replace(finding, missing=why, locked=None) if why else finding)
    return out


def _with_missing_right(finding: Candidate, catalog: Catalog, tables: Mapping[ObjectName, TableRow]) -> Candidate:
    """If our role may not read the table, add the GRANT that it needs."""
    name = finding.layout.table
    if tables[name].readable:
        return finding
    return replace(
        finding, missing=CandidateText.NO_RIGHT.render(table=name, grant=catalog.grant_statement(name)), locked=None
    )


def _with_unique_name(finding: Candidate, names: Mapping[str, int]) -> Candidate:
    if names[finding.layout.queue] < 2:
        return finding
    return replace(finding, layout=replace(finding.layout, queue=str(finding.layout.table)))


def _second_halves(
    tables: Sequence[TableRow], near: Sequence[TableRow], columns: dict[int, tuple[ColumnRow, ...]]
) -> Iterator[TableRow]:
    """Yield tables with few columns that may belong to the same queue as a table in ``near``."""
    families = {(t.table_schema, _name_family(t)) for t in near}
    for table in tables:
        if (table.table_schema, _name_family(table)) in families and len(columns.get(table.table_id, ())) <= 4:
            yield table


def _name_family(table: TableRow) -> str:
    found = split_words(table.table_name)
    return "queue" if found and found[0].startswith("queue") else found[0] if found else ""


def _base_layout(details: TableDetails, design: str) -> Layout:
    name = details.table.name
    return Layout(queue=name.name, design=design, table=name, source=LayoutSource.DISCOVERY)


def _ring_candidates(work: _Candidates) -> Iterator[Candidate]:
    """Yield tables of preallocated slots, with their two sequences."""
    for details in work.details.values():
        pairs = name_type_pairs(details.columns)
        slot, number, count = (
            column_for_role("slot", pairs),
            column_for_role("message_id", pairs),
            column_for_role("reference_count", pairs),
        )
        if slot is None or number is None or count is None:
            continue
        turn = column_for_role("turn", pairs)
        work.taken.add(details.table.table_id)
        layout = _base_layout(details, "ring" if turn else "ring_classic")
        why = [CandidateText.RING_COLUMNS.render(slot=slot, number=number, count=count)]
        push, pop = _position_sequence(work, details, "push"), _position_sequence(work, details, "pop")
        if push is None or pop is None:
            missing = CandidateText.NO_SEQUENCES.render()
            yield Candidate(layout, 0.5, tuple(why), missing=missing)
            continue
        why.append(CandidateText.SEQUENCES.render(push=push, pop=pop))
        size = _read_slots(work.catalog, details, slot)
        if size is None:
            missing = CandidateText.NO_SIZE.render()
            locked = details.table.table_id if details.table.table_id in work.catalog.locked_tables else None
            yield Candidate(layout, 0.8, tuple(why), missing=Reason.LOCKED if locked else missing, locked=locked)
            continue
        ring = Ring(size, push, pop, slot, turn, number, count)
        time, payload = column_for_role("enqueued_at", pairs), column_for_role("payload", pairs)
        why.append(CandidateText.SLOTS.render(size=size))
        yield Candidate(replace(layout, ring=ring, enqueued_at=time, payload=payload), 1.0, tuple(why))


def _position_sequence(work: _Candidates, details: TableDetails, verb: str) -> ObjectName | None:
    """Return the sequence of a ring's position.

    The sequence is in the schema of the table and named after the verb. If several sequences match, the name must also
    contain the name of the table.
    """
    near = [s for s in work.sequences if s.sequence_schema == details.table.table_schema]
    found = [
        s for s in near if verb in split_words(s.sequence_name) or normalize_name(s.sequence_name).startswith(verb)
    ]
    if len(found) > 1:
        found = [s for s in found if normalize_name(details.table.table_name) in normalize_name(s.sequence_name)]
    return found[0].name if len(found) == 1 else None


def _read_slots(catalog: Catalog, details: TableDetails, slot: str) -> int | None:
    if not details.table.readable or not any(index.keys[:1] == (slot,) for index in details.indexes):
        return details.table.estimated_rows or None
    try:
        return catalog.read_records(SlotsRow, "catalog/ring_slots", {"table": details.table.name.parts, "slot": slot})[
            0
        ].slots
    except LockTimeout:
        catalog.locked_tables.add(details.table.table_id)
        return details.table.estimated_rows or None
    except QueryFailed:
        return details.table.estimated_rows or None


def _split_candidates(work: _Candidates) -> Iterator[Candidate]:
    """Yield pairs of tables that share an id. One table has small rows with a state, and the other has the payloads."""
    halves: dict[tuple[str, str], list[TableDetails]] = {}
    for data in work.details.values():
        if data.table.table_id not in work.taken and _holds_payloads(data):
            halves.setdefault((data.table.table_schema, _name_family(data.table)), []).append(data)
    for meta in list(work.details.values()):
        near = halves.get((meta.table.table_schema, _name_family(meta.table)), ())
        if not near or meta.table.table_id in work.taken or not _holds_states(meta):
            continue
        for data in near:
            shared = _shared_id(meta, data)
            if shared is None or data.table.table_id in work.taken:
                continue
            finding = _single_candidate(work, meta, _SPLIT_DESIGN)
            if finding is None:
                continue
            layout = replace(finding.layout, data_table=data.table.name, data_id=shared, payload=_title_column(meta))
            work.taken |= {meta.table.table_id, data.table.table_id}
            why = (*finding.why, CandidateText.PAYLOADS.render(table=data.table.table_name, column=shared))
            yield replace(finding, layout=layout, score=round(finding.score + 0.2, 2), why=why)
            break


def _holds_payloads(data: TableDetails) -> bool:
    return (
        find_queue_state_column(data, _SPLIT_DESIGN) is None
        and column_for_role("payload", name_type_pairs(data.columns)) is not None
    )


def _holds_states(meta: TableDetails) -> bool:
    state = find_queue_state_column(meta, _SPLIT_DESIGN)
    return state is not None and not state[1] and column_for_role("payload", name_type_pairs(meta.columns)) is None


def _title_column(meta: TableDetails) -> str | None:
    """Return the title column of the table with the small rows. The payloads of the queue are in another table."""
    return next(
        (c.column_name for c in meta.columns if normalize_name(c.column_name) in ("title", "subject", "name")), None
    )


def _shared_id(meta: TableDetails, data: TableDetails) -> str | None:
    """Return the column that joins ``data`` (the payloads) to ``meta``. It is the key of both, with the same name."""
    keys = {index.keys[0] for index in meta.indexes if index.unique and len(index.keys) == 1}
    keys |= {column.column_name for column in meta.columns if column.is_identity or column.sequence_id is not None}
    for index in data.indexes:
        key = index.keys[0]
        if len(index.keys) == 1 and key is not None and key in keys and index.unique and are_halves(meta, data, key):
            return key
    return None


def _single_candidates(work: _Candidates) -> Iterator[Candidate]:
    for details in work.details.values():
        if details.table.table_id not in work.taken and (finding := _single_candidate(work, details)) is not None:
            yield _with_queue_column(work, details, finding)


def _with_queue_column(work: _Candidates, details: TableDetails, finding: Candidate) -> Candidate:
    """Add the column that names several queues: it has few values, and at least two."""
    layout = finding.layout
    unfit = layout.id is None or layout.key or layout.pop or any(zone == UNKNOWN_ZONE for _, zone in layout.zones)
    column = details.column(column_for_role("queue", name_type_pairs(details.columns)))
    if unfit or column is None or not is_likely(finding):
        return finding
    name = column.column_name
    if name in (layout.payload, layout.state.column if layout.state is not None else None):
        return finding
    values = known_values(details, name, work.catalog).values
    if not 2 <= len(values) < MAX_VALUES:
        return finding
    why = CandidateText.SEVERAL_QUEUES.render(column=name, values=values_text(values))
    steps: tuple[Mapping[str, object], ...] = ()
    if finding.group is not None and finding.written is not None and finding.other_queues is None:
        steps = tuple(steps_by_time(details, cast("list[dict[str, object]]", finding.written["state"]), name))
    return replace(finding, queue_column=name, how=(*finding.how, why), steps=steps)


def _single_candidate(work: _Candidates, details: TableDetails, design: str = "") -> Candidate | None:
    """Return the finding for one table."""
    # Do not read rows yet. The checks below exclude most tables.
    state, sequence, shape = _shape_in_catalog(details, work.sequences)
    known = KnownValues()
    if shape.score < POSSIBLE - 0.2:
        return None
    if state is not None:
        known = known_values(details, state[0].column_name, work.catalog, _values_seen(work, details.table.name))
        shape = score_shape(details, state, known, sequence)
        if not known.values and details.table.table_id in work.catalog.locked_tables:
            base = _base_layout(details, _choose_design(details, state, work.sequences))
            return Candidate(base, shape.score, tuple(shape.why), missing=Reason.LOCKED, locked=details.table.table_id)
    if state is not None and is_not_a_state(state[0].column_name, known):
        state, known = None, KnownValues()
        shape = score_shape(details, state, known, sequence)
    if shape.score < POSSIBLE:
        return None
    layout = _base_layout(details, design or _choose_design(details, state, work.sequences))
    try:
        layout, how = complete_layout(
            layout, details, work.sequences, lambda _: known, work.catalog.engine.types_without_text
        )
        layout, zones = with_zones(layout, details, lambda: LOCAL_ZONE)
    except BadInput as problem:
        return Candidate(layout, shape.score, tuple(shape.why), missing=str(problem))
    if (listed := _listed_candidate(work, details, layout, shape, state, known, design)) is not None:
        return listed
    deleted = None if state is None else _rows_popped_by_delete(details.activity)
    if deleted is not None and not _has_rows_in_progress(work.catalog, details, layout):
        layout = replace(layout, pop="delete")
        how = (*how, CandidateText.POPS_DELETE.render(deleted=deleted))
    missing = _missing_deletes(layout, details.activity)
    return Candidate(layout, round(shape.score, 2), tuple(shape.why), (*how, *zones), missing=missing)


def _shape_in_catalog(
    details: TableDetails, sequences: SequenceRows
) -> tuple[tuple[ColumnRow, bool] | None, ObjectName | None, Shape]:
    """Return a table's state column, its sequence and its score, without reading rows."""
    state = find_queue_state_column(details, "status")
    known = known_values(details, state[0].column_name) if state else KnownValues()
    number = column_for_role("id", name_type_pairs(details.columns))
    sequence = unowned_sequence(details.table.name, number, sequences) if number else None
    return state, sequence, score_shape(details, state, known, sequence)


def explain_tables(catalog: Catalog, tables: Sequence[TableRow]) -> list[tuple[ObjectName, tuple[str, ...]]]:
    """Return what suggests that each table is a queue, and what suggests that it is not, sorted by name.

    A table without any evidence has no reasons. Raises the errors of ``Connection.fetch``.
    """
    columns, activity = catalog.read_columns(tables), catalog.read_activity(tables)
    near = [t for t in tables if may_be_queue(t.table_name, columns.get(t.table_id, ()), activity.get(t.table_id))]
    details, sequences = catalog.read_details(near), catalog.read_sequences()
    why = {table_id: tuple(_shape_in_catalog(each, sequences)[2].why) for table_id, each in details.items()}
    return [(t.name, why.get(t.table_id, ())) for t in sorted(tables, key=lambda table: str(table.name))]


def _listed_candidate(
    work: _Candidates,
    details: TableDetails,
    layout: Layout,
    shape: Shape,
    state: tuple[ColumnRow, bool] | None,
    state_values: KnownValues,
    design: str,
) -> Candidate | None:
    """Return the finding for a table whose states need a list of conditions, or ``None`` if a layout describes it.

    A table with a due time that qmon does not understand is not watched: its scheduled messages would count as ready.
    """
    pairs = name_type_pairs(details.columns)
    times, missing = None, ""
    if layout.due_at is None and (delay := delay_interval_column(pairs)) is not None:
        missing = CandidateText.DUE_AFTER.render(column=delay)
    if layout.due_at is None and (due := epoch_column_for_role("due_at", pairs)) is not None:
        times = unit_of_times(work.catalog, details, due)
        missing = missing if times else CandidateText.NUMBERS.render(column=due)
        layout = replace(layout, due_at=due)
    if missing:
        return Candidate(replace(layout, due_at=None), round(shape.score, 2), tuple(shape.why), missing=missing)
    if design or layout.key or layout.id is None:
        return None
    flagged = state is None or (state[1] and state[0].type_name in BOOLEAN_TYPES and has_flag_of_state(details))
    if flagged and (told := states_by_marks(details, layout)) is not None:
        entry, means, ends = told
        ends = ends or (details.activity is not None and details.activity.rows_are_deleted)
        return _written_candidate(layout, shape, means, _with_times(entry, times), "" if ends else CandidateText.NO_END)
    if layout.state is None and times:
        entry, means = states_by_due_time(details, layout)
        missing = _missing_deletes(replace(layout, design="pending"), details.activity)
        return _written_candidate(layout, shape, means, _with_times(entry, times), missing)
    if layout.state is None:
        return None
    words = _words_of_layout(layout, state, state_values)
    never = None if times else _meaning_of_never(work, details, layout, words)
    other_queues = _find_other_queues(work, details, layout)
    if not (times or never or other_queues or needs_list_of_states(words)):
        return None
    entry, means = states_by_values(details, layout, words, never=never, other_queues=other_queues)
    found = _written_candidate(layout, shape, means, _with_times(entry, times))
    found = replace(found, other_queues=other_queues)
    rest = unexplained_values(state_values, words)
    return replace(found, how=(unexplained_values_text(layout.state.column, rest),)) if rest else found


def _meaning_of_never(
    work: _Candidates, details: TableDetails, layout: Layout, values_by_state: Mapping[str, Sequence[StateValue]]
) -> Never | None:
    """Return the meaning of a due time in more than five years.

    If a message with such a due time was popped, it means "due". If only other messages were popped, it means "due
    later" (``None``). Until any message is popped, the meaning is unknown.
    """
    if layout.due_at is None or layout.state is None:
        return None
    popped = {str(value) for kind, values in values_by_state.items() if kind in _POPPED for value in values}
    found = states_due_never(work.catalog, details, layout.state.column, layout.due_at)
    if not found or not popped.isdisjoint(found):
        return "now" if found else None
    seen = existing_values(work.catalog, details, layout.state.column)
    return "unknown" if popped.isdisjoint(seen) else None


def _find_other_queues(work: _Candidates, details: TableDetails, layout: Layout) -> OtherQueues | None:
    """Return queues of the table with scheduled or dead messages of its other queues, if there is no due time."""
    column = column_for_role("queue", name_type_pairs(details.columns))
    if column is None or layout.due_at is not None or (layout.state is not None and column == layout.state.column):
        return None
    return find_other_queues(column, known_values(details, column, work.catalog).values)


def _words_of_layout(
    layout: Layout, state: tuple[ColumnRow, bool] | None, state_values: KnownValues
) -> dict[str, tuple[StateValue, ...]]:
    """Return the values of each state: all known words of a column of words, or the numbers in the layout."""
    column = layout.state
    assert column is not None  # noqa: S101 - the caller has checked it
    if state is not None and state[0].type_name in TEXT_TYPES:
        return dict(words_by_state(state_values))
    single = {kind: getattr(column, kind) for kind in ("ready", "in_progress", "blocked", "dead")}
    found: dict[str, tuple[StateValue, ...]] = {kind: (value,) for kind, value in single.items() if value is not None}
    return found | ({"done": column.all_done} if column.all_done else {})


def _with_times(entry: Mapping[str, object], times: str | None) -> dict[str, object]:
    return {**entry, **({"times": times} if times else {})}


def _missing_deletes(layout: Layout, activity: Activity | None) -> str:
    """Return the missing evidence for a design whose pops delete rows; empty if the server's counters show deletes.

    Rows of logs, histories and results are only inserted. If rows are updated, an unknown column shows their state.
    """
    if activity is None or not layout.deletes_on_pop:
        return ""
    few = activity.inserted < ENOUGH_ROWS
    if few and not (activity.updated and not activity.deleted):
        return ""
    counted = CandidateText.COUNTED.render(
        inserted=activity.inserted, updated=activity.updated, deleted=activity.deleted
    )
    if few or activity.updated >= _UPDATED_SHARE * activity.inserted:
        return CandidateText.NO_POP_COLUMN.render(counted=counted)
    if activity.deleted < _DELETED_SHARE * activity.inserted:
        return CandidateText.NO_POPS_SEEN.render(counted=counted)
    return ""


def _values_seen(work: _Candidates, table: ObjectName) -> frozenset[str]:
    """Return the state values that polls have found in a table. Its queue has the name of the table."""
    return frozenset(value for name in (table.name, str(table)) for value in work.seen.get(name, ()))


def _written_candidate(
    layout: Layout, shape: Shape, means: str, written: Mapping[str, object], missing: str = ""
) -> Candidate:
    """Return the finding for a table whose states are a list of conditions. ``means``: the evidence for them."""
    found = Candidate(layout, round(shape.score, 2), (*shape.why, means), missing=missing, written=written)
    group = found.group
    return found if group is None else replace(found, layout=group.queue_layout(None))


def _rows_popped_by_delete(activity: Activity | None) -> int | None:
    """Return the number of deleted rows if pops delete rows, that is, if almost no row was updated; else ``None``."""
    if activity is None or activity.deleted < ENOUGH_ROWS or not activity.rows_are_deleted:
        return None
    return activity.deleted if activity.updated <= 0.05 * activity.deleted else None


def _has_rows_in_progress(catalog: Catalog, details: TableDetails, layout: Layout) -> bool:
    """Return whether a row is in progress. Pops of this table then do not delete, although no update was counted."""
    if layout.state is None or layout.state.in_progress is None:
        return False
    return str(layout.state.in_progress) in existing_values(catalog, details, layout.state.column)


def _choose_design(details: TableDetails, state: tuple[ColumnRow, bool] | None, sequences: SequenceRows) -> str:
    """Return a design that fits the table. If several designs have such a table, return one of these designs."""
    pairs = name_type_pairs(details.columns)
    if state is not None:
        if state[1]:
            return "flag"
        times = {name for name, kind in pairs if kind in TIME_TYPES}
        by_time = any(index.keys[0] in times and state[0].column_name in index.keys for index in details.indexes)
        return "batch_single" if by_time and column_for_role("started_at", pairs) is None else "status"
    if column_for_role("due_at", pairs) is not None:
        return "pending"
    if column_for_role("id", pairs) is None and not any(c.sequence_id or c.is_identity for c in details.columns):
        return "heap"
    if {"lifo", "stack"}.intersection(split_words(details.table.table_name)) or "lifo" in normalize_name(
        details.table.table_name
    ):
        return "lifo"
    numbered = any(c.sequence_id is not None or c.is_identity for c in details.columns)
    return "fifo" if numbered or not sequences else "naive"
