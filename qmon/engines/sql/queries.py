"""Find the SQL for an engine and server version, and render the SQL for one layout."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources.abc import Traversable
from typing import Final

from qmon import bundled
from qmon.engines.base import Engine, EngineName, Query, Statement, Value
from qmon.engines.sql.condition_sql import RowColumn, RowCondition, row_sql, written_once
from qmon.engines.sql.list_page import PagePart
from qmon.engines.sql.query_file import parse_query, scan_cached
from qmon.engines.sql.query_text import Parameter, Placeholder, QueryFileError, Separator
from qmon.engines.sql.whole_row import RowKey, RowValues
from qmon.errors import BadInput
from qmon.model.layout.table_facts import Column, IndexName
from qmon.model.layout.time_zones import UNKNOWN_ZONE, UTC_ZONE, TimeColumn, Zone
from qmon.texts import Text


class QueryText(Text):
    """Errors of queries and their names."""

    NO_FOLDER = "the sql folder of qmon is missing: the installation is broken"
    FOLDER_NAME = "{path}: a folder is called {names}"
    FILE_NAME = "{path}: a file is called name.sql or name.since_16.sql"
    BEFORE_VERSION = " before version {version}"
    NO_QUERY = "there is no {query} for {engine}{hint}"
    NO_DESIGN = "there is no design {design!r} for {engine}; it has: {designs}"
    NO_STEP = "{file}:1: the same as {path}, but that is no step of a design"
    NAMES_MISSING = "{query} needs a name for {names}"
    NAMES_UNUSED = "{query} does not use {names}"
    FILTERED_INDEX = "{query} cannot name the filtered index {index!r}: the statement is not recompiled"
    NOT_AN_IDENTIFIER = "{name!r} is not an identifier"
    LAYOUT_LACKS = "{query} needs {name}, which this layout lacks"
    NEEDS_WHOLE_NUMBER = "{query} takes a whole number for {name}, not {value!r}"
    NEEDS_COLUMNS = "{query} takes a list of columns for {name}, not {value!r}"
    NEEDS_IDENTIFIER = "{query} takes an identifier for {name}, not {value!r}"
    OTHER_USE = "{query} has another use for {name} than {value!r}"
    COLUMN_WITH_TYPE = "a column with its type"
    CONDITION = "a condition"
    ROW_COLUMNS = "columns of a row"
    PART_OF_PAGE = "a part of a page"
    INDEX = "an index"
    NEEDS_OTHER = "{query} takes {wanted} for {name}, not {value!r}"
    NEEDS_TIME = "{query} takes a column of times for {name}, not {value!r}"


# A value that replaces `{name}`: the parts of an identifier, a single part, a whole number, a column with its type or
# zone, an index, a column or condition of a group, the key of a row, the columns of a row with their values, a part of
# a page, or nothing.
Name = (
    Sequence[str]
    | str
    | int
    | TimeColumn
    | Column
    | IndexName
    | RowColumn
    | RowCondition
    | RowKey
    | RowValues
    | PagePart
    | None
)

ENGINES: Final[tuple[EngineName, ...]] = ("postgres", "sqlserver")

# For each folder, the first word in the names of its queries.
FOLDER_KINDS: Final[Mapping[str, str]] = {
    "probes": "probe",
    "actions": "action",
    "catalog": "catalog",
    "control": "control",
    "designs": "design",
    "switch": "switch",
    "libraries": "library",
}

# Every installed design needs the files in this folder in addition to its own files.
SWITCH_FOLDER: Final = "switch"

# A time outside this range means "never": infinite times, MinValue and MaxValue of .NET, the first day of datetime, and
# the number 0 as seconds since 1970.
_FIRST_MOMENT: Final = "1970-01-02T00:00:00"
_LAST_MOMENT: Final = "9998-01-01T00:00:00"
_SAME_AS: Final = re.compile(r"-- same as ([A-Za-z0-9_]+/[A-Za-z0-9_.]+\.sql)\n?")
_FILE_NAME: Final = re.compile(r"([A-Za-z0-9_]+?)(?:\.since_([1-9][0-9]*))?\.sql")


@dataclass(frozen=True, slots=True)
class SqlFile:
    """One file. ``name``: name of the query, such as ``probe/server``. ``since``: first major version of the server."""

    engine: EngineName
    name: str
    since: int
    # The path relative to the parent folder of `sql`, for error messages.
    path: str
    file: Traversable

    @property
    def kind(self) -> str:
        """``probe``, ``action``, ``catalog``, ``control``, ``design``, ``switch`` or ``library``."""
        return self.name.partition("/")[0]


@cache
def sql_folder() -> Traversable:
    """Return the ``sql`` folder. It is inside the package in a wheel, and next to the package in a checkout."""
    found = bundled.bundled_folder("sql")
    if found is None:
        raise QueryFileError(QueryText.NO_FOLDER)
    return found


@cache
def all_files() -> tuple[SqlFile, ...]:
    """Return all SQL files, sorted by engine, name and version. Raises ``QueryFileError`` for an unexpected file."""
    found: list[SqlFile] = []
    for engine in ENGINES:
        for folder in sorted((sql_folder() / engine).iterdir(), key=lambda entry: entry.name):
            if folder.is_dir():
                path = f"sql/{engine}/{folder.name}"
                if folder.name not in FOLDER_KINDS:
                    raise QueryFileError(QueryText.FOLDER_NAME.render(path=path, names=", ".join(FOLDER_KINDS)))
                found.extend(_find_files(engine, FOLDER_KINDS[folder.name], folder, path))
    return tuple(sorted(found, key=lambda file: (file.engine, file.name, file.since)))


def _find_files(engine: EngineName, prefix: str, folder: Traversable, path: str) -> Iterator[SqlFile]:
    for entry in folder.iterdir():
        here = f"{path}/{entry.name}"
        if entry.is_dir():
            yield from _find_files(engine, f"{prefix}/{entry.name}", entry, here)
        elif entry.name.endswith(".sql"):
            match = _FILE_NAME.fullmatch(entry.name)
            if match is None:
                raise QueryFileError(QueryText.FILE_NAME.render(path=here))
            yield SqlFile(engine, f"{prefix}/{match[1]}", int(match[2] or 0), here, entry)


@cache
def _files_by_name() -> dict[tuple[EngineName, str], tuple[SqlFile, ...]]:
    out: dict[tuple[EngineName, str], tuple[SqlFile, ...]] = {}
    for file in all_files():
        out[file.engine, file.name] = (*out.get((file.engine, file.name), ()), file)
    return out


@cache
def has_query(engine: EngineName, name: str, version: tuple[int, int]) -> bool:
    """Return whether this engine has the query for servers of this version."""
    return any(file.since <= version[0] for file in _files_by_name().get((engine, name), ()))


@cache
def load_query(engine: EngineName, name: str, version: tuple[int, int]) -> Query:
    """Load the query ``name`` (``probe/server``, ``design/ring/01_tables``) for a server of this version.

    Raises ``QueryFileError`` if the query does not exist or its file is invalid.
    """
    files = _files_by_name().get((engine, name), ())
    fitting = [file for file in files if file.since <= version[0]]
    if not fitting:
        hint = QueryText.BEFORE_VERSION.render(version=min(file.since for file in files)) if files else ""
        raise QueryFileError(QueryText.NO_QUERY.render(query=name, engine=engine, hint=hint))
    return read_query(fitting[-1])


@cache
def designs(engine: EngineName) -> tuple[str, ...]:
    """Return the names of the designs that this engine can install."""
    names = {file.name.split("/")[1] for file in all_files() if file.engine == engine and file.kind == "design"}
    return tuple(sorted(names))


@cache
def design_files(engine: EngineName, design: str, version: tuple[int, int]) -> tuple[Query, ...]:
    """Load the files that install a design, in order: the pause switch, then the design. See ``uninstall_files``.

    Raises ``BadInput`` for a design that this engine does not have.
    """
    names = _step_names(engine, f"design/{design}/")
    if not names:
        raise BadInput(
            QueryText.NO_DESIGN.render(design=design, engine=engine, designs=", ".join(designs(engine)) or "none")
        )
    names = [*_step_names(engine, f"{SWITCH_FOLDER}/"), *names]
    return tuple(load_query(engine, name, version) for name in names if has_query(engine, name, version))


def uninstall_files(engine: EngineName, design: str, version: tuple[int, int]) -> tuple[Query, ...]:
    """Load the files that remove the objects created by ``design_files``, in order."""
    return tuple(
        load_query(engine, name, version) for name in (f"design/{design}/uninstall", f"{SWITCH_FOLDER}/uninstall")
    )


def _step_names(engine: EngineName, prefix: str) -> list[str]:
    return sorted(
        name
        for (owner, name) in _files_by_name()
        if owner == engine and name.startswith(prefix) and not name.endswith("/uninstall")
    )


def read_query(file: SqlFile) -> Query:
    """Read and check one file. Raises ``QueryFileError`` with file and line.

    If a design step is the same as a step of another design, its file has a single line that names the other step.
    """
    text = file.file.read_text(encoding="utf-8")
    same = _SAME_AS.fullmatch(text)
    if same is None:
        return parse_query(text, file.engine, file.name, file.path)
    path = f"sql/{file.engine}/designs/{same[1]}"
    found = next((other for other in all_files() if other.path == path), None)
    if found is None or file.kind != "design":
        raise QueryFileError(QueryText.NO_STEP.render(file=file.path, path=path))
    return parse_query(found.file.read_text(encoding="utf-8"), file.engine, file.name, path)


def render(query: Query, names: Mapping[str, Name], engine: Engine) -> Statement:
    """Render the statement for one layout, with quoted identifiers, a ``?`` for each value and a comment with its name.

    Raises ``BadInput`` if ``names`` lacks a name or has an unused name, or if a name cannot be an identifier. Also
    raises ``BadInput`` if a statement names a filtered index but is not recompiled for each use, because the server
    refuses this (8622).
    """
    if missing := sorted(query.names - names.keys()):
        raise BadInput(QueryText.NAMES_MISSING.render(query=query.name, names=", ".join(missing)))
    if extra := sorted(names.keys() - query.names):
        raise BadInput(QueryText.NAMES_UNUSED.render(query=query.name, names=", ".join(extra)))
    path, _, line = query.path.rpartition(":")
    parameters: list[str] = []
    known: dict[str, Value] = {}
    out = [f"/* qmon {query.name} */\n"]
    pieces = scan_cached(query.text, engine.name, path, int(line))
    _refuse_filtered(query.name, [piece for piece in pieces if isinstance(piece, Placeholder)], names)
    for piece in pieces:
        if isinstance(piece, Parameter):
            parameters.append(piece.name)
            out.append("?")
        elif isinstance(piece, Placeholder):
            name = names[piece.name]
            if isinstance(name, PagePart) and piece.form == "order":
                out.append(name.sort_order(engine))
            elif isinstance(name, RowColumn | RowCondition | RowKey | PagePart):
                if isinstance(name, RowKey | PagePart):
                    text, values = name.condition(engine, piece.name)
                else:
                    text, values = row_sql(engine, name, piece.name)
                parameters += values
                known |= values
                out.append(_row_text(piece, name, text, query.name, engine))
            elif isinstance(name, RowValues) and piece.form == "values":
                out.append(name.values_text(engine, piece.alias))
            else:
                out.append(_fill_slot(piece, name, query.name, engine))
        else:
            out.append(";" if isinstance(piece, Separator) else piece)
    return Statement(query.name, "".join(out), tuple(parameters), query.columns, known)


def _refuse_filtered(query: str, slots: Sequence[Placeholder], names: Mapping[str, Name]) -> None:
    anew = {slot.name for slot in slots if slot.form == "recompile"}
    for slot in slots:
        index = names[slot.name]
        if slot.form == "identifier" and isinstance(index, IndexName) and index.filtered and slot.name not in anew:
            raise BadInput(QueryText.FILTERED_INDEX.render(query=query, index=index.name))


def bare_name(name: Name) -> Sequence[str] | str | int | None:
    """Return the bare name without the type, zone or other facts of a column or index."""
    if isinstance(name, RowColumn | RowCondition | RowKey | PagePart):
        raise BadInput(QueryText.NOT_AN_IDENTIFIER.render(name=name))
    if isinstance(name, RowValues):
        return name.column_names
    return name.name if isinstance(name, TimeColumn | Column | IndexName) else name


def _fill_slot(slot: Placeholder, value: Name, query: str, engine: Engine) -> str:
    if slot.form in ("utc", "moment", "clock") and (slot.optional or value is not None):
        return _time_text(slot, value, query, engine)
    if slot.form in ("type", "recompile", "where", "values", "order"):
        return _type_or_option(slot, value, query, engine)
    kind = value.type if isinstance(value, Column) else ""
    value = bare_name(value)
    if value is None:
        if slot.optional:
            return "NULL"
        raise BadInput(QueryText.LAYOUT_LACKS.render(query=query, name=slot.name))
    if slot.form == "int":
        if isinstance(value, bool) or not isinstance(value, int):
            raise BadInput(QueryText.NEEDS_WHOLE_NUMBER.render(query=query, name=slot.name, value=value))
        return str(value)
    if slot.form == "text" and isinstance(value, str):
        value = (value,)
    if slot.form in ("list", "set", "text", "numbered", "on"):
        if isinstance(value, str | int):
            raise BadInput(QueryText.NEEDS_COLUMNS.render(query=query, name=slot.name, value=value))
        columns = [engine.quote((column,)) for column in value]
        if slot.form == "text":
            return engine.text_expression([f"{slot.alias}.{column}" if slot.alias else column for column in columns])
        return _columns_text(slot, columns)
    if isinstance(value, int):
        raise BadInput(QueryText.NEEDS_IDENTIFIER.render(query=query, name=slot.name, value=value))
    return _identifier(slot, engine.quote((value,) if isinstance(value, str) else value), kind, engine)


def _identifier(slot: Placeholder, quoted: str, kind: str, engine: Engine) -> str:
    """Return SQL for an identifier, a literal, or a value that can become text. ``kind``: type of the column."""
    if slot.form == "literal":
        return engine.literal(quoted)
    if slot.form == "newest":
        return engine.newest(f"{slot.alias}.qmon_{slot.name}" if slot.alias else quoted, kind)
    return engine.readable_expression(quoted, kind) if slot.form == "read" else quoted


def _row_text(
    slot: Placeholder, value: RowColumn | RowCondition | RowKey | PagePart, text: str, query: str, engine: Engine
) -> str:
    """Return SQL for ``value``, in the form that the placeholder asks for. ``text``: the SQL of the value."""
    if isinstance(value, RowCondition | RowKey | PagePart) and slot.form == "where":
        return text
    if isinstance(value, RowColumn) and slot.form in ("utc", "moment"):
        return _utc_text(slot, text, value.zone, engine)
    if isinstance(value, RowColumn) and slot.form in ("read", "newest"):
        return engine.readable_expression(text, value.kind) if slot.form == "read" else engine.newest(text, value.kind)
    if isinstance(value, RowColumn) and slot.form in ("text", "identifier"):
        return engine.text_expression([text]) if slot.form == "text" else text
    raise BadInput(QueryText.OTHER_USE.render(query=query, name=slot.name, value=value))


def _type_or_option(slot: Placeholder, value: Name, query: str, engine: Engine) -> str:
    """Return the type of values to compare with a column, or the option that a filtered index needs in a statement."""
    if slot.form == "type" and isinstance(value, Column):
        return engine.text_type(value.type)
    if slot.form == "type" and value is None and slot.optional:
        return engine.text_type("")
    if slot.form == "recompile" and isinstance(value, IndexName):
        return ", RECOMPILE" if value.filtered else ""
    wanted = {
        "type": QueryText.COLUMN_WITH_TYPE,
        "where": QueryText.CONDITION,
        "values": QueryText.ROW_COLUMNS,
        "order": QueryText.PART_OF_PAGE,
    }.get(slot.form, QueryText.INDEX)
    raise BadInput(QueryText.NEEDS_OTHER.render(query=query, wanted=wanted, name=slot.name, value=value))


def _time_text(slot: Placeholder, value: Name, query: str, engine: Engine) -> str:
    """Return SQL for a column's time in UTC, or NULL if the zone is unknown.

    For the form ``clock``, return SQL for the current time in the zone of the column.
    """
    if isinstance(value, str):
        value = TimeColumn(value)
    elif isinstance(value, Sequence) and len(value) == 1:
        value = TimeColumn(value[0])
    if value is not None and not isinstance(value, TimeColumn):
        raise BadInput(QueryText.NEEDS_TIME.render(query=query, name=slot.name, value=value))
    if slot.form == "clock":
        return engine.clock_expression(UTC_ZONE if value is None else value.zone)
    if value is None or value.zone == UNKNOWN_ZONE:
        return engine.utc_expression("NULL", UTC_ZONE)
    return _utc_text(slot, (f"{slot.alias}." if slot.alias else "") + engine.quote((value.name,)), value.zone, engine)


def _utc_text(slot: Placeholder, expression: str, zone: Zone, engine: Engine) -> str:
    """Return a time in UTC. The form ``moment`` returns NULL for times that mean "never"."""

    def build(once: str) -> str:
        utc = engine.utc_expression(once, zone)
        if slot.form != "moment":
            return utc
        return f"CASE WHEN {utc} > '{_FIRST_MOMENT}' AND {utc} < '{_LAST_MOMENT}' THEN {utc} END"

    return written_once(expression, build)


def _columns_text(slot: Placeholder, columns: list[str]) -> str:
    of = f"{slot.alias}." if slot.alias else ""
    if slot.form == "numbered":
        return ", ".join(f"{of}k{number}" for number in range(1, len(columns) + 1))
    if slot.form == "on":
        return " AND ".join(f"q.{column} = {of}{column}" for column in columns)
    return ", ".join(f"{column} = {of}{column}" if slot.form == "set" else of + column for column in columns)
