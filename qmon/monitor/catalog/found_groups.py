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
from qmon.model.groups.group import FoundGroup, Group, Steps, find_state_column
from qmon.model.layout.layout import Layout, LayoutSource, TableName
from qmon.model.layout.time_zones import UTC_ZONE, Zone
from qmon.model.snapshot import ProbeFailure
from qmon.model.texts import Text
from qmon.monitor.catalog.access_paths import walk_path_for
from qmon.monitor.catalog.catalog import Catalog, TableDetails, TableRow
from qmon.monitor.catalog.column_zones import zone_in_group
from qmon.monitor.catalog.state_values import enum_labels


class FoundGroupText(Text):
    """Queues in shared tables: how they were recognized, or why they cannot be watched."""

    LIBRARY = "{library}: {reason}"
    NOT_FOUND = "its tables were not found; to see why: qmon queues TARGET --explain"
    UNREADABLE = "your role may not read {table}"
    RECOGNIZED = "{library}: {table} was recognized by its columns"
    NO_COLUMN = "{table} has no column {column!r}{hint}"
    NO_ZONE = "{column} has no time zone: `at` needs a column with a time zone, or with UTC times"


Details = Callable[[TableName], TableDetails]


@dataclass(frozen=True, slots=True)
class LibraryQueues:
    """The groups, single-table queues and tables of libraries. ``problems``: for example, unreadable tables."""

    groups: tuple[FoundGroup, ...] = ()
    layouts: tuple[Layout, ...] = ()
    tables: frozenset[TableName] = frozenset()
    problems: tuple[ProbeFailure, ...] = ()
    explained: tuple[str, ...] = ()


def find_library_queues(
    catalog: Catalog,
    tables: Sequence[TableRow],
    names: Collection[str] | None,
    details: Details,
    local: Callable[[], Zone],
) -> LibraryQueues:
    """Return the tables of known libraries.

    ``names``: search only for these libraries; a library that is not found becomes a problem. ``details``, ``local``:
    see ``resolve_configured_group``.
    """
    known = [
        each for each in all_libraries() if each.engine == catalog.engine.name and (not names or each.name in names)
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
    problems = [_library_problem(name, FoundGroupText.NOT_FOUND) for name in sorted(set(names or ()) - there)]
    rows = {table.name: table for table in tables}
    groups: list[FoundGroup] = []
    of_each = [(each.library.name, each.tables, each.groups) for each in found]
    of_each += [(each.library, frozenset({each.table}), (each,)) for each in single if isinstance(each, Group)]
    for library, own, parts in of_each:
        hidden = sorted((table for table in own if not rows[table].readable), key=str)
        problems += [
            ProbeFailure(
                "library",
                FoundGroupText.LIBRARY.render(library=library, reason=FoundGroupText.UNREADABLE.render(table=table)),
                grant=catalog.grant_statement(table),
            )
            for table in hidden
        ]
        try:
            groups += [] if hidden else [_resolve_group(group, rows, details, local) for group in parts]
        except BadInput as problem:
            problems.append(_library_problem(library, str(problem)))
    lines = explain_recognition(known, catalog.engine.name, named)
    lines += tuple(FoundGroupText.RECOGNIZED.render(library=each.library, table=each.table) for each in single)
    return LibraryQueues(
        groups=tuple(groups),
        layouts=tuple(each for each in single if isinstance(each, Layout)),
        tables=theirs | {each.table for each in single},
        problems=tuple(problems),
        explained=lines,
    )


def resolve_configured_group(group: Group, details: Details, local: Callable[[], Zone]) -> FoundGroup:
    """Return a group of the configuration, with the schema of its table and the time zones of its times.

    ``details``: returns a table's details from the catalog. ``local``: returns the server's local time zone. Raises
    ``BadInput`` if a column does not exist or the time zone of its times is unknown, and the errors of ``details``.
    If the group does not define rates, new rows may give the push rate. This requires that the server numbers the rows
    and that finished rows stay.
    """
    own = details(group.table)
    group = replace(group, table=own.table.name)
    stay = any(state.kind == "done" for state in group.states)
    if stay and not group.steps and not group.counters and _can_seek_newest_row(own, group.id):
        steps = Steps(own.table.table_name, group.id, None, group.queue, (("pushed", group.where),))
        group = replace(group, steps=(steps,))
    found = {own.table.table_name: own}
    uses = group.columns_read
    for table, name in sorted(uses.columns):
        if table not in found:
            found[table] = details(TableName(group.schema, table))
        if found[table].column(name) is None:
            near = suggest_nearest(name, [column.column_name for column in found[table].columns])
            raise BadInput(FoundGroupText.NO_COLUMN.render(table=found[table].table.name, column=name, hint=near))
    zones: list[tuple[tuple[str, str], Zone]] = []
    for table, name in sorted(uses.times):
        if (column := found[table].column(name)) is not None:
            zones.append(((table, name), zone_in_group(group, found[table], column, local)))
    for steps in group.steps:
        if steps.at is not None and dict(zones)[steps.table, steps.at] != UTC_ZONE:
            raise BadInput(FoundGroupText.NO_ZONE.render(column=f"{steps.table}.{steps.at}"))
    walk = walk_path_for(own, (group.id,), _queue_column(group))
    labels = _read_labels(group, details)
    group = replace(
        drop_missing_labels(group, labels),
        zones=tuple(zones),
        types=_payload_and_error_types(group, details),
    )
    tables = tuple((name, each.table.table_id) for name, each in found.items())
    return FoundGroup(group, own.table.table_id, own.table.estimated_rows, walk, _state_labels(group, labels), tables)


def _can_seek_newest_row(table: TableDetails, id_column: str) -> bool:
    """Return whether the server numbers the rows and an index leads to the newest row."""
    column = table.column(id_column)
    if column is None or not (column.is_identity or column.sequence_id is not None):
        return False
    return any(index.where is None and index.keys[:1] == (id_column,) for index in table.ordered_indexes)


def _resolve_group(
    group: Group, rows: dict[TableName, TableRow], details: Details, local: Callable[[], Zone]
) -> FoundGroup:
    if group.source is LayoutSource.CONFIGURATION:
        return resolve_configured_group(group, details, local)
    walk = walk_path_for(details(group.table), (group.id,), _queue_column(group))
    labels = _read_labels(group, details)
    found, row = drop_missing_labels(group, labels), rows[group.table]
    found = replace(found, types=_payload_and_error_types(group, details))
    named = {table for table, _ in found.columns_read.columns}
    tables = tuple((name, rows[TableName(group.schema, name)].table_id) for name in sorted(named))
    return FoundGroup(found, row.table_id, row.estimated_rows, walk, _state_labels(found, labels), tables)


def _state_labels(group: Group, labels: Labels) -> frozenset[str] | None:
    """Return the labels of the enum column that distinguishes the states of a group, if there is such a column."""
    found = find_state_column(group)
    return None if found is None else labels.get((group.table.name, found[0].name))


def _read_labels(group: Group, details: Details) -> Labels:
    """Return the labels of each enum column that the group reads."""
    found: dict[TableColumn, frozenset[str]] = {}
    for table, name in sorted(group.columns_read.columns):
        of_table = details(TableName(group.schema, table))
        # If a lock blocked the reading, there are no labels here, although the enum may have labels.
        if labels := enum_labels(of_table, name):
            found[table, name] = frozenset(labels)
    return found


def _payload_and_error_types(group: Group, details: Details) -> tuple[tuple[TableColumn, str], ...]:
    """Return the types of the columns with the message and its error."""
    columns = [table_column(each, group.table.name) for each in (group.payload, group.error) if each is not None]
    found = {each: details(TableName(group.schema, each[0])).column(each[1]) for each in columns}
    return tuple((each, column.type_name) for each, column in found.items() if column is not None)


def _queue_column(group: Group) -> str | None:
    """Return the column with the queue name in the group's table; ``None`` if the name is stored elsewhere."""
    queue = group.queue
    return None if queue is None or queue.lookup is not None or queue.element is not None else queue.name


def _library_problem(library: str, reason: str) -> ProbeFailure:
    return ProbeFailure("library", FoundGroupText.LIBRARY.render(library=library, reason=reason))
