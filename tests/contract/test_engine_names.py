"""Names made to break statements: as identifiers, as literals, as users and databases."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.base import Bound
from qmon.engines.postgres.postgres_engine import Postgres, PostgresText
from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name
from qmon.engines.sql.query_file import parse_query
from qmon.errors import BadInput
from tests.contract.engines import opened, sql
from tests.facts import query
from tests.wordings import pattern

HOSTILE = [
    '"; drop table x; --',
    "[a]]b].[c d]",
    "\U0001f600 é",
    "%s",
    "?",
    "a?b",
    'a"?"b',
    "'?",
    "{",
    "{x}",
    "{fn now()}",
    "{?=call f}",
    ":x",
    "::int",
    "a;b",
    "it's",
    "$$",
    "$1",
    "$a$?$a$",
    "--",
    "/*",
    "\\",
    "E'\\'",
    " ",
    "new\nline",
    "x" * 63,
]
ENGINE = Postgres()


def run(text: str, header: str, names: dict[str, Name], **values: str | int) -> Bound:
    statement = parse_query(f"-- A test.\n{header}\n{text}", "postgres", "action/names", "sql/names.sql")
    return Bound(queries.render(statement, names, ENGINE), values)


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_is_an_identifier_and_nothing_else(database: str, name: str) -> None:
    names: dict[str, Name] = {"schema": name, "table": (name, name), "column": name}
    table = "-- {table}\n-- {column}"
    with opened(database) as connection:
        connection.execute(run("CREATE SCHEMA {schema}", "-- {schema}", {"schema": name}))
        del names["schema"]
        connection.execute(run("CREATE TABLE {table} ({column} int)", table, names))
        add = run("INSERT INTO {table} ({column}) VALUES (:v)", f"{table}\n-- :v", names, v=5)
        assert connection.execute(add) == 1
        plain = run("SELECT {column} FROM {table}", table, names)
        bound = run("SELECT {column} FROM {table} WHERE {column} = :v", f"{table}\n-- :v", names, v=5)
        other = run("SELECT {column}, CAST(:w AS text) AS w FROM {table}", f"{table}\n-- :w", names, w=name)
        assert connection.fetch(plain).rows == ((5,),)
        assert connection.fetch(bound).columns == (name.lower(),)
        batch = connection.fetch_batch([bound, plain, other, bound])
        assert [rows.rows for rows in batch] == [((5,),), ((5,),), ((5, name),), ((5,),)]


@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_is_a_literal_too_whatever_the_server_thinks_of_backslashes(database: str, name: str) -> None:
    with opened(database) as connection:
        connection.execute(run("CREATE SEQUENCE {s}", "-- {s}", {"s": name}))
        asked = run("SELECT nextval({s!literal}) AS n, CAST(:v AS int) AS v", "-- {s}\n-- :v", {"s": name}, v=7)
        assert connection.fetch(asked).rows == ((1, 7),)
        number = int(connection.fetch(sql("SELECT current_setting('server_version_num')::int AS n")).rows[0][0])  # type: ignore[call-overload]
        if number < 190000:  # later versions read a backslash in only one way
            connection.execute(sql("SET standard_conforming_strings = off"))
            connection.execute(sql("SET escape_string_warning = off"))
            assert connection.fetch(asked).rows == ((2, 7),)


@pytest.mark.parametrize("name", [name for name in HOSTILE if "\n" not in name])
def test_any_name_is_a_body_s_identifier(database: str, name: str) -> None:
    body = "AS $body$ BEGIN RETURN (SELECT max({c}) FROM {t}); END $body$"
    with opened(database) as connection:
        connection.execute(run("CREATE TABLE {t} ({c} int)", "-- {t}\n-- {c}", {"t": name, "c": name}))
        connection.execute(run("INSERT INTO {t} VALUES (3)", "-- {t}", {"t": name}))
        header = "-- {f}\n-- {c}\n-- {t}"
        connection.execute(
            run(
                f"CREATE FUNCTION {{f}}() RETURNS int LANGUAGE plpgsql {body}",
                header,
                {"f": name, "c": name, "t": name},
            )
        )
        assert connection.fetch(run("SELECT {f}() AS n", "-- {f}", {"f": name})).rows == ((3,),)


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ("", PostgresText.BAD_IDENTIFIER),
        ("a\0b", PostgresText.BAD_IDENTIFIER),
        ("x" * 64, PostgresText.LONG_IDENTIFIER),
        ("é" * 32, PostgresText.LONG_IDENTIFIER),
    ],
)
def test_what_would_be_cut_or_refused_is_no_identifier(part: str, why: PostgresText) -> None:
    with pytest.raises(BadInput, match=pattern(why, name=part)):
        ENGINE.quote((part,))


def test_any_user_and_database_can_be_connected_to(server: EmbeddedServer) -> None:
    for name in ("a}b;c{d'\"= é", "{", "}x;Server=evil", "it's \\"):
        quoted = ENGINE.quote((name,))
        admin = server.url("qmon")
        query(admin, f"CREATE ROLE {quoted} LOGIN")
        query(admin, f"CREATE DATABASE {quoted}")
        try:
            where = f"host={quote(str(server.socket_dir), safe='')}&port={server.port}"
            text = f"postgresql://{quote(name, safe='')}@/{quote(name, safe='')}?{where}"
            with opened(text) as connection:
                asked = "SELECT CAST(current_user AS text) AS u, CAST(current_database() AS text) AS d"
                assert connection.fetch(sql(asked)).rows == ((name, name),)
        finally:
            query(admin, f"DROP DATABASE {quoted}")
            query(admin, f"DROP ROLE {quoted}")
