"""Read the definition of a library that keeps queues in a database: how to recognize and read its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from qmon.engines.base import EngineName
from qmon.errors import BadInput
from qmon.model.config_reader import Keys
from qmon.model.groups.configured_queue import NamedLibrary, queue_from_dict
from qmon.model.groups.group import Group
from qmon.model.groups.group_parser import group_from_dict
from qmon.model.layout.layout import Layout, LayoutSource, ObjectName
from qmon.model.layout.layout_io import table_to_text
from qmon.texts import Text

# In a table's name, this character is replaced by each prefix from the library's `prefixes`.
PREFIX_MARK = "~"

# In the name of a group's table, this character is replaced by the name of a queue that has its own table.
ANY_NAME = "*"


class LibraryFileText(Text):
    """Errors in the file of a library."""

    NEEDS_TABLES = "{where}: needs [tables], which identify the library"
    NEEDS_GROUP = "{where}: needs a [[group]] with its queues"
    NEEDS_DESIGN = "{where}: needs a design or states, for one table"
    NEEDS_COLUMNS = "{where}: needs columns with their types, which identify the tables"


@dataclass(frozen=True, slots=True)
class TableQueue:
    """A kind of table that is a queue, whatever the table's name is.

    - ``columns``: the columns that identify such a table, each with the types that it may have.
    - ``written``: the queue in the format of ``qmon.toml``, without the keys ``name`` and ``table``.
    - ``no_gate``: why such tables cannot have a trigger.
    """

    columns: Mapping[str, tuple[str, ...]]
    written: Mapping[str, object]
    no_gate: str = ""

    def matches_columns(self, column_types: Mapping[str, str]) -> bool:
        """Return whether a table has these columns. ``column_types``: type of each column of the table."""
        return all(column_types.get(column) in types for column, types in self.columns.items())


@dataclass(frozen=True, slots=True)
class Library:
    """A library.

    Attributes:
        name: the name of the library, as its users write it.
        engine: the engine of the library's databases.
        docs: the address of the library's documentation.
        tested: the tested versions, and how they were tested.
        tables: the tables that identify the library, each with some of its columns and the types that a column may
            have (none: any type). All these tables are in one schema.
        version: the versions of the library, if versions with other tables have their own file.
        others: other tables of the library that are not queues.
        prefixes: the possible prefixes of names that begin with ``~``. An empty prefix means that names have no prefix.
        groups: the queues of the library, as its file defines them.
        queues: kinds of tables that are queues, whatever their names are. If a table matches two kinds, the first
            counts.
        where: the path of the file for messages.
        own: true if the user wrote the file.
    """

    name: str
    engine: EngineName
    docs: str
    tested: str
    tables: Mapping[str, Mapping[str, tuple[str, ...]]]
    others: tuple[str, ...]
    prefixes: tuple[str, ...]
    groups: tuple[Mapping[str, object], ...]
    queues: tuple[TableQueue, ...]
    where: str
    own: bool = False
    version: str = ""

    @property
    def title(self) -> str:
        """The name and the versions."""
        return f"{self.name} {self.version}".rstrip()


def library_from_dict(raw: Mapping[str, object], where: str, *, own: bool = False) -> Library:
    """Read a library. The message of a ``BadInput`` begins with ``where`` and the path of the key."""
    keys = Keys(raw, f"{where}: ")
    tables = keys.nested_keys("tables") or Keys({}, where)
    queues = tuple(
        _read_table_queue(Keys(one, f"{where}: queue[{n}]")) for n, one in enumerate(keys.tables("queue"), 1)
    )
    if not tables.raw and not queues:
        raise BadInput(LibraryFileText.NEEDS_TABLES.render(where=where))
    library = Library(
        name=keys.require_text("name"),
        engine=cast("EngineName", keys.choice("engine", ("postgres", "sqlserver")) or "postgres"),
        docs=keys.text("docs") or "",
        tested=keys.text("tested") or "",
        version=keys.text("version") or "",
        tables={name: _read_columns(tables, name) for name in tables.raw},
        others=tuple(keys.texts("others")),
        prefixes=tuple(keys.texts("prefixes")) or ("",),
        groups=tuple(keys.tables("group")),
        queues=queues,
        where=where,
        own=own,
    )
    keys.reject_unknown_keys()
    if tables.raw and not library.groups:
        raise BadInput(LibraryFileText.NEEDS_GROUP.render(where=where))
    for number in range(1, len(queues) + 1):
        queue_for(library, number, ObjectName("schema", "table"), library.name)
    for number, raw_group in enumerate(library.groups, 1):
        Keys(raw_group, f"{where}: group[{number}]").require_text("table")
        group_for(library, number, library.prefixes[0], ObjectName("schema", "table"), library.name)
    return library


def group_for(library: Library, number: int, prefix: str, table: ObjectName, name: str) -> Group:
    """Return the library's group ``number`` (from 1) with this table and name. Raises ``BadInput``."""
    raw = cast("Mapping[str, object]", _with_prefixes(library.groups[number - 1], prefix))
    raw = cast("Mapping[str, object]", _with_queue_name(raw, queue_in_name(table.name, str(raw["table"])) or ""))
    given = {"name": name, "library": library.name, **raw}
    where = f"{library.where}: group[{number}]"
    source = LayoutSource.CONFIGURATION if library.own else LayoutSource.DISCOVERY
    return replace(group_from_dict(given, table, where=where, source=source), version=library.version)


def queue_for(library: Library, number: int, table: ObjectName, name: str) -> Layout | Group:
    """Return the library's queue ``number`` (from 1) with this table and name. Raises ``BadInput``."""
    where = f"{library.where}: queue[{number}]"
    raw = {**library.queues[number - 1].written, "name": name, "table": table_to_text(table)}
    queue = queue_from_dict(raw, where=where, libraries=())
    if isinstance(queue, NamedLibrary) or (isinstance(queue, Layout) and queue.ring is not None):
        raise BadInput(LibraryFileText.NEEDS_DESIGN.render(where=where))
    source = LayoutSource.CONFIGURATION if library.own else LayoutSource.DISCOVERY
    queue = replace(queue, library=library.name, source=source)
    no_gate = library.queues[number - 1].no_gate
    return replace(queue, no_gate=no_gate) if no_gate and isinstance(queue, Layout) else queue


def _read_columns(tables: Keys, name: str) -> Mapping[str, tuple[str, ...]]:
    """Read the columns of a table: a list of names, or a table of names and types."""
    if not isinstance(tables.raw[name], Mapping):
        return dict.fromkeys(tables.names(name), ())
    columns = tables.nested_keys(name)
    assert columns is not None  # noqa: S101 - the key exists
    return {column: columns.names(column) for column in columns.raw}


def _read_table_queue(keys: Keys) -> TableQueue:
    columns = keys.nested_keys("columns")
    if columns is None or not columns.raw:
        raise BadInput(LibraryFileText.NEEDS_COLUMNS.render(where=keys.where))
    written = {name: value for name, value in keys.raw.items() if name not in ("columns", "no_gate")}
    return TableQueue({name: columns.names(name) for name in columns.raw}, written, keys.text("no_gate") or "")


def statement_folder(name: str, version: str) -> str:
    """Return the folder of the statements that act on a library's messages."""
    return f"{name} {version}".rstrip().replace("-", "_").replace(" ", "_")


def with_prefix(name: str, prefix: str) -> str:
    """Return the name of a table. The prefix replaces a leading ``~``."""
    return prefix + name.removeprefix(PREFIX_MARK) if name.startswith(PREFIX_MARK) else name


def queue_in_name(table: str, pattern: str) -> str | None:
    """Return the queue in a table's name, which ``*`` at the end of ``pattern`` matches; ``""`` without a ``*``.

    Returns ``None`` if the name does not match.
    """
    if not pattern.endswith(ANY_NAME):
        return "" if table == pattern else None
    first = pattern.removesuffix(ANY_NAME)
    return table.removeprefix(first) if table.startswith(first) else None


def _with_queue_name(value: object, queue: str) -> object:
    """Replace ``*`` in the names of the tables that belong to the table of one queue."""
    if isinstance(value, Mapping):
        return {
            key: each.replace(ANY_NAME, queue)
            if key == "table" and isinstance(each, str)
            else _with_queue_name(each, queue)
            for key, each in value.items()
        }
    return [_with_queue_name(each, queue) for each in value] if isinstance(value, list) else value


def _with_prefixes(value: object, prefix: str) -> object:
    if isinstance(value, str):
        return with_prefix(value, prefix)
    if isinstance(value, Mapping):
        return {key: _with_prefixes(each, prefix) for key, each in value.items()}
    return [_with_prefixes(each, prefix) for each in value] if isinstance(value, list) else value
