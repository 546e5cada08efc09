"""Complete two kinds of queues from the catalog: queues of libraries, and groups of the configuration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from qmon.engines.base import Engine
from qmon.errors import BadInput
from qmon.libraries.library_catalog import all_libraries
from qmon.libraries.recognition import (
    explain_recognition,
    find_table_queues,
    may_belong_to_library,
    recognize_libraries,
)
from qmon.model.config_reader import suggest_nearest
from qmon.model.groups.conditions import (
    ColumnRef,
    ColumnsRead,
    Condition,
    TableColumn,
    columns_read,
    table_column,
    without_locks,
)
from qmon.model.groups.enum_labels import Labels, drop_missing_labels
from qmon.model.groups.group import Group, ResolvedGroup, State, StepTable, find_state_column
from qmon.model.layout.layout import Layout, LayoutSource, ObjectName
from qmon.model.layout.time_zones import UTC_ZONE, Zone
from qmon.model.snapshot import ProbeFailure
from qmon.monitor.catalog.access_paths import walk_path_for
from qmon.monitor.catalog.catalog import Catalog, ColumnRow, TableDetails, TableRow
from qmon.monitor.catalog.column_zones import zone_in_group
from qmon.monitor.catalog.state_values import enum_labels
from qmon.texts import Text


class GroupResolutionText(Text):
    """Queues in shared tables: how they were recognized, or why they cannot be watched."""

    LIBRARY = "{library}: {reason}"
    NOT_FOUND = "its tables were not found; to see why: qmon queues TARGET --explain"
    UNREADABLE = "your role may not read {table}"
    RECOGNIZED = "{library}: {table} was recognized by its columns"
    NO_COLUMN = "{table} has no column {column!r}{hint}"
    NO_ZONE = "{column} has no time zone: `at` needs a column with a time zone, or with UTC times"
    NO_JSON = "{column} is {type}, but `path` needs a column of JSON ({types})"
    LEFT_OUT = "{group}: {reason}"
    WITHOUT = "without `{part}`: {why}"
    WITHOUT_OF_STATE = "without `{part}` of {state}: {why}"
    WITHOUT_STEPS = "without the steps in {table}: {why}"
    NO_TIME_INDEX = "the table is large, and no index starts with {column}, or with the queue and {column}"


# The types from which the servers can read a value inside JSON. SQL Server has no type for JSON before 2025.
_JSON_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "postgres": ("json", "jsonb"),
    "sqlserver": ("json", "nvarchar", "varchar"),
}

# If a table has more rows, steps are counted by their time only with an index. Without it, each poll scans the table.
_MOST_SCANNED: Final = 100_000

ReadDetails = Callable[[ObjectName], TableDetails]


@dataclass(frozen=True, slots=True)
class LibraryQueues:
    """The groups, single-table queues and tables of libraries. ``problems``: for example, unreadable tables."""

    groups: tuple[ResolvedGroup, ...] = ()
    layouts: tuple[Layout, ...] = ()
    tables: frozenset[ObjectName] = frozenset()
    problems: tuple[ProbeFailure, ...] = ()
    explained: tuple[str, ...] = ()


def find_library_queues(
    catalog: Catalog,
    tables: Sequence[TableRow],
    library_names: Collection[str] | None,
    read_details: ReadDetails,
    read_server_zone: Callable[[], Zone],
) -> LibraryQueues:
    """Return the tables of known libraries.

    ``library_names``: search only for these libraries; a library that is not found becomes a problem. ``read_details``,
    ``read_server_zone``: see ``complete_group``.
    """
    known = [
        each
        for each in all_libraries()
        if each.engine == catalog.engine.name and (not library_names or each.name in library_names)
    ]
    any_name = any(library.queues for library in known)
    near = [table for table in tables if any_name or may_belong_to_library(table.table_name, known)]
    columns = catalog.read_columns(near)
    named: dict[str, dict[str, dict[str, str]]] = {}
    for table in near:
        of_table = {column.column_name: column.type_name for column in columns.get(table.table_id, ())}
        named.setdefault(table.table_schema, {})[table.table_name] = of_table
    found = recognize_libraries(known, catalog.engine.name, named)
    theirs = frozenset(table for each in found for table in each.tables)
    single = [each for each in find_table_queues(known, catalog.engine.name, named) if each.table not in theirs]
    there = {each.library.name for each in found} | {each.library for each in single}
    problems = [
        _library_problem(name, GroupResolutionText.NOT_FOUND) for name in sorted(set(library_names or ()) - there)
    ]
    rows = {table.name: table for table in tables}
    lines = explain_recognition(known, catalog.engine.name, named)
    groups: list[ResolvedGroup] = []
    of_each = [(each.library.name, each.tables, each.groups) for each in found]
    of_each += [(each.library, frozenset({each.table}), (each,)) for each in single if isinstance(each, Group)]
    for library, own, parts in of_each:
        hidden = sorted((table for table in own if not rows[table].readable), key=str)
        problems += [
            ProbeFailure(
                "library",
                GroupResolutionText.LIBRARY.render(
                    library=library, reason=GroupResolutionText.UNREADABLE.render(table=table)
                ),
                grant=catalog.grant_statement(table),
            )
            for table in hidden
        ]
        for group in () if hidden else parts:
            try:
                completed, left_out = complete_group(group, catalog, read_details, read_server_zone)
            except BadInput as problem:
                problems.append(_library_problem(library, str(problem)))
                continue
            groups.append(completed)
            lines += tuple(GroupResolutionText.LEFT_OUT.render(group=group.name, reason=each) for each in left_out)
            if group.source is LayoutSource.CONFIGURATION:
                problems += [_library_problem(library, each) for each in left_out]
    lines += tuple(GroupResolutionText.RECOGNIZED.render(library=each.library, table=each.table) for each in single)
    return LibraryQueues(
        groups=tuple(groups),
        layouts=tuple(each for each in single if isinstance(each, Layout)),
        tables=theirs | {each.table for each in single},
        problems=tuple(problems),
        explained=lines,
    )


def complete_group(
    group: Group,
    catalog: Catalog,
    read_details: ReadDetails,
    read_server_zone: Callable[[], Zone],
    *,
    strict: bool = False,
) -> tuple[ResolvedGroup, tuple[str, ...]]:
    """Return a group with the schema of its table and the zones of its times, and a line for each part left out.

    A part that the group can do without, such as the owner, is left out if a column is missing or the server cannot
    answer its condition. If a group that is configured or was found by its shape does not define rates, new rows may
    give the push rate. This requires that the server numbers the rows and that finished rows stay.

    Args:
        group: the group. The schema of its table may be missing.
        catalog: the catalog of the database.
        read_details: returns a table's details from the catalog.
        read_server_zone: returns the server's local time zone.
        strict: do not leave out any part, except steps of a large table without an index.

    Raises ``BadInput`` if a needed column does not exist or the time zone of its times is unknown, and the errors of
    ``read_details``.
    """
    own = read_details(group.table)
    group = replace(group, table=own.table.name)
    tables = _Tables(group, own, catalog.engine, read_details)
    group, left_out = (group, ()) if strict else _without_unsupported_parts(group, tables)
    group, slow = _without_slow_steps(group, tables)
    left_out = (*left_out, *slow)
    stay = any(state.kind == "done" for state in group.states)
    configured = group.source is LayoutSource.CONFIGURATION
    if (
        (configured or not group.library)
        and stay
        and not group.steps
        and not group.counters
        and _can_seek_newest_row(own, group.id)
    ):
        steps = StepTable(own.table.table_name, group.id, None, group.queue, (("pushed", group.where),))
        group = replace(group, steps=(steps,))
    uses = group.columns_read
    tables.check(uses, *group.conditions)
    zones = {
        each: zone_in_group(group, tables.details(each[0]), tables.column(each), read_server_zone)
        for each in uses.times
    }
    for steps in group.steps:
        if steps.at is not None and zones[steps.table, steps.at] != UTC_ZONE:
            raise BadInput(GroupResolutionText.NO_ZONE.render(column=f"{steps.table}.{steps.at}"))
    labels = {
        each: frozenset(known) for each in uses.columns if (known := enum_labels(tables.details(each[0]), each[1]))
    }
    texts = [table_column(each, group.table.name) for each in (group.payload, group.error) if each is not None]
    group = replace(
        drop_missing_labels(group, labels),
        zones=tuple(sorted(zones.items())),
        types=tuple((each, tables.column(each).type_name) for each in texts),
    )
    queue = group.queue.name if group.queue is not None and group.queue.is_plain else None
    found = ResolvedGroup(
        group,
        own.table.table_id,
        own.table.estimated_rows,
        walk_path_for(own, (group.id,), queue),
        _state_labels(group, labels),
        tuple((name, each.table.table_id) for name, each in sorted(tables.known.items())),
    )
    return found, left_out


class _Tables:
    """The tables of a group that were read from the catalog so far, by name."""

    def __init__(self, group: Group, own: TableDetails, engine: Engine, read_details: ReadDetails) -> None:
        self.known = {own.table.table_name: own}
        self._group = group
        self._engine = engine
        self._read_details = read_details

    def details(self, table: str) -> TableDetails:
        """Return the details of a table. Raises ``BadInput`` if there is no such table."""
        if table not in self.known:
            self.known[table] = self._read_details(ObjectName(self._group.schema, table))
        return self.known[table]

    def column(self, name: TableColumn) -> ColumnRow:
        """Return a column. Raises ``BadInput`` if there is no such column."""
        details = self.details(name[0])
        if (column := details.column(name[1])) is None:
            near = suggest_nearest(name[1], [column.column_name for column in details.columns])
            raise BadInput(GroupResolutionText.NO_COLUMN.render(table=details.table.name, column=name[1], hint=near))
        return column

    def must_scan(self, steps: StepTable) -> bool:
        """Return whether each poll would scan a large table to count these steps by their time."""
        details = self.details(steps.table)
        if steps.at is None or (details.table.estimated_rows or 0) <= _MOST_SCANNED:
            return False
        starts = ((steps.at,), (steps.queue.name if steps.queue else None, steps.at))
        keys = [tuple(index.keys) for index in details.indexes if index.where is None]
        return not any(key[: len(start)] == start for key in keys for start in starts)

    def check(self, uses: ColumnsRead, *conditions: Condition) -> None:
        """Raise ``BadInput`` if one of these columns cannot be read or one of these conditions cannot be tested."""
        types = {each: self.column(each).type_name for each in sorted(uses.columns)}
        for table, column in sorted(uses.json):
            kind = types[table, column]
            if kind not in _JSON_TYPES[self._engine.name]:
                allowed = ", ".join(_JSON_TYPES[self._engine.name])
                name = f"{self.details(table).table.name}.{column}"
                raise BadInput(GroupResolutionText.NO_JSON.render(column=name, type=kind, types=allowed))
        if any(without_locks(each) != each for each in conditions):
            self._engine.advisory_lock_condition("key")

    def why_unsupported(self, uses: ColumnsRead, *conditions: Condition) -> str | None:
        """Return the reason of ``check``, or ``None`` if it finds nothing."""
        try:
            self.check(uses, *conditions)
        except BadInput as problem:
            return str(problem)
        return None


def _without_unsupported_parts(group: Group, tables: _Tables) -> tuple[Group, tuple[str, ...]]:
    """Return the group without the optional parts that cannot be read, and a line for each of them."""
    own, left_out = group.table.name, []

    def is_supported(text: GroupResolutionText, uses: ColumnsRead, *conditions: Condition, **fields: str) -> bool:
        if (why := tables.why_unsupported(uses, *conditions)) is not None:
            left_out.append(text.render(why=why, **fields))
        return why is None

    for part in ("owner", "attempts", "payload", "error"):
        column: ColumnRef | None = getattr(group, part)
        if column is not None and not is_supported(GroupResolutionText.WITHOUT, columns_read(column, own), part=part):
            group = replace(group, **{part: None})  # type: ignore[arg-type]
    if (gone := group.gone) is not None and not is_supported(
        GroupResolutionText.WITHOUT, columns_read(gone, own), gone, part="gone"
    ):
        group = replace(group, gone=None)
    workers = group.workers
    if workers is not None and not is_supported(
        GroupResolutionText.WITHOUT, workers.columns_read, workers.alive, part="workers"
    ):
        group = replace(group, workers=None)
    steps = tuple(
        each
        for each in group.steps
        if is_supported(GroupResolutionText.WITHOUT_STEPS, each.columns_read, table=each.table)
    )
    states: list[State] = []
    for state in group.states:
        of_state = GroupResolutionText.WITHOUT_OF_STATE
        if not is_supported(of_state, columns_read(state.since, own), part="since", state=state.name):
            state = replace(state, since=None)
        blocker = state.blocker
        if blocker and not is_supported(of_state, blocker.columns_read(own), part="blocker", state=state.name):
            state = replace(state, blocker=None)
        states.append(state)
    return replace(group, steps=steps, states=tuple(states)), tuple(left_out)


def _without_slow_steps(group: Group, tables: _Tables) -> tuple[Group, tuple[str, ...]]:
    """Return the user's group without steps for which each poll would scan a large table, and a line for each."""
    slow = () if group.library else tuple(each for each in group.steps if tables.must_scan(each))
    lines = (
        GroupResolutionText.WITHOUT_STEPS.render(
            table=each.table, why=GroupResolutionText.NO_TIME_INDEX.render(column=each.at)
        )
        for each in slow
    )
    return replace(group, steps=tuple(each for each in group.steps if each not in slow)), tuple(lines)


def _can_seek_newest_row(table: TableDetails, id_column: str) -> bool:
    """Return whether the server numbers the rows and an index leads to the newest row."""
    column = table.column(id_column)
    if column is None or not (column.is_identity or column.sequence_id is not None):
        return False
    return any(index.where is None and index.keys[:1] == (id_column,) for index in table.ordered_indexes)


def _state_labels(group: Group, labels: Labels) -> frozenset[str] | None:
    """Return the labels of the enum column that distinguishes the states of a group, if there is such a column."""
    found = find_state_column(group)
    return None if found is None else labels.get((group.table.name, found[0].name))


def _library_problem(library: str, reason: str) -> ProbeFailure:
    return ProbeFailure("library", GroupResolutionText.LIBRARY.render(library=library, reason=reason))
