"""Complete two kinds of queues from the catalog: queues of libraries, and groups of the configuration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from qmon.errors import BadInput
from qmon.libraries.library_catalog import all_libraries
from qmon.libraries.recognition import (
    explain_recognition,
    find_table_queues,
    may_belong_to_library,
    recognize_libraries,
)
from qmon.model.config_reader import suggest_nearest
from qmon.model.groups.conditions import TableColumn, table_column
from qmon.model.groups.enum_labels import Labels, drop_missing_labels
from qmon.model.groups.group import Group, ResolvedGroup, Steps, find_state_column
from qmon.model.layout.layout import Layout, LayoutSource, TableName
from qmon.model.layout.time_zones import UTC_ZONE, Zone
from qmon.model.snapshot import ProbeFailure
from qmon.model.texts import Text
from qmon.monitor.catalog.access_paths import walk_path_for
from qmon.monitor.catalog.catalog import Catalog, TableDetails, TableRow
from qmon.monitor.catalog.column_zones import zone_in_group
from qmon.monitor.catalog.state_values import enum_labels


class GroupResolutionText(Text):
    """Queues in shared tables: how they were recognized, or why they cannot be watched."""

    LIBRARY = "{library}: {reason}"
    NOT_FOUND = "its tables were not found; to see why: qmon queues TARGET --explain"
    UNREADABLE = "your role may not read {table}"
    RECOGNIZED = "{library}: {table} was recognized by its columns"
    NO_COLUMN = "{table} has no column {column!r}{hint}"
    NO_ZONE = "{column} has no time zone: `at` needs a column with a time zone, or with UTC times"


ReadDetails = Callable[[TableName], TableDetails]


@dataclass(frozen=True, slots=True)
class LibraryQueues:
    """The groups, single-table queues and tables of libraries. ``problems``: for example, unreadable tables."""

    groups: tuple[ResolvedGroup, ...] = ()
    layouts: tuple[Layout, ...] = ()
    tables: frozenset[TableName] = frozenset()
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
    ``read_server_zone``: see ``resolve_configured_group``.
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
        try:
            groups += [] if hidden else [_resolve_group(group, rows, read_details, read_server_zone) for group in parts]
        except BadInput as problem:
            problems.append(_library_problem(library, str(problem)))
    lines = explain_recognition(known, catalog.engine.name, named)
    lines += tuple(GroupResolutionText.RECOGNIZED.render(library=each.library, table=each.table) for each in single)
    return LibraryQueues(
        groups=tuple(groups),
        layouts=tuple(each for each in single if isinstance(each, Layout)),
        tables=theirs | {each.table for each in single},
        problems=tuple(problems),
        explained=lines,
    )


def resolve_configured_group(
    group: Group, read_details: ReadDetails, read_server_zone: Callable[[], Zone]
) -> ResolvedGroup:
    """Return a group of the configuration, with the schema of its table and the time zones of its times.

    ``read_details``: returns a table's details from the catalog. ``read_server_zone``: returns the server's local time
    zone. Raises ``BadInput`` if a column does not exist or the time zone of its times is unknown, and the errors of
    ``read_details``. If the group does not define rates, new rows may give the push rate. This requires that the server
    numbers the rows and that finished rows stay.
    """
    own = read_details(group.table)
    group = replace(group, table=own.table.name)
    stay = any(state.kind == "done" for state in group.states)
    if stay and not group.steps and not group.counters and _can_seek_newest_row(own, group.id):
        steps = Steps(own.table.table_name, group.id, None, group.queue, (("pushed", group.where),))
        group = replace(group, steps=(steps,))
    found = {own.table.table_name: own}
    uses = group.columns_read
    for table, name in sorted(uses.columns):
        if table not in found:
            found[table] = read_details(TableName(group.schema, table))
        if found[table].column(name) is None:
            near = suggest_nearest(name, [column.column_name for column in found[table].columns])
            raise BadInput(GroupResolutionText.NO_COLUMN.render(table=found[table].table.name, column=name, hint=near))
    zones: list[tuple[tuple[str, str], Zone]] = []
    for table, name in sorted(uses.times):
        if (column := found[table].column(name)) is not None:
            zones.append(((table, name), zone_in_group(group, found[table], column, read_server_zone)))
    for steps in group.steps:
        if steps.at is not None and dict(zones)[steps.table, steps.at] != UTC_ZONE:
            raise BadInput(GroupResolutionText.NO_ZONE.render(column=f"{steps.table}.{steps.at}"))
    walk = walk_path_for(own, (group.id,), _queue_column(group))
    labels = _read_labels(group, read_details)
    group = replace(
        drop_missing_labels(group, labels),
        zones=tuple(zones),
        types=_payload_and_error_types(group, read_details),
    )
    tables = tuple((name, each.table.table_id) for name, each in found.items())
    return ResolvedGroup(
        group, own.table.table_id, own.table.estimated_rows, walk, _state_labels(group, labels), tables
    )


def _can_seek_newest_row(table: TableDetails, id_column: str) -> bool:
    """Return whether the server numbers the rows and an index leads to the newest row."""
    column = table.column(id_column)
    if column is None or not (column.is_identity or column.sequence_id is not None):
        return False
    return any(index.where is None and index.keys[:1] == (id_column,) for index in table.ordered_indexes)


def _resolve_group(
    group: Group, rows: dict[TableName, TableRow], read_details: ReadDetails, read_server_zone: Callable[[], Zone]
) -> ResolvedGroup:
    if group.source is LayoutSource.CONFIGURATION:
        return resolve_configured_group(group, read_details, read_server_zone)
    walk = walk_path_for(read_details(group.table), (group.id,), _queue_column(group))
    labels = _read_labels(group, read_details)
    found, row = drop_missing_labels(group, labels), rows[group.table]
    found = replace(found, types=_payload_and_error_types(group, read_details))
    named = {table for table, _ in found.columns_read.columns}
    tables = tuple((name, rows[TableName(group.schema, name)].table_id) for name in sorted(named))
    return ResolvedGroup(found, row.table_id, row.estimated_rows, walk, _state_labels(found, labels), tables)


def _state_labels(group: Group, labels: Labels) -> frozenset[str] | None:
    """Return the labels of the enum column that distinguishes the states of a group, if there is such a column."""
    found = find_state_column(group)
    return None if found is None else labels.get((group.table.name, found[0].name))


def _read_labels(group: Group, read_details: ReadDetails) -> Labels:
    """Return the labels of each enum column that the group reads."""
    found: dict[TableColumn, frozenset[str]] = {}
    for table, name in sorted(group.columns_read.columns):
        of_table = read_details(TableName(group.schema, table))
        # If a lock blocked the reading, there are no labels here, although the enum may have labels.
        if labels := enum_labels(of_table, name):
            found[table, name] = frozenset(labels)
    return found


def _payload_and_error_types(group: Group, read_details: ReadDetails) -> tuple[tuple[TableColumn, str], ...]:
    """Return the types of the columns with the message and its error."""
    columns = [table_column(each, group.table.name) for each in (group.payload, group.error) if each is not None]
    found = {each: read_details(TableName(group.schema, each[0])).column(each[1]) for each in columns}
    return tuple((each, column.type_name) for each, column in found.items() if column is not None)


def _queue_column(group: Group) -> str | None:
    """Return the column with the queue name in the group's table; ``None`` if the name is stored elsewhere."""
    queue = group.queue
    return None if queue is None or queue.lookup is not None or queue.element is not None else queue.name


def _library_problem(library: str, reason: str) -> ProbeFailure:
    return ProbeFailure("library", GroupResolutionText.LIBRARY.render(library=library, reason=reason))
