"""The printed SQL of each design, run by psql, creates the same objects as ``install``."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Final

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.operate.install.install_queue import InstallText, install_queue, read_installed_layouts, uninstall_queue
from qmon.operate.install.install_script import ScriptText
from qmon.operate.install.object_names import NameText
from tests.cli.calling import call
from tests.contract.hostile_names import HOSTILE
from tests.facts import query
from tests.queues import DESIGNS, ENGINE, opened
from tests.wordings import pattern

CATALOGUE: Final = """
    WITH home AS (SELECT oid FROM pg_namespace WHERE nspname IN ('public', 'qmon')),
    rel AS (SELECT c.*, c.oid AS id FROM pg_class AS c JOIN home ON home.oid = c.relnamespace)
    SELECT format('%s %s %s %s %s', r.relkind, r.id::regclass, r.relpersistence, r.reloptions,
                  (SELECT t.reloptions FROM pg_class AS t WHERE t.oid = r.reltoastrelid))
    FROM rel AS r
    UNION ALL
    SELECT format('column %s.%s %s %s %s %s', r.id::regclass, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod),
                  a.attnotnull, (SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef AS d
                                 WHERE (d.adrelid, d.adnum) = (a.attrelid, a.attnum)))
    FROM rel AS r JOIN pg_attribute AS a ON a.attrelid = r.id AND a.attnum > 0
    UNION ALL
    SELECT format('%s %s %s', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
    FROM pg_constraint AS k JOIN home ON home.oid = k.connamespace
    UNION ALL
    SELECT pg_get_indexdef(r.id) FROM rel AS r WHERE r.relkind = 'i'
    UNION ALL
    SELECT format('%s %s %s %s %s', s.sequencename, s.start_value, s.increment_by, s.cache_size, s.last_value)
    FROM pg_sequences AS s WHERE s.schemaname = 'public'
    UNION ALL
    SELECT pg_get_functiondef(p.oid) FROM pg_proc AS p JOIN home ON home.oid = p.pronamespace
    UNION ALL
    SELECT format('%s %s %s %s', q.queue, q.design, q.layout, q.version) FROM qmon.queues AS q
    ORDER BY 1"""


def psql(server: EmbeddedServer, url: str, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script with psql, up to its first error."""
    return subprocess.run(
        [server.bin_dir / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url],
        input=script,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PGCLIENTENCODING": "LATIN1"},  # a script sets its own encoding
        check=False,
    )


def shown(design: str, queue: str, *more: str) -> str:
    told = call("design", "show", design, "--engine", "postgres", "--queue", queue, "--version", "18", *more)
    assert told.exit_code == 0, told.output
    return told.stdout


def contents(url: str, queue: str) -> object:
    return query(url, f"SELECT (to_jsonb(q) - 'enqueued_at')::text FROM {ENGINE.quote((queue,))} AS q ORDER BY 1")


@pytest.mark.parametrize(
    ("design", "queue"),
    [
        *((design, "orders") for design in DESIGNS),
        *((d, q) for d in ("ring_subscribers", "batch_fast") for q in HOSTILE),
    ],
)
def test_psql_makes_of_it_what_install_makes(server: EmbeddedServer, database: str, design: str, queue: str) -> None:
    with opened(database) as connection:
        made = install_queue(connection, ENGINE, design, schema="public", queue=queue, ring_size=24).layout
        expected, rows = query(database, CATALOGUE), contents(database, queue)
        uninstall_queue(connection, ENGINE, queue)
        query(database, "DROP SCHEMA qmon CASCADE")
        script = shown(design, queue, "--ring-size", "24")
        done = psql(server, database, script)
        assert (done.returncode, done.stderr) == (0, "")
        assert query(database, CATALOGUE) == expected
        assert contents(database, queue) == rows
        assert read_installed_layouts(connection, ENGINE) == {queue: made}
        # A second time: refused without changes.
        again = psql(server, database, script)
        assert again.returncode != 0
        assert "already exists" in again.stderr
        assert query(database, CATALOGUE) == expected
        assert uninstall_queue(connection, ENGINE, queue).layout == made


def test_a_script_that_fails_half_way_leaves_nothing(server: EmbeddedServer, database: str) -> None:
    query(database, "CREATE FUNCTION orders_archive(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'")
    done = psql(server, database, shown("batch_fast", "orders"))
    assert 'function "orders_archive" already exists' in done.stderr
    assert query(database, "SELECT to_regclass('orders')::text, to_regnamespace('qmon')::text") == [(None, None)]


def test_several_subscribers(server: EmbeddedServer, database: str) -> None:
    done = psql(server, database, shown("ring", "orders", "--subscribers", "3", "--ring-size", "8"))
    assert (done.returncode, done.stderr) == (0, "")
    with opened(database) as connection:
        ring = read_installed_layouts(connection, ENGINE)["orders"].ring
    assert ring is not None
    assert (ring.size, len(ring.subscribers)) == (8, 3)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("rign", "--engine", "postgres"),
            pattern(InstallText.NO_DESIGN, engine="postgres", design="rign", designs="batch_fast"),
        ),
        (("ring",), "Missing option '--engine'"),
        (("ring", "--engine", "oracle"), "Invalid value for '--engine'"),
        (("ring", "--engine", "postgres", "--ring-size", "1"), "Invalid value for '--ring-size'"),
        (
            ("heap", "--engine", "postgres", "--subscribers", "2"),
            pattern(InstallText.ONE_SUBSCRIBER),
        ),
        (("heap", "--engine", "postgres", "--queue", ""), pattern(NameText.EMPTY)),
        (("heap", "--engine", "sqlserver", "--queue", "a\nGO\nb"), pattern(ScriptText.LINE_BREAK)),
    ],
)
def test_what_cannot_be_shown_is_one_line_and_exit_code_2(arguments: tuple[str, ...], words: str) -> None:
    told = call("design", "show", *arguments)
    assert told.exit_code == 2
    assert re.search(words, " ".join(told.stderr.replace("│", " ").split()))
    assert told.stdout == ""
