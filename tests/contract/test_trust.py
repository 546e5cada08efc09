"""No foreign code runs through qmon's own schema, and operators cannot change the records of others' operations."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from qmon.engines.base import Connection, Session
from qmon.engines.control_schema import ControlSchemaText, why_untrusted
from qmon.engines.registry import engine_for
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, LayoutSource
from qmon.model.operation_records import Choice, Side
from qmon.monitor.catalog.resolve import resolve_queues
from qmon.operate.context import Permission
from qmon.operate.install.control_setup import plan_control_setup
from qmon.operate.install.install_queue import install_queue, read_installed_layouts
from qmon.operate.operator import Operator
from tests.cli.calling import call
from tests.contract.operating import applied, desk_at
from tests.contract.roles import kept_out, login, set_up
from tests.facts import query
from tests.queues import ENGINE, made, opened, target_of
from tests.queues import call as run_routine
from tests.wordings import has, pattern

WHY = Permission("a test")
EVIL = """
    CREATE TABLE public.ran (by text);
    GRANT INSERT ON public.ran TO PUBLIC;
    CREATE FUNCTION public.evil() RETURNS boolean LANGUAGE plpgsql VOLATILE AS
        'BEGIN INSERT INTO public.ran VALUES (current_user); RETURN true; END';
    CREATE FUNCTION public.evil_trigger() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM public.evil(); RETURN NEW; END'
"""
VIEWS = {
    "queues": "CREATE VIEW qmon.queues AS SELECT 'q' AS queue, '{}' AS layout, 1 AS version WHERE public.evil()",
    "operations": "CREATE VIEW qmon.operations AS SELECT 'x' AS id, 1 AS done WHERE public.evil()",
    "stores": "CREATE VIEW qmon.stores AS SELECT 1 AS store WHERE public.evil()",
    "pauses": """CREATE VIEW qmon.pauses AS
        SELECT 1 AS id, 'q' AS queue, 'public.q' AS about, 'producers' AS side, 1259::regclass AS switch,
               now() AS since, now() + interval '1 h' AS until, 'x' AS by, 'x' AS reason, 'gate' AS way,
               NULL::timestamptz AS lifted_at
        WHERE public.evil()""",
}


@contextlib.contextmanager
def attacker(url: str) -> Iterator[tuple[str, str]]:
    """A role that may only create a schema in the database: its name, and the database's URL for it."""
    name = f"mallory_{secrets.token_hex(4)}"
    (database,) = query(url, "SELECT current_database()")[0]
    query(url, f"CREATE ROLE {name} LOGIN")
    query(url, f'GRANT CREATE ON DATABASE "{database}" TO {name}')
    query(url, f"GRANT CREATE, USAGE ON SCHEMA public TO {name}")
    try:
        yield name, url.replace("postgres@", f"{name}@", 1)
    finally:
        query(url, f"DROP OWNED BY {name} CASCADE")
        query(url, f"DROP ROLE {name}")


def ran(url: str) -> list[tuple[object, ...]]:
    """Return the roles that ran the attacker's function."""
    return query(url, "SELECT DISTINCT by FROM public.ran")


def why(url: str) -> str:
    """Return why a superuser cannot trust the schema; empty if it can be trusted."""
    with opened(url) as connection:
        return why_untrusted(connection, ENGINE) or ""


def test_a_squatted_schema_is_not_read_and_the_reason_is_shown(clean_roles: str, tmp_path: Path) -> None:
    layout = made(clean_roles, "batch_fast", "batch_fast")
    query(clean_roles, "DROP SCHEMA qmon CASCADE")
    with attacker(clean_roles) as (name, url):
        query(url, EVIL)
        query(url, "CREATE SCHEMA qmon")
        query(url, "GRANT USAGE ON SCHEMA qmon TO PUBLIC")
        for view in VIEWS.values():
            query(url, view)
        shown = call("status", clean_roles)
        lines = " ".join((shown.output + shown.stderr).split())
        assert has(lines, ControlSchemaText.SCHEMA_IGNORED, object="the schema")
        assert f"owned by {name}" in lines
        operator = Operator(desk_at(clean_roles, tmp_path))
        asked: list[Callable[[], object]] = [
            lambda: operator.purge(layout, Choice(ids=("1",))),
            lambda: operator.pause(layout, Side.PRODUCERS),
            operator.read_operations,
            operator.read_pauses,
        ]
        for ask in asked:
            with pytest.raises(BadInput, match=r"owned by mallory.*schema_owner"):
                ask()
        refused = call("pause", clean_roles, "batch_fast", "--side", "producers", "--reason", "x", "--yes")
        assert refused.exit_code == 2
        with opened(clean_roles) as connection:
            with pytest.raises(BadInput, match=pattern(ControlSchemaText.NOTHING_CHANGED)):
                read_installed_layouts(connection, ENGINE)
            with pytest.raises(BadInput, match=pattern(ControlSchemaText.NOTHING_CHANGED)):
                install_queue(connection, ENGINE, "fifo", schema="public", queue="more")
            with pytest.raises(BadInput, match=pattern(ControlSchemaText.NOTHING_CHANGED)):
                plan_control_setup(connection, ENGINE, "operator")
        assert ran(clean_roles) == []


@pytest.mark.parametrize("table", VIEWS)
def test_a_view_in_place_of_a_table_is_named(clean_roles: str, table: str) -> None:
    made(clean_roles, "fifo", "fifo")
    query(clean_roles, EVIL)
    query(clean_roles, f"DROP TABLE IF EXISTS qmon.{table} CASCADE")
    query(clean_roles, VIEWS[table])
    with opened(clean_roles) as connection:
        found = resolve_queues(connection, ENGINE, [])
    assert any(f"qmon.{table} is a view, owned by postgres" in problem.reason for problem in found.problems)
    assert LayoutSource.REGISTRY not in {layout.source for layout in found.layouts}
    assert ran(clean_roles) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("CREATE TRIGGER t BEFORE INSERT ON {0} FOR EACH ROW EXECUTE FUNCTION public.evil_trigger()", "the trigger t"),
        ("CREATE RULE r AS ON INSERT TO {0} DO ALSO SELECT public.evil()", "the rule r"),
        ("ALTER TABLE {0} ENABLE ROW LEVEL SECURITY", "row-level security"),
        ("CREATE POLICY p ON {0} USING (public.evil())", "row-level security"),
        ("ALTER TABLE {0} ADD COLUMN x boolean DEFAULT public.evil()", "evil() in a default or constraint"),
        ("ALTER TABLE {0} ADD CHECK (public.evil())", "evil() in a default or constraint"),
        ("CREATE TABLE public.child () INHERITS ({0})", "inheritance"),
        ("ALTER TABLE {0} OWNER TO pg_monitor", "owned by pg_monitor"),
        ("GRANT TRIGGER ON {0} TO PUBLIC", "lets PUBLIC create triggers"),
        ("GRANT CREATE ON SCHEMA qmon TO PUBLIC", "lets PUBLIC create objects"),
    ],
)
@pytest.mark.parametrize("table", ["qmon.operations", pytest.param("qmon.trash_1", marks=pytest.mark.soak)])
def test_what_is_not_as_qmon_made_it_is_refused(
    clean_roles: str, tmp_path: Path, table: str, change: str, said: str
) -> None:
    layout = worked(clean_roles, tmp_path)
    assert why(clean_roles) == ""
    query(clean_roles, EVIL)
    query(clean_roles, change.format(table))
    query(clean_roles, "TRUNCATE public.ran")  # the role that adds a default or a check runs it once
    with pytest.raises(BadInput, match=pattern(ControlSchemaText.SCHEMA_IGNORED)) as refused:
        Operator(desk_at(clean_roles, tmp_path)).purge(layout, Choice(ids=("2",)))
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert ran(clean_roles) == []


def worked(url: str, tmp_path: Path) -> Layout:
    """A queue with four more messages, one of which its owner has purged."""
    layout = replace(made(url, "batch_fast", "batch_fast"), timeout_s=0.0)
    with opened(url) as connection:
        for number in range(5):
            run_routine(connection, layout, "push", f"'m{number}'")
    assert applied(Operator(desk_at(url, tmp_path)).purge(layout, Choice(ids=("1",)))).done == 1
    return layout


def test_a_role_is_trusted_that_the_configuration_names_and_no_membership(clean_roles: str) -> None:
    with attacker(clean_roles) as (name, url):
        query(url, "CREATE SCHEMA qmon")
        (database,) = query(url, "SELECT current_database()")[0]
        query(clean_roles, f"ALTER DATABASE \"{database}\" SET qmon.schema_owner = '{name}'")
        query(clean_roles, f"GRANT {name} TO postgres")
        assert f"owned by {name}" in why(clean_roles)
        assert why(url) == ""
        target = replace(target_of(clean_roles), schema_owner=name)
        with contextlib.closing(engine_for(target).connect(target, Session("test"))) as connection:
            assert why_untrusted(connection, ENGINE) is None


def test_an_operator_can_neither_make_triggers_nor_rewrite_what_was_done(clean_roles: str, tmp_path: Path) -> None:
    layout = worked(clean_roles, tmp_path)
    set_up(clean_roles, "operator")
    with login(clean_roles, "operator") as url, login(clean_roles, "operator") as other:
        operator = Operator(desk_at(url, tmp_path))
        purged = applied(operator.purge(layout, Choice(ids=("2", "3"))))
        (name,) = query(url, "SELECT current_user")[0]
        assert query(url, "SELECT login FROM qmon.operations WHERE id = ?", purged.operation) == [(name,)]
        kept_out(
            url,
            "CREATE TABLE qmon.mine (id int)",
            "CREATE FUNCTION qmon.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
            *(
                f"CREATE TRIGGER t BEFORE INSERT ON qmon.{table} FOR EACH ROW"
                " EXECUTE FUNCTION suppress_redundant_updates_trigger()"
                for table in ("trash_1", "operations", "stores", "pauses", "queues")
            ),
            "DROP TABLE qmon.trash_1",
            "UPDATE qmon.operations SET done = 0",
            "UPDATE qmon.operations SET state = 'running'",
            "DELETE FROM qmon.operations",
            "INSERT INTO qmon.operations (id, kind, queue, about, by, login, session_id,"
            " reason, predicate, frozen, planned) VALUES ('x', 'purge', 'q', 'q', 'x', 'postgres', 1, '', '', '{}', 1)",
            "UPDATE qmon.pauses SET lifted_by = 'x'",
            "DELETE FROM qmon.pauses",
            "INSERT INTO qmon.stores (kind, about, structure) VALUES ('trash', 'public.batch_fast', '[]')",
            "DELETE FROM qmon.queues",
            "UPDATE qmon.queues SET layout = '{}'",
            "INSERT INTO qmon.queues (queue, design, layout) VALUES ('x', 'x', '{}')",
        )
        # a finished operation, and another login's, stay as they are
        before = query(clean_roles, "SELECT * FROM qmon.operations ORDER BY id")
        running = (
            "INSERT INTO qmon.operations (id, kind, queue, about, by, session_id, reason, predicate, frozen, planned)"
        )
        query(other, running + " VALUES ('theirs', 'purge', 'q', 'q', 'x', 1, '', '', '{}', 1)")
        for id in (purged.operation, "theirs"):
            for text in (
                f"qmon.operation_count('{id}', 1, 0, 0, 0, 0)",
                f"qmon.operation_end('{id}', 'failed', '[]')",
                f"qmon.operation_undone('{id}', 1)",
                f"qmon.operation_emptied('{id}', 1)",
            ):
                assert query(url, f"SELECT {text}") == [(0,)], text
        assert query(other, "SELECT qmon.operation_count('theirs', -1, 0, 0, 0, 0)") == [(0,)]
        assert query(other, "SELECT qmon.operation_count('theirs', 1, 0, 0, 0, 0)") == [(1,)]
        assert query(other, "SELECT qmon.operation_end('theirs', 'done', '[]')") == [(1,)]
        assert query(clean_roles, "SELECT * FROM qmon.operations WHERE id <> 'theirs' ORDER BY id") == before
        assert applied(operator.undo(purged.operation)).done == 2
    assert why(clean_roles) == ""


def test_a_store_is_made_of_a_table_that_the_caller_may_read_and_as_it_is(clean_roles: str, tmp_path: Path) -> None:
    worked(clean_roles, tmp_path)
    query(clean_roles, "CREATE TABLE secrets (id int, word text)")
    set_up(clean_roles, "operator")
    ok = """'batch_fast', 'kept', 'public.batch_fast', '[["queue_id", "bigint"]]', '{queue_id}', 'qmon_row'"""
    wrong = [
        """'secrets', 'kept', 'public.secrets', '[["id", "integer"]]', '{id}', 'qmon_row'""",
        ok.replace("'kept'", "'other'"),
        ok.replace("public.batch_fast", "public.fifo"),
        ok.replace('"bigint"', '"text"'),
        ok.replace("'{queue_id}'", "'{queue_id,status}'"),
        ok.replace("'{queue_id}'", "'{nothing}'"),
        ok.replace("'qmon_row'", "'status'"),
        ok.replace("'batch_fast', 'kept', 'public.batch_fast'", "'qmon.stores', 'kept', 'qmon.stores'"),
    ]
    with login(clean_roles, "operator") as url:
        kept_out(url, *(f"SELECT qmon.make_store({each})" for each in wrong))
        ((number,),) = query(url, f"SELECT qmon.make_store({ok})")
    owner = "SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = to_regclass(?)"
    assert query(clean_roles, owner, f"qmon.kept_{number}") == [("postgres",)]


def test_the_objects_belong_to_the_owner_of_the_schema_whoever_makes_them(clean_roles: str, tmp_path: Path) -> None:
    with attacker(clean_roles) as (name, url):
        query(url, "CREATE SCHEMA qmon")
        target = replace(target_of(clean_roles), schema_owner=name)

        def connect(purpose: str) -> Connection:
            return ENGINE.connect(target, Session(purpose))

        with contextlib.closing(connect("install")) as connection:
            made_here = install_queue(connection, ENGINE, "batch_fast", schema="public", queue="orders").layout
            run_routine(connection, made_here, "push", "'m'")
        desk = replace(desk_at(clean_roles, tmp_path), connect=connect, target=target)
        operator = Operator(desk)
        assert applied(operator.purge(made_here, Choice(state="ready"))).done in (0, 1)
        applied(operator.pause(made_here, Side.PRODUCERS, for_s=60), WHY)
        owners = query(
            clean_roles,
            "SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class WHERE relnamespace = 'qmon'::regnamespace"
            " UNION SELECT pg_get_userbyid(proowner) FROM pg_proc WHERE pronamespace = 'qmon'::regnamespace",
        )
        assert owners == [(name,)]
