"""Finds the libraries with tables in a database: by the names of tables and columns, and the types of times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from qmon.libraries.library import ANY, Library, group_of, prefixed, queue_of
from qmon.model.groups.conditions import tables_of
from qmon.model.groups.group import Group
from qmon.model.layout.layout import Layout, TableName

# The columns of a table, each with its type as the server names it, without length.
Columns = Mapping[str, str]

# The columns of each table, by schema and table.
Tables = Mapping[str, Mapping[str, Columns]]


@dataclass(frozen=True, slots=True)
class Recognised:
    """A library with tables in a schema. ``groups``: its queues. ``tables``: all of its tables that exist."""

    library: Library
    schema: str
    groups: tuple[Group, ...]
    tables: frozenset[TableName]


def recognise(known: Iterable[Library], engine: str, tables: Tables) -> tuple[Recognised, ...]:
    """Return the libraries found, by schema and name. Raises ``BadInput`` if a library's file is invalid."""
    libraries = [library for library in known if library.engine == engine and library.tables]
    places = [
        (library, schema, prefix)
        for schema in sorted(tables)
        for library in libraries
        for prefix in library.prefixes
        if not any(_missing(library, prefix, tables[schema]))
    ]
    names = [library.name for library, _, _ in places]
    return tuple(
        _recognised(library, schema, prefix, tables[schema], several=names.count(library.name) > 1)
        for library, schema, prefix in places
    )


def table_queues(known: Iterable[Library], engine: str, tables: Tables) -> tuple[Layout | Group, ...]:
    """Return the queues that are tables with any name, identified by their columns; sorted by schema and table."""
    libraries = [library for library in known if library.engine == engine and library.queues]
    found = [
        (library, number, TableName(schema, name))
        for schema in sorted(tables)
        for name, columns in sorted(tables[schema].items())
        if (first := _first(libraries, columns)) is not None
        for library, number in (first,)
    ]
    called = Counter((library.name, table.name) for library, _, table in found)
    return tuple(
        queue_of(
            library, number, table, f"{library.name}/{table.name if called[library.name, table.name] < 2 else table}"
        )
        for library, number, table in found
    )


def _first(libraries: Iterable[Library], columns: Columns) -> tuple[Library, int] | None:
    """Return the library and the number of its queue, from 1, that matches a table with these columns."""
    return next(
        ((each, n) for each in libraries for n, queue in enumerate(each.queues, 1) if queue.fits(columns)), None
    )


def group_of_queue(known: Iterable[Library], layout: Layout) -> tuple[Group, str] | None:
    """Return the group of a queue, and the prefix of its library's table names.

    ``candidates``: the libraries to search; ``None`` if the library is not among them.
    """
    part = layout.part
    if part is None:
        return None
    for library in known:
        for number, raw in enumerate(library.groups, 1):
            for prefix in library.prefixes:
                if library.name == part.library and _fits(layout.table.name, prefixed(str(raw["table"]), prefix)):
                    group = group_of(library, number, prefix, layout.table, part.group)
                    return (group if part.proves else replace(group, gone=None)), prefix
    return None


def may_belong(table: str, known: Iterable[Library]) -> bool:
    """Return whether a table with this name may belong to a library."""
    return any(
        _fits(table, prefixed(name, prefix))
        for library in known
        for prefix in library.prefixes
        for name in (*library.tables, *library.others, *(str(raw.get("table", "")) for raw in library.groups))
    )


def explained(known: Iterable[Library], engine: str, tables: Tables) -> tuple[str, ...]:
    """Return a line for each library with at least one existing table: it was recognized, or what is missing."""
    lines: list[str] = []
    for library in (library for library in known if library.engine == engine):
        for prefix in library.prefixes:
            needed = {prefixed(name, prefix) for name in library.tables}
            for schema, there in sorted(tables.items()):
                if needed & there.keys():
                    lacks = "; ".join(_missing(library, prefix, there))
                    said = f"not recognised: {lacks}" if lacks else f"recognised by {', '.join(sorted(needed))}"
                    lines.append(f"{library.name} in schema {schema}: {said}")
    return tuple(lines)


def _missing(library: Library, prefix: str, there: Mapping[str, Columns]) -> Iterator[str]:
    """Yield what its tables in a schema lack, and which time columns have another type."""
    for name, columns in library.tables.items():
        table = prefixed(name, prefix)
        if table not in there:
            yield f"there is no table {table}"
        elif missing := sorted(set(columns) - there[table].keys()):
            yield f"{table} has no {', '.join(missing)}"
    for number, raw in enumerate(library.groups, 1):
        group = group_of(library, number, prefix, TableName("", prefixed(str(raw["table"]), prefix)), library.name)
        for table, column in sorted(group.uses.times):
            kind = there.get(table, {}).get(column)
            if kind is not None and kind not in group.zone.types:
                yield f"{table}.{column} is {kind}, where {library.name} has {group.zone.words}"


def _recognised(library: Library, schema: str, prefix: str, tables: Iterable[str], *, several: bool) -> Recognised:
    """Return the library in one schema.

    ``several``: it is there more than once, so the names of its queues include the schema.
    """
    groups = tuple(_groups(library, schema, prefix, tables, f"{schema}.{library.name}" if several else library.name))
    names = [prefixed(name, prefix) for name in (*library.tables, *library.others)]
    own = {name for name in tables if any(_fits(name, each) for each in names)}
    own |= {group.table.name for group in groups}
    return Recognised(library, schema, groups, frozenset(TableName(schema, name) for name in own))


def _groups(library: Library, schema: str, prefix: str, tables: Iterable[str], name: str) -> Iterator[Group]:
    for number, raw in enumerate(library.groups, 1):
        wanted = prefixed(str(raw.get("table", "")), prefix)
        for table in sorted(tables):
            if _fits(table, wanted):
                queue = table.removeprefix(wanted.removesuffix(ANY)) if wanted.endswith(ANY) else ""
                own = f"{name}/{queue}" if queue else name
                group = group_of(library, number, prefix, TableName(schema, table), own)
                known = group.gone is None or tables_of(group.gone) <= set(tables)
                group = group if known else replace(group, gone=None)
                without = group.workers is not None and group.workers.table not in tables
                yield replace(group, workers=None) if without else group


def _fits(table: str, wanted: str) -> bool:
    """Return whether a table has this name. ``*`` at the end stands for anything."""
    return table.startswith(wanted.removesuffix(ANY)) if wanted.endswith(ANY) else table == wanted
