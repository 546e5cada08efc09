"""Installing and uninstalling designs on a real server: all or nothing, under any name, and recorded."""

from __future__ import annotations

from typing import Any

import pytest

from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.engines.sql import queries
from qmon.errors import BadInput, QueryFailed
from qmon.model.layout.layout import LayoutSource, ObjectName
from qmon.operate.install.install_queue import (
    InstallText,
    available_designs,
    install_queue,
    read_installed_layouts,
    uninstall_queue,
)
from qmon.operate.install.object_names import NameText, object_slots
from qmon.texts import Text
from tests.cli.calling import call as cli
from tests.contract.hostile_names import HOSTILE
from tests.facts import connected, query
from tests.queues import BYTES, DESIGNS, ENGINE, call, opened
from tests.wordings import has, pattern

# Each special character that a name must support, and one byte less than the longest name that every design accepts.
NASTIEST = "\"; --[a]]b].[c it's 1 %{o} ?:n\\$$ $1 $q$Ü.🐘"
NAMED = [(design, NASTIEST) for design in DESIGNS]
NAMED += [(design, queue) for design in ("batch_split", "ring_subscribers") for queue in HOSTILE]
LISTING = """
    SELECT 'class ' || relkind::text || ' ' || relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
    WHERE nspname NOT LIKE 'pg\\_%' AND nspname NOT IN ('information_schema', 'qmon')
    UNION ALL
    SELECT 'proc ' || p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
    WHERE nspname NOT LIKE 'pg\\_%' AND nspname NOT IN ('information_schema', 'qmon')
    ORDER BY 1"""


def listing(url: str) -> list[tuple[object, ...]]:
    return query(url, LISTING)


def test_all_designs_of_the_articles_are_available() -> None:
    assert set(DESIGNS) == set(available_designs(ENGINE))


@pytest.mark.parametrize("design", DESIGNS)
def test_a_design_is_installed_recorded_and_taken_away_without_a_trace(database: str, design: str) -> None:
    before = listing(database)
    with opened(database) as connection:
        installed = install_queue(connection, ENGINE, design, schema="public", queue="orders", ring_size=16)
        assert read_installed_layouts(connection, ENGINE) == {"orders": installed.layout}
        files = queries.design_files("postgres", design, connection.version)
        made = {str(each.name).removeprefix("public.") for each in installed.created}
        expected = {"orders" if slot == "table" else f"orders_{slot}" for slot in object_slots(files)}
        if design == "ring_subscribers":
            expected |= {"orders_pop_seq_1", "orders_pop_seq_2"}
        assert made == expected
        assert installed.layout.source is LayoutSource.REGISTRY
        assert {verb for verb, _ in installed.layout.routines} >= {"push", "pop"}
        again = uninstall_queue(connection, ENGINE, "orders")
        assert again.removed == installed.created
        assert read_installed_layouts(connection, ENGINE) == {}
    assert listing(database) == before


@pytest.mark.parametrize(("design", "queue"), NAMED)
def test_any_name_works(database: str, design: str, queue: str) -> None:
    before = listing(database)
    with opened(database) as connection:
        layout = install_queue(connection, ENGINE, design, schema="public", queue=queue, ring_size=16).layout
        assert read_installed_layouts(connection, ENGINE)[queue] == layout
        assert call(connection, layout, "push", "'hello'")
        rows = call(connection, layout, "pop")
        number, payload = (None if design == "heap" else 1), (b"hello" if design in BYTES else "hello")
        assert [(row[0], row[1]) for row in rows] == [(number, payload)]
        uninstall_queue(connection, ENGINE, queue)
    assert listing(database) == before


@pytest.mark.parametrize("design", DESIGNS)
def test_installing_twice_is_refused_and_changes_nothing(database: str, design: str) -> None:
    with opened(database) as connection:
        install_queue(connection, ENGINE, design, schema="public", queue="orders", ring_size=16)
        before, rows = listing(database), query(database, "SELECT * FROM qmon.queues")
        with pytest.raises(BadInput, match=pattern(InstallText.EXISTS, queue="orders")):
            install_queue(connection, ENGINE, design, schema="public", queue="orders", ring_size=16)
        assert (listing(database), query(database, "SELECT * FROM qmon.queues")) == (before, rows)


@pytest.mark.parametrize(
    "obstacle",
    [
        "CREATE TABLE orders (a int)",
        "CREATE VIEW orders_data AS SELECT 1 AS one",
        "CREATE SEQUENCE orders_id_seq",
        "CREATE FUNCTION orders_pop(text) RETURNS text LANGUAGE sql AS 'SELECT $1'",
        "CREATE DOMAIN orders_archive_log AS int",
        "CREATE TABLE other (a int); CREATE INDEX orders_done_index ON other (a)",
    ],
)
def test_whatever_is_in_the_way_stays_and_nothing_is_installed(database: str, obstacle: str) -> None:
    query(database, obstacle)
    before = listing(database)
    with opened(database) as connection:
        with pytest.raises(BadInput, match=pattern(InstallText.EXISTS, queue="orders")):
            install_queue(connection, ENGINE, "batch_fast", schema="public", queue="orders")
        assert read_installed_layouts(connection, ENGINE) == {}
    assert listing(database) == before
    assert query(database, "SELECT to_regnamespace('qmon')::text") == [(None,)]


@pytest.mark.parametrize("design", DESIGNS)
def test_whatever_object_of_a_design_is_there_already_it_is_refused(database: str, design: str) -> None:
    with opened(database) as connection, connected(database) as other:
        for slot in object_slots(queries.design_files("postgres", design, connection.version)):
            name = '"orders"' if slot == "table" else f'"orders_{slot}"'
            other.execute(f"CREATE TABLE {name} (kept int)")
            before = other.execute(LISTING).fetchall()
            with pytest.raises(BadInput, match=pattern(InstallText.FAILED, queue="orders")):
                install_queue(connection, ENGINE, design, schema="public", queue="orders", ring_size=16)
            assert other.execute(LISTING).fetchall() == before
            other.execute(f"DROP TABLE {name}")
        assert query(database, "SELECT to_regnamespace('qmon')::text") == [(None,)]
        assert install_queue(connection, ENGINE, design, schema="public", queue="orders", ring_size=16).created


@pytest.mark.parametrize("design", DESIGNS)
def test_a_failure_half_way_leaves_nothing(database: str, design: str) -> None:
    # An event trigger that refuses one of the objects simulates any failure half-way.
    query(database, "CREATE TABLE refused (name text)")
    query(
        database,
        """CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
        IF EXISTS (SELECT FROM public.refused AS r JOIN pg_event_trigger_ddl_commands() AS c
                   ON c.object_identity ~ ('^public[.]' || r.name || '($|[^a-z0-9_])'))
        THEN RAISE EXCEPTION 'not today'; END IF; END $$""",
    )
    query(database, "CREATE EVENT TRIGGER refuse ON ddl_command_end EXECUTE FUNCTION refuse()")
    query(database, "INSERT INTO refused VALUES ('none')")
    before = listing(database)
    with opened(database) as connection:
        for name in ("orders", "orders_push", "orders_pop"):
            query(database, "UPDATE refused SET name = ?", name)
            with pytest.raises(QueryFailed, match="not today"):
                install_queue(connection, ENGINE, design, schema="public", queue="orders", ring_size=16)
            assert listing(database) == before
            assert query(database, "SELECT to_regnamespace('qmon')::text") == [(None,)]
        query(database, "DROP EVENT TRIGGER refuse")
        assert install_queue(connection, ENGINE, design, schema="public", queue="orders", ring_size=16).created


def test_one_name_in_two_schemas_is_refused_since_the_registry_goes_by_name(database: str) -> None:
    query(database, "CREATE SCHEMA other")
    with opened(database) as connection:
        install_queue(connection, ENGINE, "fifo", schema="public", queue="orders")
        before = listing(database)
        with pytest.raises(BadInput, match=pattern(InstallText.OTHER_TABLE)):
            install_queue(connection, ENGINE, "fifo", schema="other", queue="orders")
        assert listing(database) == before
        assert read_installed_layouts(connection, ENGINE)["orders"].table == ObjectName("public", "orders")


@pytest.mark.parametrize("design", DESIGNS)
def test_uninstall_refuses_while_something_else_depends_on_it(database: str, design: str) -> None:
    with opened(database) as connection:
        install_queue(connection, ENGINE, design, schema="public", queue="orders", ring_size=16)
        tables = [str(row[0]).split()[-1] for row in listing(database) if str(row[0]).startswith("class r ")]
        assert "orders" in tables
        for table in tables:
            query(database, f"CREATE VIEW seen AS SELECT * FROM {table}")
            before = listing(database)
            with pytest.raises(BadInput, match=pattern(InstallText.DEPENDENT, queue="orders")):
                uninstall_queue(connection, ENGINE, "orders")
            assert listing(database) == before
            assert "orders" in read_installed_layouts(connection, ENGINE)
            query(database, "DROP VIEW seen")
        query(database, "CREATE FUNCTION orders_pop(text, text) RETURNS text LANGUAGE sql AS 'SELECT $1'")
        uninstall_queue(connection, ENGINE, "orders")
    assert [row[0] for row in listing(database)] == ["proc orders_pop(text,text)"]  # not ours, so it stays


def test_uninstall_waits_for_nobody(database: str) -> None:
    with opened(database) as connection:
        install_queue(connection, ENGINE, "fifo", schema="public", queue="orders")
    before = listing(database)
    with connected(database, autocommit=False) as consumer:
        consumer.execute("SELECT * FROM orders_pop()").fetchall()
        told = cli("design", "uninstall", database, "orders", "--yes")
        assert told.exit_code == 1
        assert has(told.stderr, PostgresErrorText.LOCK_TIMEOUT)
        assert listing(database) == before
        consumer.rollback()
    assert cli("design", "uninstall", database, "orders", "--yes").exit_code == 0
    assert listing(database) == []


def test_uninstall_finishes_what_somebody_began_by_hand(database: str) -> None:
    with opened(database) as connection:
        install_queue(connection, ENGINE, "ring", schema="public", queue="orders", ring_size=16)
        query(database, "DROP TABLE orders")
        uninstall_queue(connection, ENGINE, "orders")
        assert read_installed_layouts(connection, ENGINE) == {}
    assert listing(database) == []


def test_what_cannot_be_is_said_in_one_line(database: str) -> None:
    cases: tuple[tuple[Text, dict[str, Any], dict[str, object]], ...] = (
        (InstallText.NO_DESIGN, {"design": "rign"}, {"design": "rign"}),
        (InstallText.RING_SIZE, {"limit": 10_000_000, "size": 1}, {"ring_size": 1}),
        (InstallText.NO_SCHEMA, {"schema": "nowhere"}, {"schema": "nowhere"}),
        (NameText.TOO_LONG, {"length": 60, "limit": 48, "design": "ring"}, {"queue": "q" * 60}),
        (NameText.TOO_LONG, {"length": 64, "limit": 48, "design": "ring"}, {"queue": "🐘" * 16}),
        (NameText.EMPTY, {}, {"queue": ""}),
        (NameText.TAG, {"tag": "$qmon_body$"}, {"queue": "a$qmon_body$b"}),
    )
    before = listing(database)
    with opened(database) as connection:
        for text, fields, change in cases:
            asked: dict[str, object] = {"design": "ring", "schema": "public", "queue": "orders", **change}
            size = int(str(asked.pop("ring_size", 16)))
            with pytest.raises(BadInput) as problem:
                install_queue(
                    connection,
                    ENGINE,
                    str(asked["design"]),
                    schema=str(asked["schema"]),
                    queue=str(asked["queue"]),
                    ring_size=size,
                )
            assert has(problem.value, text, **fields)
            assert "\n" not in str(problem.value)
        with pytest.raises(BadInput, match=pattern(InstallText.NOT_INSTALLED)):
            uninstall_queue(connection, ENGINE, "orders")
        longest = "q" * 48
        install_queue(connection, ENGINE, "ring", schema="public", queue=longest, ring_size=16)
        uninstall_queue(connection, ENGINE, longest)
    assert listing(database) == before
