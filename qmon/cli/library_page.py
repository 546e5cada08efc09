"""``qmon help LIBRARY``: a page about a queue library, generated from its library file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from qmon.model.operation_records import OperationKind, Side
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.libraries.library import Library
    from qmon.model.groups.group import Group
    from qmon.model.layout.layout import Layout


class LibraryPageText(Text):
    """The lines of the page. The words before the longer blank are labels."""

    TITLE = "{library} on {engine}"
    DOCUMENTATION = "  documentation  {url}"
    TESTED = "  tested with    {version}"
    PREFIX = "  table prefix   {prefixes}"
    RECOGNIZED = "  recognized by  {table}: {columns}"
    RECOGNIZED_BY_COLUMNS = "  recognized by  the columns of any table: {columns}"
    OTHERS = "  not queues     {tables}"
    ACTIONS = "  actions        {actions}"
    NO_ACTIONS = "none, qmon only watches it"
    MESSAGES_OF_SUCH = "  messages       rows of such a table, identified by {columns}"
    MESSAGES = "  messages       rows of {table}, identified by {column}"
    LIKE_DESIGN = "  queues         one per table, like the design {design}: {essence}"
    ONE_PER_TABLE = "  queues         one per table"
    BY_COLUMN = "  queues         by {column}"
    DELETED = "    in_progress: rows deleted by an open transaction"
    ALL_OTHERS = "    ready: all other rows"
    DUE = "    ready: all other rows that are due by {column}; rows due later are scheduled"
    STATE = "    {state}{kind}: {condition}{since}"
    SINCE = "; since {column}"
    IN_PROGRESS_FOR = "in progress for {duration}"
    STUCK = "  stuck          {condition}"
    DEAD_WORKER = "  dead worker    {condition}"
    WORKER = "  worker         {column}"
    LIVE_WORKERS = "  live workers   {table}: {condition}"
    STEP = "  {step:<14} a row of {table}{at}{condition}"
    AT = ", by the time {column}"
    CONDITION = ": {condition}"
    SERVER_RATES = "  rates          the server's counters of the table"
    SERVER_RATES_OF_ONE = "  rates          the server's counters of the table, if it contains only one queue"
    NO_RATES = "  rates          none, because the tables do not record pushes and pops"
    TIMES = "  times          {zone}"
    ANY_ZONE = "with a zone, or UTC"


class LibraryVerb(Text):
    """The actions that a library or a table allows."""

    REQUEUE_STUCK = "requeue stuck messages"
    REQUEUE_DEAD = "requeue dead messages"
    REQUEUE = "requeue"
    PURGE = "purge"
    PAUSE = "pause consumers"
    RESUME = "resume consumers"
    GATE = "pause producers with a gate"


_ACTIONS: Final = {
    "requeue": LibraryVerb.REQUEUE_STUCK,
    "retry": LibraryVerb.REQUEUE_DEAD,
    "discard": LibraryVerb.PURGE,
    "pause": LibraryVerb.PAUSE,
    "resume": LibraryVerb.RESUME,
}

# Actions on a table used as a queue.
_TABLE_ACTIONS: Final = (
    (LibraryVerb.REQUEUE, OperationKind.REQUEUE, None),
    (LibraryVerb.PURGE, OperationKind.PURGE, None),
    (LibraryVerb.GATE, OperationKind.PAUSE, Side.PRODUCERS),
)


def library_lines(library: Library) -> Iterator[str]:
    """Yield the lines that describe a library."""
    from qmon.libraries.library import group_for, queue_for, with_prefix
    from qmon.model.groups.group import Group
    from qmon.model.layout.layout import ObjectName

    prefix = library.prefixes[0]
    engine = "SQL Server" if library.engine == "sqlserver" else "PostgreSQL"
    yield LibraryPageText.TITLE.render(library=library.title, engine=engine)
    yield LibraryPageText.DOCUMENTATION.render(url=library.docs or "–")
    yield LibraryPageText.TESTED.render(version=library.tested or "–")
    if len(library.prefixes) > 1:
        yield LibraryPageText.PREFIX.render(prefixes=" or ".join(each or "none" for each in library.prefixes))
    for name, columns in library.tables.items():
        shown = (f"{column} {' or '.join(types)}".rstrip() for column, types in columns.items())
        yield LibraryPageText.RECOGNIZED.render(table=with_prefix(name, prefix), columns=", ".join(shown))
    if library.others:
        yield LibraryPageText.OTHERS.render(tables=", ".join(with_prefix(each, prefix) for each in library.others))
    names = [with_prefix(str(raw["table"]), prefix) for raw in library.groups]
    groups = [group_for(library, at, prefix, ObjectName("", name), library.name) for at, name in enumerate(names, 1)]
    for group in groups:
        yield from _group_lines(group)
    for number, queue in enumerate(library.queues, 1):
        types = ", ".join(f"{column} {' or '.join(kinds)}" for column, kinds in queue.columns.items())
        yield LibraryPageText.RECOGNIZED_BY_COLUMNS.render(columns=types)
        found = queue_for(library, number, ObjectName("", "such a table"), library.name)
        yield from _group_lines(found) if isinstance(found, Group) else _layout_lines(found)
    if library.groups:
        yield _actions_line(_action_names(library, groups))
    yield ""


def _layout_lines(layout: Layout) -> Iterator[str]:
    from qmon.operate.plan.allowed_actions import why_not_allowed

    yield LibraryPageText.MESSAGES_OF_SUCH.render(columns=" and ".join(layout.id_columns))
    yield LibraryPageText.LIKE_DESIGN.render(design=layout.design, essence=layout.traits.essence)
    if layout.deletes_on_pop:
        yield LibraryPageText.DELETED
        if layout.due_at is None:
            yield LibraryPageText.ALL_OTHERS
        else:
            yield LibraryPageText.DUE.render(column=layout.due_at)
    yield LibraryPageText.SERVER_RATES
    yield _actions_line(verb for verb, kind, side in _TABLE_ACTIONS if why_not_allowed(layout, kind, side) is None)


def _actions_line(verbs: Iterable[str]) -> str:
    return LibraryPageText.ACTIONS.render(actions=", ".join(verbs) or LibraryPageText.NO_ACTIONS)


def _group_lines(group: Group) -> Iterator[str]:
    from qmon.model.formatting import format_duration
    from qmon.model.groups.conditions import column_text, condition_text

    yield LibraryPageText.MESSAGES.render(table=group.table.name, column=group.id)
    if group.queue is None:
        yield LibraryPageText.ONE_PER_TABLE
    else:
        yield LibraryPageText.BY_COLUMN.render(column=column_text(group.queue))
    for state in group.states:
        kind = "" if state.kind == state.name else f" ({state.kind.replace('_', ' ')})"
        since = "" if state.since is None else LibraryPageText.SINCE.render(column=column_text(state.since))
        yield LibraryPageText.STATE.render(
            state=state.name, kind=kind, condition=condition_text(state.when), since=since
        )
    late = (
        condition_text(group.overdue)
        if group.overdue is not None
        else LibraryPageText.IN_PROGRESS_FOR.render(duration=format_duration(group.timeout_s))
    )
    yield LibraryPageText.STUCK.render(condition=late)
    if group.gone is not None:
        yield LibraryPageText.DEAD_WORKER.render(condition=condition_text(group.gone))
    if group.owner is not None:
        yield LibraryPageText.WORKER.render(column=column_text(group.owner))
    if group.workers is not None:
        yield LibraryPageText.LIVE_WORKERS.render(
            table=group.workers.table, condition=condition_text(group.workers.alive)
        )
    for steps in group.steps:
        for step, condition in steps.steps:
            yield LibraryPageText.STEP.render(
                step=step,
                table=steps.table,
                at="" if steps.at is None else LibraryPageText.AT.render(column=steps.at),
                condition=""
                if condition is None
                else LibraryPageText.CONDITION.render(condition=condition_text(condition)),
            )
    if group.counters:
        yield LibraryPageText.SERVER_RATES_OF_ONE
    elif not group.steps:
        yield LibraryPageText.NO_RATES
    zone = LibraryPageText.ANY_ZONE if group.zone.count is None else group.zone.description
    yield LibraryPageText.TIMES.render(zone=zone)


def _action_names(library: Library, groups: Sequence[Group]) -> Iterator[str]:
    from qmon.engines.sql import queries
    from qmon.libraries.library import statement_folder

    folder = f"library/{statement_folder(library.name, library.version)}/"
    found = {file.name.removeprefix(folder) for file in queries.all_files() if file.engine == library.engine}
    writes = [group.writes for group in groups if group.writes is not None]
    declared = {"requeue", "retry"} if any(each.ready for each in writes) else set()
    declared |= {"discard"} if any(each.purge for each in writes) else set()
    for verb, words in _ACTIONS.items():
        own = any(f"{prefix}{verb}" in found for prefix in ("", *library.prefixes))
        if verb in declared or (own and not library.own):
            yield words
