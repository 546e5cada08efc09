"""If a configured name is not a table that qmon can watch, it reports the kind and the name to use instead."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from qmon.model.alerts.nagios import NagiosText
from qmon.model.figure import Severity
from qmon.model.layout.layout import Layout, ObjectName
from qmon.monitor.catalog.relation_kind import RelationText
from tests.cli.calling import call
from tests.contract.relations import relation_line
from tests.contract.replica import replicated
from tests.contract.tables import make, resolved
from tests.contract.watching import watching
from tests.facts import query
from tests.wordings import has

TABLES: Final = """
    CREATE TABLE a (id bigserial PRIMARY KEY, status int NOT NULL DEFAULT 1, payload text);
    CREATE TABLE b (id bigint PRIMARY KEY REFERENCES a, title text);
    INSERT INTO a (payload) VALUES ('x'), ('y');"""

# The SQL that creates it, and qmon's message.
KINDS: Final = {
    "view": (
        "CREATE VIEW orders AS SELECT id, status, payload FROM a WHERE status < 9",
        relation_line(
            "public.orders",
            "view",
            RelationText.NAME_BASE,
            base=RelationText.OF_BASE,
            tables="public.a",
            table="public.a",
        ),
    ),
    "view over a join": (
        "CREATE VIEW orders AS SELECT a.id, a.status, b.title FROM a JOIN b USING (id)",
        relation_line(
            "public.orders",
            "view",
            RelationText.NAME_ONE_OF_BASES,
            base=RelationText.OF_BASE,
            tables="public.a and public.b",
        ),
    ),
    "view of no table": (
        "CREATE VIEW orders AS SELECT 1 AS id, 1 AS status",
        relation_line("public.orders", "view", RelationText.BASE_HIDDEN),
    ),
    "view with names that must be quoted": (
        """CREATE SCHEMA "[a]]b]"; CREATE TABLE "[a]]b]"."; drop table a; --" (id int);
           CREATE VIEW orders AS SELECT id, 1 AS status FROM "[a]]b]"."; drop table a; --" """,
        relation_line(
            "public.orders",
            "view",
            RelationText.NAME_BASE,
            base=RelationText.OF_BASE,
            tables="[a]]b].; drop table a; --",
            table="[a]]b].; drop table a; --",
        ),
    ),
    "view called as a table in other letters was": (
        'CREATE VIEW "Orders" AS SELECT id, status FROM a',
        relation_line(
            "public.Orders",
            "view",
            RelationText.NAME_BASE,
            base=RelationText.OF_BASE,
            tables="public.a",
            table="public.a",
        ),
    ),
    "materialized view": (
        "CREATE MATERIALIZED VIEW orders AS SELECT id, status FROM a",
        relation_line(
            "public.orders",
            "materialized view",
            RelationText.NAME_BASE,
            base=RelationText.COPY_OF_BASE,
            tables="public.a",
            table="public.a",
        ),
    ),
    "foreign table": (
        """CREATE EXTENSION postgres_fdw;
           CREATE SERVER warehouse FOREIGN DATA WRAPPER postgres_fdw OPTIONS (dbname 'elsewhere');
           CREATE FOREIGN TABLE orders (id bigint, status int) SERVER warehouse OPTIONS (table_name 'a')""",
        relation_line("public.orders", "foreign table", RelationText.FOREIGN, server="warehouse"),
    ),
    "partition": (
        """CREATE TABLE everything (id bigint, status int) PARTITION BY RANGE (id);
           CREATE TABLE orders PARTITION OF everything FOR VALUES FROM (0) TO (9)""",
        relation_line(
            "public.orders",
            "partition",
            RelationText.NAME_BASE,
            base=RelationText.OF_BASE,
            tables="public.everything",
            table="public.everything",
        ),
    ),
    "sequence": (
        "CREATE SEQUENCE orders",
        relation_line("public.orders", "sequence", RelationText.NOT_A_TABLE),
    ),
}
ORDERS: Final[dict[str, object]] = {
    "name": "orders",
    "table": "orders",
    "design": "status",
    "id": "id",
    "state": {"column": "status", "ready": 1, "in_progress": 2},
}


def configured(home: Path, url: str) -> dict[str, str]:
    """Return the environment of a qmon whose configuration has the queue ``orders`` for the target ``shop``."""
    (home / "qmon").mkdir()
    (home / "qmon" / "qmon.toml").write_text(
        f'[settings]\ninterval = "500ms"\n[target.shop]\nconnect = "{url}"\n[[target.shop.queue]]\nname = "orders"\n'
        'table = "orders"\ndesign = "status"\nid = "id"\n'
        'state = { column = "status", ready = 1, in_progress = 2 }\n'
    )
    return {"XDG_CONFIG_HOME": str(home)}


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_table_is_called_what_it_is_with_what_to_name_instead(database: str, kind: str) -> None:
    made, words = KINDS[kind]
    make(database, TABLES + made)
    found = resolved(database, ORDERS, {"name": "good", "table": "a", "design": "status"})
    (problem,) = found.problems
    assert (problem.queue, problem.reason, problem.grant, problem.gone) == ("orders", words, "", True)
    assert [layout.queue for layout in found.layouts] == ["good"], "the other queues are still watched"
    assert [layout.queue for layout in found.lost] == ["orders"]


def test_it_can_be_told_without_any_right_and_the_table_wins_over_a_view_of_another_schema(database: str) -> None:
    make(database, TABLES + "CREATE SCHEMA app; CREATE VIEW app.orders AS SELECT id, status FROM a")
    make(database, "REVOKE ALL ON SCHEMA app FROM PUBLIC; CREATE ROLE nobody_much LOGIN")
    try:
        url = database.replace("postgres@", "nobody_much@", 1)
        (problem,) = resolved(url, {**ORDERS, "table": "app.orders"}).problems
        assert problem.reason == relation_line(
            "app.orders", "view", RelationText.NAME_BASE, base=RelationText.OF_BASE, tables="public.a", table="public.a"
        )
        make(database, "ALTER TABLE a RENAME TO orders")
        assert not resolved(database, ORDERS).problems
    finally:
        make(database, "DROP ROLE nobody_much")


def test_every_command_says_so_and_none_acts(database: str, tmp_path: Path) -> None:
    made, words = KINDS["view"]
    make(database, TABLES + made)
    environment = configured(tmp_path, database)
    checked = call("check", "shop", environment=environment)
    assert checked.exit_code == 2, checked.stdout
    line = NagiosText.LINE.render(state="CRITICAL", summary=f"shop: orders: cannot see: {words}")
    assert checked.stdout.startswith(line)
    for command in (["status"], ["queues"], ["doctor"], ["init", "--print"]):
        told = call(*command, "shop", environment=environment).stdout
        assert words in " ".join(told.replace("#", " ").split()), (command, told)
    for acting in (
        ("requeue", "shop", "orders", "--yes"),
        ("purge", "shop", "orders", "--older-than", "1s", "--yes"),
        ("pause", "shop", "orders", "--for", "1m", "--yes"),
        ("setup", "shop", "--gate", "orders", "--yes"),
    ):
        done = call(*acting, environment=environment)
        assert (done.exit_code, words in done.output) == (2, True), (acting, done.output)
    assert query(database, "SELECT count(*) FROM a")[0][0] == 2


def test_a_table_that_becomes_a_view_is_critical_and_back_once_it_is_a_table_again(database: str) -> None:
    make(database, TABLES + "ALTER TABLE a RENAME TO orders")
    layout = Layout("orders", "fifo", ObjectName("public", "orders"), id="id")
    with watching(database, [layout]) as watched:
        watched.queue("orders", lambda q: q.ready.value == 2)
        make(database, "ALTER TABLE orders RENAME TO v1; CREATE VIEW orders AS SELECT * FROM v1")
        gone = watched.queue("orders", lambda q: has(q.verdict.proof, RelationText.OF_BASE))
        assert (gone.verdict.code, gone.verdict.severity) == ("cannot see", Severity.CRITICAL)
        assert has(gone.verdict.proof, RelationText.NAME_BASE, table="public.v1")
        make(database, "DROP VIEW orders; ALTER TABLE v1 RENAME TO orders")
        watched.queue("orders", lambda q: q.ready.value == 2 and not q.ready.old)


def test_an_unlogged_table_is_watched_on_the_primary_and_refused_on_its_standby() -> None:
    with replicated() as (primary, standby):
        make(primary.url(), "CREATE UNLOGGED TABLE orders (id bigserial PRIMARY KEY, status int NOT NULL DEFAULT 1)")
        standby.caught_up("postgres")
        assert not resolved(primary.url(), ORDERS).problems
        (problem,) = resolved(standby.url(), ORDERS).problems
        assert problem.reason == relation_line(
            "public.orders", "unlogged table of a standby", RelationText.UNLOGGED_ON_STANDBY
        )
