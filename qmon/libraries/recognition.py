"""Find the libraries that have tables in a database, by the names of tables and columns and the types of times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from qmon.libraries.library import Library, group_for, queue_for, queue_in_name, with_prefix
from qmon.model.groups.group import Group
from qmon.model.layout.layout import Layout, ObjectName
from qmon.texts import Text

# The type of each column of a table, in the server's words and without length.
Columns = Mapping[str, str]

# The columns of each table, by schema and table.
Tables = Mapping[str, Mapping[str, Columns]]


class RecognitionText(Text):
    """Whether the tables of a library were recognized, and why not."""

    LINE = "{library} in schema {schema}: {result}"
    RECOGNIZED = "recognized by {tables}"
    NOT_RECOGNIZED = "not recognized: {reasons}"
    NO_TABLE = "there is no table {table}"
    NO_COLUMNS = "{table} has no {columns}"
    OTHER_TYPE = "{column} is {type}, but {library} has {needed}"
    NOT_THIS_TYPE = "{column} is {type}, not {needed}"


@dataclass(frozen=True, slots=True)
class RecognizedLibrary:
    """A library with tables in a schema. ``groups``: the library's queues. ``tables``: its tables that exist."""

    library: Library
    schema: str
    groups: tuple[Group, ...]
    tables: frozenset[ObjectName]


def recognize_libraries(candidates: Iterable[Library], engine: str, tables: Tables) -> tuple[RecognizedLibrary, ...]:
    """Return the libraries found, sorted by schema. Raises ``BadInput`` if a library's file is invalid.

    In each schema, the first version of a library that fits counts.
    """
    libraries = [library for library in candidates if library.engine == engine and library.tables]
    places: dict[tuple[str, str, str], Library] = {}
    for schema in sorted(tables):
        for library in libraries:
            for prefix in library.prefixes:
                if not any(_describe_missing(library, prefix, tables[schema])):
                    places.setdefault((library.name, schema, prefix), library)
    names = Counter(name for name, _, _ in places)
    return tuple(
        _recognized_library(library, schema, prefix, tables[schema], several=names[name] > 1)
        for (name, schema, prefix), library in places.items()
    )


def find_table_queues(candidates: Iterable[Library], engine: str, tables: Tables) -> tuple[Layout | Group, ...]:
    """Return the queues whose tables are identified by their columns alone, sorted by schema and table."""
    libraries = [library for library in candidates if library.engine == engine and library.queues]
    found = [
        (library, number, ObjectName(schema, name))
        for schema in sorted(tables)
        for name, columns in sorted(tables[schema].items())
        if (first := _find_library(libraries, columns)) is not None
        for library, number in (first,)
    ]
    called = Counter((library.name, table.name) for library, _, table in found)
    return tuple(
        queue_for(
            library, number, table, f"{library.name}/{table.name if called[library.name, table.name] < 2 else table}"
        )
        for library, number, table in found
    )


def _find_library(libraries: Iterable[Library], columns: Columns) -> tuple[Library, int] | None:
    """Return the library and the number (from 1) of the queue that matches a table with these columns."""
    return next(
        ((each, n) for each in libraries for n, queue in enumerate(each.queues, 1) if queue.matches_columns(columns)),
        None,
    )


def find_group(candidates: Iterable[Library], layout: Layout) -> tuple[Group, str] | None:
    """Return the group of a queue, and the prefix of the library's table names.

    ``candidates``: the libraries to search. The result is ``None`` if the queue's library is not a candidate.
    """
    part = layout.part
    if part is None:
        return None
    for library in candidates:
        for number, raw in enumerate(library.groups, 1):
            for prefix in library.prefixes:
                pattern = with_prefix(str(raw["table"]), prefix)
                if (library.name, library.version) == (part.library, part.version) and (
                    queue_in_name(layout.table.name, pattern) is not None
                ):
                    group = group_for(library, number, prefix, layout.table, part.group)
                    return (group if part.proves else replace(group, gone=None)), prefix
    return None


def may_belong_to_library(table: str, candidates: Iterable[Library]) -> bool:
    """Return whether a table with this name may belong to a library."""
    return any(
        queue_in_name(table, with_prefix(name, prefix)) is not None
        for library in candidates
        for prefix in library.prefixes
        for name in (*library.tables, *library.others, *(str(raw.get("table", "")) for raw in library.groups))
    )


def explain_recognition(candidates: Iterable[Library], engine: str, tables: Tables) -> tuple[str, ...]:
    """Return a line for each library with at least one existing table.

    The line contains the tables by which the library was recognized, or the missing tables and columns.
    """
    lines: list[str] = []
    for library in (library for library in candidates if library.engine == engine):
        for prefix in library.prefixes:
            needed = {with_prefix(name, prefix) for name in library.tables}
            for schema, there in sorted(tables.items()):
                if needed & there.keys():
                    lacks = "; ".join(_describe_missing(library, prefix, there))
                    result = (
                        RecognitionText.NOT_RECOGNIZED.render(reasons=lacks)
                        if lacks
                        else RecognitionText.RECOGNIZED.render(tables=", ".join(sorted(needed)))
                    )
                    lines.append(RecognitionText.LINE.render(library=library.title, schema=schema, result=result))
    return tuple(lines)


def _describe_missing(library: Library, prefix: str, tables: Mapping[str, Columns]) -> Iterator[str]:
    """Yield missing tables and columns of the library in a schema, and time columns with another type."""
    for name, columns in library.tables.items():
        table = with_prefix(name, prefix)
        if table not in tables:
            yield RecognitionText.NO_TABLE.render(table=table)
        elif missing := sorted(set(columns) - tables[table].keys()):
            yield RecognitionText.NO_COLUMNS.render(table=table, columns=", ".join(missing))
        else:
            for column, types in columns.items():
                if types and (kind := tables[table][column]) not in types:
                    yield RecognitionText.NOT_THIS_TYPE.render(
                        column=f"{table}.{column}", type=kind, needed=" or ".join(types)
                    )
    for number, raw in enumerate(library.groups, 1):
        group = group_for(library, number, prefix, ObjectName("", with_prefix(str(raw["table"]), prefix)), library.name)
        for table, column in sorted(group.columns_read.times):
            found = tables.get(table, {}).get(column)
            if found is not None and found not in group.zone.types:
                yield RecognitionText.OTHER_TYPE.render(
                    column=f"{table}.{column}", type=found, library=library.name, needed=group.zone.description
                )


def _recognized_library(
    library: Library, schema: str, prefix: str, tables: Iterable[str], *, several: bool
) -> RecognizedLibrary:
    """Return the library in one schema.

    ``several``: true if the database has the library more than once. The names of the queues then include the schema.
    """
    groups = tuple(
        _find_groups(library, schema, prefix, tables, f"{schema}.{library.name}" if several else library.name)
    )
    names = [with_prefix(name, prefix) for name in (*library.tables, *library.others)]
    own = {name for name in tables if any(queue_in_name(name, each) is not None for each in names)}
    own |= {group.table.name for group in groups}
    return RecognizedLibrary(library, schema, groups, frozenset(ObjectName(schema, name) for name in own))


def _find_groups(library: Library, schema: str, prefix: str, tables: Iterable[str], name: str) -> Iterator[Group]:
    for number, raw in enumerate(library.groups, 1):
        wanted = with_prefix(str(raw.get("table", "")), prefix)
        for table in sorted(tables):
            if (own := queue_in_name(table, wanted)) is not None:
                own = f"{name}/{own}" if own else name
                yield group_for(library, number, prefix, ObjectName(schema, table), own)
