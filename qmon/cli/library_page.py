"""``qmon help LIBRARY``: a page about a queue library, generated from its library file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from qmon.model.operation_records import OperationKind, Side

if TYPE_CHECKING:
    from qmon.libraries.library import Library
    from qmon.model.groups.group import Group
    from qmon.model.layout.layout import Layout

_ACTIONS: Final = {
    "requeue": "requeue stuck messages",
    "retry": "requeue dead messages",
    "discard": "purge",
    "pause": "pause consumers",
    "resume": "resume consumers",
}

# Actions on a table used as a queue.
_TABLE_ACTIONS: Final = (
    ("requeue", OperationKind.REQUEUE, None),
    ("purge", OperationKind.PURGE, None),
    ("pause producers with a gate", OperationKind.PAUSE, Side.PRODUCERS),
)


def library_lines(library: Library) -> Iterator[str]:
    """Yield the lines that describe a library."""
    from qmon.libraries.library import group_for, queue_for, with_prefix
    from qmon.model.groups.group import Group
    from qmon.model.layout.layout import TableName

    prefix = library.prefixes[0]
    yield f"{library.title} on {'SQL Server' if library.engine == 'sqlserver' else 'PostgreSQL'}"
    yield f"  documentation  {library.docs or '–'}"
    yield f"  tested with    {library.tested or '–'}"
    if len(library.prefixes) > 1:
        yield f"  table prefix   {' or '.join(each or 'none' for each in library.prefixes)}"
    for name, columns in library.tables.items():
        shown = (f"{column} {' or '.join(types)}".rstrip() for column, types in columns.items())
        yield f"  recognized by  {with_prefix(name, prefix)}: {', '.join(shown)}"
    if library.others:
        yield f"  not queues     {', '.join(with_prefix(each, prefix) for each in library.others)}"
    for number, raw in enumerate(library.groups, 1):
        name = with_prefix(str(raw["table"]), prefix)
        yield from _group_lines(group_for(library, number, prefix, TableName("", name), library.name))
    for number, queue in enumerate(library.queues, 1):
        types = ", ".join(f"{column} {' or '.join(kinds)}" for column, kinds in queue.columns.items())
        yield f"  recognized by  the columns of any table: {types}"
        found = queue_for(library, number, TableName("", "such a table"), library.name)
        yield from _group_lines(found) if isinstance(found, Group) else _layout_lines(found)
    if library.groups:
        yield f"  actions        {', '.join(_action_names(library)) or 'none, qmon only watches it'}"
    yield ""


def _layout_lines(layout: Layout) -> Iterator[str]:
    from qmon.operate.plan.allowed_actions import why_not_allowed

    yield f"  messages       rows of such a table, identified by {' and '.join(layout.ids)}"
    yield f"  queues         one per table, like the design {layout.design}: {layout.traits.essence}"
    if layout.deletes_on_pop:
        yield "    in_progress: rows deleted by an open transaction"
        yield "    ready: all other rows" + (
            "" if layout.due_at is None else f" that are due by {layout.due_at}; rows due later are scheduled"
        )
    yield "  rates          the server's counters of the table"
    verbs = [words for words, kind, side in _TABLE_ACTIONS if why_not_allowed(layout, kind, side) is None]
    yield f"  actions        {', '.join(verbs) or 'none, qmon only watches it'}"


def _group_lines(group: Group) -> Iterator[str]:
    from qmon.model.formatting import format_duration
    from qmon.model.groups.conditions import column_text, condition_text

    yield f"  messages       rows of {group.table.name}, identified by {group.id}"
    yield f"  queues         {'one per table' if group.queue is None else f'by {column_text(group.queue)}'}"
    for state in group.states:
        kind = "" if state.kind == state.name else f" ({state.kind.replace('_', ' ')})"
        since = "" if state.since is None else f"; since {column_text(state.since)}"
        yield f"    {state.name}{kind}: {condition_text(state.when)}{since}"
    late = (
        condition_text(group.overdue)
        if group.overdue is not None
        else f"in progress for {format_duration(group.timeout_s)}"
    )
    yield f"  stuck          {late}"
    if group.gone is not None:
        yield f"  dead worker    {condition_text(group.gone)}"
    if group.owner is not None:
        yield f"  worker         {column_text(group.owner)}"
    if group.workers is not None:
        yield f"  live workers   {group.workers.table}: {condition_text(group.workers.alive)}"
    for steps in group.steps:
        for step, condition in steps.steps:
            at = "" if steps.at is None else f", by the time {steps.at}"
            yield (
                f"  {step:<14} a row of "
                f"{steps.table}{at}{'' if condition is None else f': {condition_text(condition)}'}"
            )
    if group.counters:
        yield "  rates          the server's counters of the table, if it contains only one queue"
    elif not group.steps:
        yield "  rates          none, because the tables do not record pushes and pops"
    yield f"  times          {'with a zone, or UTC' if group.zone.count is None else group.zone.description}"


def _action_names(library: Library) -> Iterator[str]:
    from qmon.engines.sql import queries
    from qmon.libraries.library import statement_folder

    folder = f"library/{statement_folder(library.name, library.version)}/"
    found = {file.name.removeprefix(folder) for file in queries.all_files() if file.engine == library.engine}
    for verb, words in _ACTIONS.items():
        if not library.own and any(f"{prefix}{verb}" in found for prefix in ("", *library.prefixes)):
            yield words
