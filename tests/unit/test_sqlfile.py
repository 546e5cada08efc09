"""The allowed content of a SQL file, and the message for each fault."""

from __future__ import annotations

import re

import pytest

from qmon.engines.base import EngineName, Query
from qmon.engines.sql.query_file import QueryFileText, parse_query
from qmon.engines.sql.query_text import Parameter, Placeholder, QueryFileError, SqlText, scan_text
from tests.wordings import pattern


def parsed(text: str, name: str = "action/x", engine: EngineName = "postgres") -> Query:
    return parse_query(text, engine, name, f"sql/{engine}/x.sql")


def meanings(text: str, engine: EngineName = "postgres") -> list[str]:
    return [piece.name for piece in scan_text(text, engine, "x.sql") if isinstance(piece, Parameter | Placeholder)]


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        ("postgres", "SELECT ':a', '{b}', 'it''s :a', '?'"),
        ("postgres", r"SELECT E'it\'s :a {b}', e'\\' , now()::text"),
        ("postgres", 'SELECT ":a", "{b}", "a "" :a ?"'),
        ("postgres", "SELECT 1 -- :a {b} ' ?\n, 2 /* :a /* {b} */ ' ? */"),
        ("postgres", "SELECT x[1:n], y[2 : 3], a := 5, 'x'::text, b::int4[]"),
        ("postgres", "DO $$ BEGIN x := a[1:n]; y :b; PERFORM '?{b}'; END $$"),
        ("postgres", "SELECT a$b$c, $1, $q$ :a ' $q$, $été$ ' $été$"),
        ("sqlserver", "SELECT [:a], [{b}], [a]]:b], [?], \":a\", N':a' FROM t WHERE x = $1.5"),
        ("sqlserver", "GRANT SELECT ON SCHEMA::dbo TO qmon"),
    ],
)
def test_strings_identifiers_comments_and_casts_stay_as_they_are(engine: EngineName, text: str) -> None:
    assert meanings(text, engine) == []
    if ";" not in text:
        assert scan_text(text, engine, "x.sql") == (text,)


def test_values_and_names_are_found_in_order() -> None:
    text = "SELECT {id}, :a::bigint FROM {table} WHERE {state?} = :b AND nextval({seq!literal}) < {size!int}"
    assert meanings(text) == ["id", "a", "table", "state", "b", "seq", "size"]


def test_in_a_body_only_names_have_a_meaning() -> None:
    text = "CREATE FUNCTION {f}() AS $x$ BEGIN :a; {t} ? ; $$ {u} $$ -- {v}\n END $x$"
    assert meanings(text) == ["f", "t", "u"]


def test_the_same_text_comes_back() -> None:
    text = "SELECT {id}, 'é\U0001f600', :a FROM {t}"
    pieces = scan_text(text, "postgres", "x.sql")
    assert "".join(p if isinstance(p, str) else f"<{p.__class__.__name__}>" for p in pieces) == (
        "SELECT <Placeholder>, 'é\U0001f600', <Parameter> FROM <Placeholder>"
    )


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("-- x\nSELECT ?", 2, pattern(SqlText.BARE_MARK)),
        ("-- x\nSELECT\n 'a", 3, pattern(SqlText.NO_PARTNER)),
        ("-- x\nSELECT {}", 2, pattern(SqlText.NOT_A_SLOT, text="{}")),
        ("-- x\nSELECT {A b}", 2, pattern(SqlText.NOT_A_SLOT, text="{A b}")),
        ("-- x\nSELECT {a!upper}", 2, pattern(SqlText.NOT_A_SLOT, text="{a!upper}")),
        ("-- x\nSELECT {a", 2, pattern(SqlText.NO_PARTNER)),
        ("-- x\nSELECT 1\n/* /* */", 3, pattern(SqlText.COMMENT_OPEN)),
        ("-- x\nDO $a$ END", 2, pattern(SqlText.BODY_OPEN, mark="$a$")),
        ("-- x\nSELECT :a", 2, pattern(QueryFileText.VALUE_UNDECLARED, name="a")),
        ("-- x\nSELECT\n\n{a}", 4, pattern(QueryFileText.SLOT_UNDECLARED, name="a")),
        ("-- x\n-- :a  one\nSELECT 1", 2, pattern(QueryFileText.VALUE_UNUSED, name="a")),
        ("-- x\n-- {a}  one\nSELECT 1", 2, pattern(QueryFileText.SLOT_UNUSED, name="a")),
        ("-- x\n-- {a}\n-- {a?}\nSELECT {a}", 3, pattern(QueryFileText.DECLARED_TWICE)),
        ("-- x\n-- :a\n-- :a\nSELECT :a", 3, pattern(QueryFileText.DECLARED_TWICE)),
        ("-- x\n-- > a\n-- > a\nSELECT 1 AS a", 3, pattern(QueryFileText.DECLARED_TWICE)),
        ("-- x\n-- {a?}\nSELECT {a}", 3, pattern(QueryFileText.BOTH_WAYS, ways=QueryFileText.BOTH_MARKS)),
        ("-- x\n-- {a b}\nSELECT {a}", 2, r"\{a b\}"),
        ("-- x\n-- :9\nSELECT 1", 2, pattern(QueryFileText.NOT_A_NAME, name="9")),
        ("-- x\n-- > A\nSELECT 1 AS a", 2, pattern(QueryFileText.NOT_A_COLUMN, column="A")),
        ("-- x\nSELECT 1; SELECT 2", 2, pattern(QueryFileText.SECOND_STATEMENT)),
        ("-- x\nSELECT 1;;", 2, pattern(QueryFileText.SECOND_STATEMENT)),
        ("-- x\n", 2, pattern(QueryFileText.NO_STATEMENT)),
        ("-- x\n\n-- more\n/* and */ ;", 2, pattern(QueryFileText.NO_STATEMENT)),
        ("", 1, pattern(QueryFileText.NO_PURPOSE)),
        ("SELECT 1", 1, pattern(QueryFileText.NO_PURPOSE)),
        ("-- {a}\nSELECT {a}", 1, pattern(QueryFileText.NO_PURPOSE)),
    ],
)
def test_each_fault_is_named_with_its_line(text: str, line: int, part: str) -> None:
    with pytest.raises(QueryFileError) as caught:
        parsed(text)
    assert str(caught.value).startswith(f"sql/postgres/x.sql:{line}: ")
    assert re.search(part, str(caught.value))


def test_an_unclosed_bracket_is_a_fault_on_sql_server_only() -> None:
    with pytest.raises(QueryFileError, match=pattern(SqlText.NO_PARTNER)):
        parsed("-- x\nSELECT [a", engine="sqlserver")
    assert parsed("-- x\nSELECT ARRAY[1]").text == "SELECT ARRAY[1]"


def test_the_header_is_read() -> None:
    query = parsed(
        "-- Counts ready rows.\n-- Up to a limit.\n--\n-- {table}  the table\n--          of the queue\n"
        "-- :limit   rows\n-- > counted  how many\n\nSELECT count(*) AS counted FROM {table} LIMIT :limit;\n-- end\n",
        "probe/x",
    )
    assert query.purpose == "Counts ready rows. Up to a limit."
    assert query.names == {"table"}
    assert query.parameters == ("limit",)
    assert query.columns == ("counted",)
    assert query.text.strip() == "SELECT count(*) AS counted FROM {table} LIMIT :limit"


def test_a_probe_declares_its_columns() -> None:
    with pytest.raises(QueryFileError, match=pattern(QueryFileText.NO_COLUMNS)):
        parsed("-- x\nSELECT 1", "probe/x")


def test_what_installs_takes_no_values_and_may_hold_several_statements() -> None:
    for name in ("design/ring/01_table", "control/01_schema"):
        with pytest.raises(QueryFileError, match=pattern(QueryFileText.TAKES_NO_VALUES)):
            parsed("-- x\n-- :a\nSELECT :a", name)
        assert parsed("-- x\nSELECT 1; SELECT 2;", name).text == "SELECT 1; SELECT 2;"
    assert parsed("-- x\n-- :a\nSELECT :a", "control/register").parameters == ("a",)
