"""A role that owns the database, but is no superuser, cannot get its code run by a superuser who uses qmon on it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest

from qmon.engines.base import Session
from qmon.engines.postgres.postgres_engine import SEARCH_PATH
from qmon.engines.registry import engine_for
from tests.cli.calling import call
from tests.contract.engines import sql
from tests.contract.trust import look
from tests.contract.watching import installed, target_of
from tests.facts import query

# Each matches a call or comparison in qmon's SQL, or in its driver's, at least as well as the function in pg_catalog.
FUNCTIONS: Final = (
    ("hashtextextended(text, integer)", "bigint", "1"),
    ("lower(varchar)", "text", "'x'"),
    ("upper(varchar)", "text", "'x'"),
    ("coalesced(text)", "text", "'x'"),
    ("to_regclass(varchar)", "regclass", "NULL"),
    ("current_setting(varchar)", "text", "'x'"),
    ("set_config(varchar, varchar, boolean)", "text", "'x'"),
    ("pg_backend_pid(VARIADIC text[])", "integer", "1"),
    ("left(name, integer)", "text", "'x'"),
    ("same_oid(oid, integer)", "boolean", "true"),
    ("same_name(name, varchar)", "boolean", "true"),
    ('same_char("char", text)', "boolean", "true"),
    ("same_bigint(bigint, oid)", "boolean", "true"),
    ("division(bigint, numeric)", "numeric", "1"),
)
OPERATORS: Final = (
    ("=", "oid", "integer", "same_oid"),
    ("=", "name", "varchar", "same_name"),
    ("=", '"char"', "text", "same_char"),
    ("=", "bigint", "oid", "same_bigint"),
    ("/", "bigint", "numeric", "division"),
)
RELATIONS: Final = ("pg_class", "pg_type", "pg_namespace", "pg_settings", "pg_locks", "pg_stat_activity", "pg_database")
SETTINGS: Final = (
    "search_path = public, pg_catalog",
    "standard_conforming_strings = off",
    "transform_null_equals = on",
    "bytea_output = escape",
    "DateStyle = 'SQL, DMY'",
    "quote_all_identifiers = on",
    "default_transaction_isolation = serializable",
)


@pytest.fixture
def attacked(database: str) -> Iterator[str]:
    """The URL of a superuser for a database whose owner has filled the first schema of the search path."""
    name = database.rpartition("/")[2].partition("?")[0]
    owner = f"owner_{name}"
    installed(database, "fifo", "ring")
    query(database, "INSERT INTO public.fifo (payload) VALUES ('a'), ('b')")
    query(database, f"CREATE ROLE {owner} LOGIN")
    query(database, f"ALTER DATABASE {name} OWNER TO {owner}")
    query(database, f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {owner}")
    mine = database.replace("postgres@", f"{owner}@", 1)
    query(mine, "CREATE SCHEMA evil; GRANT ALL ON SCHEMA evil TO PUBLIC")
    query(mine, "CREATE TABLE evil.caught (who text, what text)")
    query(mine, "GRANT ALL ON evil.caught TO PUBLIC")
    # If the code can write, it leaves a row. In a session that only reads, it fails, and so does the command.
    report = "INSERT INTO evil.caught VALUES (current_user, '{0}')"
    for signature, result, value in FUNCTIONS:
        body = f"BEGIN IF current_user <> '{owner}' THEN {report.format(signature.partition('(')[0])};"
        body += f" ALTER ROLE {owner} SUPERUSER; END IF; RETURN {value}; END"
        query(mine, f"CREATE FUNCTION public.{signature} RETURNS {result} LANGUAGE plpgsql AS $${body}$$")
    for sign, left, right, function in OPERATORS:
        query(
            mine, f"CREATE OPERATOR public.{sign} (LEFTARG = {left}, RIGHTARG = {right}, FUNCTION = public.{function})"
        )
    body = f"BEGIN {report.format('view')}; RETURN true; END"
    query(mine, f"CREATE FUNCTION evil.seen() RETURNS boolean LANGUAGE plpgsql AS $${body}$$")
    for relation in RELATIONS:
        query(mine, f"CREATE VIEW public.{relation} AS SELECT * FROM pg_catalog.{relation} WHERE evil.seen()")
    for setting in SETTINGS:
        query(mine, f"ALTER DATABASE {name} SET {setting}")
    try:
        yield database
    finally:
        look(database, f"ALTER DATABASE {name} OWNER TO postgres")
        look(database, f"ALTER DATABASE {name} RESET ALL")
        look(database, f"DROP OWNED BY {owner} CASCADE")
        look(database, f"DROP ROLE {owner}")


@pytest.mark.parametrize(
    "arguments",
    [
        ("status",),
        ("doctor",),
        ("queues",),
        ("purge", "fifo", "--state", "ready", "--dry-run"),
        ("purge", "fifo", "--state", "ready", "--yes", "--reason", "test"),
    ],
    ids=" ".join,
)
def test_a_command_of_a_superuser_runs_no_code_of_the_owner(
    attacked: str, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    done = call(
        arguments[0],
        attacked,
        *arguments[1:],
        environment={"XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)},
    )
    assert look(attacked, "SELECT what, count(*) FROM evil.caught GROUP BY 1") == [], done.output
    assert (
        look(
            attacked,
            "SELECT rolname FROM pg_catalog.pg_roles WHERE rolname = 'owner_' || current_database() AND rolsuper",
        )
        == []
    )
    assert done.exit_code == 0, done.output


def test_settings_of_the_database_do_not_reach_a_session_of_ours(attacked: str) -> None:
    target = target_of(attacked)
    with contextlib.closing(engine_for(target).connect(target, Session("poll"))) as connection:
        for name, value in (
            ("search_path", SEARCH_PATH),
            ("standard_conforming_strings", "on"),
            ("transform_null_equals", "off"),
            ("bytea_output", "hex"),
            ("quote_all_identifiers", "off"),
            ("default_transaction_isolation", "read committed"),
        ):
            assert connection.fetch(sql(f"SHOW {name}")).rows == ((value,),)


@pytest.mark.parametrize(
    "given", ["-c search_path=public", "-c search_path=public -c work_mem=7MB", "--search-path=public"]
)
def test_options_of_the_user_are_kept_and_a_search_path_is_not(database: str, given: str) -> None:
    target = target_of(f"{database}&options={quote(given)}")
    with contextlib.closing(engine_for(target).connect(target, Session("poll"))) as connection:
        assert connection.fetch(sql("SHOW search_path")).rows == ((SEARCH_PATH,),)
        work = connection.fetch(sql("SHOW work_mem")).rows[0][0]
        assert (work == "7MB") == ("work_mem" in given)
