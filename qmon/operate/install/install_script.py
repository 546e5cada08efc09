"""Prints an installation as a script that a DBA can read and run. It contains the design's files with real names."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Final

from qmon.engines.base import Engine, EngineName, Query
from qmon.engines.sql import queries
from qmon.engines.sql.query_file import scan_cached
from qmon.engines.sql.query_text import Parameter
from qmon.errors import BadInput
from qmon.model.layout.layout_io import layout_to_json
from qmon.operate.install.install_queue import CONTROL_FILES, REGISTER_FILE, PreparedInstall
from qmon.texts import Text


class ScriptText(Text):
    """Why a script cannot be printed."""

    LINE_BREAK = "a script for SQL Server cannot contain a name with a line break; use: qmon design install"


SCRIPT_WIDTH: Final = 118

# The first lines of every script that qmon prints. sqlcmd over ODBC has QUOTED_IDENTIFIER OFF. With that setting, the
# server cannot create filtered indexes. A procedure that was created with that setting fails whenever it uses a table
# with a filtered index.
SCRIPT_HEADERS: Final[dict[EngineName, str]] = {
    "postgres": "SET client_encoding = 'UTF8';\n",
    "sqlserver": "SET QUOTED_IDENTIFIER ON;\nSET ANSI_NULLS ON;\nSET NOCOUNT ON;\nSET XACT_ABORT ON;\nGO\n",
}
_SLOT_COMMENT: Final = re.compile(r"--\s*\{([a-z0-9_]+)[^}]*\}\s*(.*)")
_SERVER_NAMES: Final[dict[EngineName, str]] = {"postgres": "PostgreSQL", "sqlserver": "SQL Server"}


def newest_file_version(engine: EngineName) -> int:
    """Return the latest major version for which a design or the registry has a separate file, or 0."""
    return max(
        file.since
        for file in queries.all_files()
        if file.engine == engine
        and (file.kind in ("design", queries.SWITCH_FOLDER) or file.name in (*CONTROL_FILES, REGISTER_FILE))
    )


def install_script(engine: Engine, version: tuple[int, int], ready: PreparedInstall) -> str:
    """Return the SQL that installs and registers a queue on a server of this version or later.

    For PostgreSQL, the script runs in one transaction. For SQL Server, the script consists of batches that end with
    ``GO``. If a batch fails, the later batches do nothing. Raises ``BadInput`` on SQL Server for a name with a line
    break, because a line ``GO`` inside the name would end a batch.
    """
    if engine.name == "sqlserver" and any(
        len(word.splitlines()) > 1 for word in (ready.layout.table.schema, ready.layout.table.name)
    ):
        raise BadInput(ScriptText.LINE_BREAK)
    control = [queries.load_query(engine.name, name, version) for name in CONTROL_FILES]
    register = queries.load_query(engine.name, REGISTER_FILE, version)
    parts = [_file_text(engine, query, ready.names_for(query)) for query in (*control, *ready.files)]
    values = {"queue": ready.layout.queue, "design": ready.layout.design, "layout": layout_to_json(ready.layout)}
    parts.append(f"{_file_header(engine, register, {})}{_text_with_literals(engine, register, values)}")
    title = _title(engine, version, ready)
    return (_wrap_in_transaction if engine.name == "postgres" else _wrap_in_batches)(title, parts)


def _wrap_in_transaction(title: str, parts: list[str]) -> str:
    ended = [part if part.endswith(";") else f"{part}\n;" for part in parts]
    return "\n\n".join([title, f"{SCRIPT_HEADERS['postgres']}BEGIN;", *ended, "COMMIT;\n"])


def _wrap_in_batches(title: str, parts: list[str]) -> str:
    guard = "GO\nIF @@TRANCOUNT = 0 SET NOEXEC ON;\nGO"
    body = [f"{part}\n{guard}" for part in parts]
    first = f"{SCRIPT_HEADERS['sqlserver']}BEGIN TRANSACTION;\nGO"
    return "\n\n".join([title, first, *body, "COMMIT TRANSACTION;\nGO\nSET NOEXEC OFF;\nGO\n"])


def _title(engine: Engine, version: tuple[int, int], ready: PreparedInstall) -> str:
    layout = ready.layout
    since = f", major version {version[0]} or later" if version[0] else ""
    words = [
        f"Queue {layout.queue}, design {layout.design}: {layout.traits.essence} ({layout.traits.article}).",
        f"For {_SERVER_NAMES[engine.name]}{since}. The script creates the schema qmon and its registry if they are"
        f" missing. The schema {layout.table.schema} must exist. If an object with one of these names exists, the"
        " script fails and changes nothing. If the registry has a queue of this name on another table, that entry"
        " stays and this queue is not recorded.",
    ]
    if engine.name == "sqlserver":
        words.append("Run the script with the options of a new session. With sqlcmd: sqlcmd -b -I -x.")
    return "\n".join(line for each in words for line in _comment_lines(each))


def _file_text(engine: Engine, query: Query, names: dict[str, queries.Name]) -> str:
    """Return one file: the header as comments, and the rendered text."""
    text = queries.render(query, names, engine).text.partition("\n")[2]
    return _file_header(engine, query, names) + text


def _file_header(engine: Engine, query: Query, names: dict[str, queries.Name]) -> str:
    """Return the header of a file with the real names in place of the placeholders."""
    out = [f"-- {'-' * (SCRIPT_WIDTH - 4 - len(query.name))} {query.name}"]
    for line in _header_lines(query):
        if found := _SLOT_COMMENT.fullmatch(line):
            name = queries.bare_name(names[found[1]])
            shown = (
                str(name) if isinstance(name, int) else engine.quote((name,) if isinstance(name, str) else name or ())
            )
            out.append(f"--   {_escape_unprintable(shown)}: {_escape_unprintable(found[2])}")
        elif not line.startswith("-- :"):
            out.append(line)
    return "\n".join(out) + "\n"


def _header_lines(query: Query) -> Iterator[str]:
    path = query.path.rpartition(":")[0]
    (file,) = (each for each in queries.all_files() if each.path == path)
    for line in file.file.read_text(encoding="utf-8").split("\n"):
        if not line.startswith("--"):
            return
        yield line


def _text_with_literals(engine: Engine, query: Query, values: dict[str, str]) -> str:
    """Return the text of a query with its values as literals. Only for a script that a person reads and runs."""
    path, _, line = query.path.rpartition(":")
    pieces = scan_cached(query.text, engine.name, path, int(line))
    return "".join(
        engine.literal(values[piece.name]) if isinstance(piece, Parameter) else piece if isinstance(piece, str) else ";"
        for piece in pieces
    )


def _comment_lines(text: str) -> list[str]:
    return [f"-- {line}" for line in textwrap.wrap(_escape_unprintable(text), SCRIPT_WIDTH - 3, break_on_hyphens=False)]


def _escape_unprintable(text: str) -> str:
    """Return the text with unprintable characters escaped, because a line break in a name would end the comment."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
