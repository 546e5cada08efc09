# ruff: noqa: N802 - pglast calls the method that is named like the node
"""Names in sql/postgres are in pg_catalog or have a schema. Functions that qmon installs use only these schemas."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pglast
import pytest
from pglast import ast
from pglast.visitors import Skip, Visitor

from qmon.engines.base import Query
from qmon.engines.sql import queries
from qmon.engines.sql.query_file import scan_cached
from qmon.engines.sql.query_text import Parameter, Placeholder, Separator
from tests.facts import query

# An identifier in place of a slot, which qmon fills with a qualified name or a column.
OURS: Final = "ours_"
PATH: Final = ("pg_catalog", "pg_temp")
# Types whose literals are names of objects.
NAMES: Final = ("regclass", "regproc", "regprocedure", "regtype", "regoper", "regoperator")
NO_TYPES: Final = ("UNKNOWN", "record", "trigger")
LOOKUPS: Final = (*(f"to_{each}" for each in NAMES), "nextval", "currval", "setval")


@dataclass(frozen=True)
class Known:
    """The names in pg_catalog, as the server lists them."""

    relations: frozenset[str]
    functions: frozenset[str]
    types: frozenset[str]
    operators: frozenset[str]


def _is(node: object, kind: type) -> bool:
    """Return whether a node is of a kind. pglast's own types allow any grammar in a field."""
    return isinstance(node, kind)


class Unqualified(Visitor):
    """Collects the names that a search_path could redirect."""

    def __init__(self, known: Known) -> None:
        """``known``: the contents of pg_catalog."""
        super().__init__()
        self.known = known
        self.found: list[str] = []
        self.local: set[str] = set()
        self.bodies: list[Any] = []

    def _check(self, kind: str, name: str, allowed: frozenset[str]) -> None:
        if name not in allowed and name not in self.local and not name.startswith(OURS):
            self.found.append(f"{kind} {name}")

    def _check_text(self, node: Any) -> None:
        if _is(node, ast.A_Const) and _is(node.val, ast.String) and "." not in node.val.sval:
            allowed = self.known.relations | self.known.functions | self.known.types
            self._check("name in a text", re.sub(r"\(.*", "", node.val.sval), allowed)

    def visit_RangeVar(self, _: object, node: Any) -> None:
        """A table, view or sequence."""
        if not node.schemaname:
            self._check("relation", node.relname, self.known.relations)

    def visit_FuncCall(self, _: object, node: Any) -> None:
        """A call."""
        name = node.funcname[-1].sval
        if len(node.funcname) == 1:
            self._check("function", name, self.known.functions)
        if name in LOOKUPS and node.args:
            self._check_text(node.args[0])

    def visit_TypeName(self, _: object, node: Any) -> None:
        """A type. The type of a column (``%TYPE``) has that column's name."""
        if node.names is not None and len(node.names) == 1 and not node.pct_type:
            self._check("type", node.names[0].sval, self.known.types)

    def visit_TypeCast(self, _: object, node: Any) -> None:
        """A text that is cast to the name of an object."""
        if node.typeName.names[-1].sval in NAMES:
            self._check_text(node.arg)

    def visit_A_Expr(self, _: object, node: Any) -> None:
        """An operator."""
        special = ("AEXPR_NULLIF", "AEXPR_LIKE", "AEXPR_ILIKE", "AEXPR_SIMILAR", "AEXPR_BETWEEN", "AEXPR_NOT_BETWEEN")
        if node.name is not None and len(node.name) == 1 and node.kind.name not in special:
            self._check("operator", node.name[0].sval, self.known.operators)

    def visit_CreateFunctionStmt(self, _: object, node: Any) -> None:
        """A function that sets its own path."""
        settings = [each.arg for each in node.options if each.defname == "set"]
        paths = [tuple(arg.val.sval for arg in each.args or ()) for each in settings if each.name == "search_path"]
        # A procedure that commits may not set a path. qmon's own sessions call these, and their path is the same.
        if paths != [PATH] and not node.is_procedure:
            self.found.append(f"no search_path of its own: function {node.funcname[-1].sval}")
        self.bodies.append(node)

    def visit_LockingClause(self, _: object, node: Any) -> object:
        """Rows to lock, by their alias."""
        return Skip

    def visit_DefElem(self, _: object, node: Any) -> object:
        """A word such as "off" is parsed as a type."""
        return Skip if node.defname == "vacuum_truncate" else None

    def visit_DoStmt(self, _: object, node: Any) -> None:
        """A block without a name."""
        self.bodies.append(node)


class Local(Visitor):
    """Collects the names that a statement gives to its parts."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def visit_CommonTableExpr(self, _: object, node: Any) -> None:
        """A part of WITH."""
        self.names.add(node.ctename)


def unqualified(text: str, known: Known) -> list[str]:
    """Return the names without a schema in statements that pg_catalog does not have."""
    tree = pglast.parse_sql(text)
    local, visitor = Local(), Unqualified(known)
    local(tree)
    visitor.local = local.names
    visitor(tree)
    found = list(visitor.found)
    for body in visitor.bodies:
        language = next((each.arg.sval for each in _options(body) if each.defname == "language"), "plpgsql")
        if language == "sql":
            (source,) = next(each.arg for each in _options(body) if each.defname == "as")
            found += unqualified(source.sval, known)
        else:
            for inner in _inner(text):
                found += unqualified(inner, known)
    return found


def _options(body: Any) -> tuple[Any, ...]:
    found: tuple[Any, ...] = body.options if _is(body, ast.CreateFunctionStmt) else body.args
    return found


def _inner(text: str) -> Iterator[str]:
    """Yield the statements and expressions in functions and blocks of PL/pgSQL."""

    def walk(node: object) -> Iterator[str]:
        if isinstance(node, dict):
            expression = node.get("PLpgSQL_expr")
            if expression is not None:
                mode, inner = expression.get("parseMode", 0), expression["query"]
                yield (
                    inner if mode == 0 else "SELECT " + (re.sub(r"^.*?:?=", "", inner, count=1) if mode > 2 else inner)
                )
            kind = node.get("PLpgSQL_type")
            if (
                kind is not None
                and "%" not in kind["typname"]
                and kind["typname"] not in ("UNKNOWN", "record", "trigger")
            ):
                yield f"SELECT CAST(NULL AS {kind['typname']})"
            for each in node.values():
                yield from walk(each)
        elif isinstance(node, list):
            for each in node:
                yield from walk(each)

    yield from walk(pglast.parse_plpgsql(re.sub(rf"{OURS}\w+\[\]", "text[]", text)))  # otherwise a pseudo-type


def filled(sql: Query) -> str:
    """Return the statement with a name in place of each placeholder."""
    texts = {"literal": "'ours_s.x'", "int": "1", "where": "true", "values": "(1, 1, 'x')", "order": "1"}
    texts |= {"type": "text", "utc": "now()", "clock": "now()", "on": "true", "recompile": ""}
    out = []
    for piece in scan_cached(sql.text, "postgres", sql.path.rpartition(":")[0], 1):
        if isinstance(piece, Placeholder):
            name = "bytea" if piece.name == "type" else OURS + piece.name
            out.append(texts.get(piece.form, f"{name} = {name}" if piece.form == "set" else name))
        else:
            out.append("$1" if isinstance(piece, Parameter) else ";" if isinstance(piece, Separator) else str(piece))
    return "".join(out)


@pytest.fixture
def known(database: str) -> Known:
    """The names in pg_catalog of the tests' server."""

    def names(column: str, table: str, schema: str) -> frozenset[str]:
        where = f"{schema} = 'pg_catalog'::regnamespace"
        return frozenset(
            str(name) for (name,) in query(database, f"SELECT {column} FROM pg_catalog.{table} WHERE {where}")
        )

    return Known(
        names("relname", "pg_class", "relnamespace"),
        names("proname", "pg_proc", "pronamespace"),
        names("typname", "pg_type", "typnamespace"),
        names("oprname", "pg_operator", "oprnamespace"),
    )


def test_every_name_in_the_files_is_of_pg_catalog_or_has_its_schema(known: Known) -> None:
    found = {}
    for file in queries.all_files():
        if file.engine == "postgres" and (wrong := unqualified(filled(queries.read_query(file)), known)):
            found[file.path] = sorted(set(wrong))
    assert not found, json.dumps(found, indent=1)


PINNED: Final = "SET search_path = pg_catalog, pg_temp"
BODY: Final = "CREATE FUNCTION ours_f() RETURNS int LANGUAGE {0} SET search_path = pg_catalog, pg_temp AS $$ {1} $$"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("WITH w AS (SELECT 1 AS a) SELECT count(*) FROM w, pg_class, app.jobs, ours_table", []),
        ("SELECT 1 FROM jobs AS j", ["relation jobs"]),
        ("WITH w AS (DELETE FROM jobs RETURNING 1) SELECT 1 FROM w", ["relation jobs"]),
        ("SELECT pgstattuple('app.jobs')", ["function pgstattuple"]),
        ("SELECT CAST('a' AS mood)", ["type mood"]),
        ("SELECT 1 <-> 2, 1 <@@ 2", ["operator <@@"]),
        ("SELECT CAST('jobs' AS regclass), CAST('pg_class' AS regclass)", ["name in a text jobs"]),
        ("SELECT to_regclass('jobs')", ["name in a text jobs"]),
        (BODY.format("sql", "SELECT 1").replace(PINNED, ""), ["no search_path of its own: function ours_f"]),
        (BODY.format("sql", "SELECT count(*) FROM jobs"), ["relation jobs"]),
        (BODY.format("plpgsql", "BEGIN DELETE FROM jobs; RETURN 1; END"), ["relation jobs"]),
        (BODY.format("plpgsql", "BEGIN RETURN mine(1); END"), ["function mine"]),
        (BODY.format("plpgsql", "DECLARE v int; BEGIN v := mine(1); RETURN v; END"), ["function mine"]),
        (BODY.format("plpgsql", "BEGIN IF mine(1) THEN RETURN 1; END IF; RETURN 2; END"), ["function mine"]),
        (BODY.format("plpgsql", "BEGIN FOR i IN 1..mine(2) LOOP PERFORM lower('a'); END LOOP; END"), ["function mine"]),
        ("DO $$ BEGIN PERFORM FROM jobs; END $$", ["relation jobs"]),
    ],
    ids=str,
)
def test_a_name_that_a_search_path_could_lead_elsewhere_is_found(known: Known, text: str, wrong: list[str]) -> None:
    assert unqualified(text, known) == wrong
