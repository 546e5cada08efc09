"""The quick start, the runbook, the tasks and the scripts of rights, as written, on a user's own table."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pyodbc
import pytest

from qmon.cli.commands.act.run_action import RunText
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.monitor.catalog.resolve import ResolveText
from qmon.operate.plan.exclusions import ExclusionText
from tests import manual
from tests.cli.calling import call
from tests.facts import connected, drop_roles, query, wait_until
from tests.wordings import has

pytestmark = pytest.mark.server

ORDERS = """
    CREATE TABLE public.orders (id bigserial PRIMARY KEY, status text NOT NULL DEFAULT 'new', body jsonb,
        created_at timestamptz NOT NULL DEFAULT now(), started_at timestamptz, locked_by text,
        attempts int NOT NULL DEFAULT 0, last_error text);
    CREATE INDEX ON public.orders (status, id);
    INSERT INTO public.orders (body) SELECT '{}' FROM generate_series(1, 40);
    UPDATE public.orders SET status = 'running', attempts = 1, locked_by = 'worker-1',
        started_at = now() - interval '2 hours' WHERE id <= 3;
    UPDATE public.orders SET status = 'failed', attempts = 5, created_at = now() - interval '2 hours',
        last_error = CASE WHEN id < 7 THEN 'Connection refused' ELSE 'no such customer' END WHERE id BETWEEN 4 AND 9;
    CREATE ROLE qmon_app LOGIN;
    GRANT ALL ON public.orders TO qmon_app"""
# These open a screen, run until they are ended, or need a receiver of alerts.
NOT_RUN = ("connect", "serve", "replay", "notify")


@pytest.fixture
def orders(database: str) -> Iterator[str]:
    """A database with a table that qmon has never seen, and no roles of this test before and after."""
    drop(database)
    for statement in ORDERS.split(";"):
        query(database, statement)
    yield database
    drop(database)


@pytest.fixture
def shop(orders: str, own_home: Path) -> str:
    """A target in ``qmon.toml`` with the same table, the roles of ``qmon setup``, and a gate."""
    assert call("init", orders).exit_code == 0
    name = target_of(orders)
    assert call("setup", name, "--role", "operator").exit_code == 0
    assert call("setup", name, "--gate", "orders", "--yes").exit_code == 0
    return name


def drop(url: str) -> None:
    """Drop the roles of the pages, with their rights in this database."""
    for role in ("qmon_app", "qmon_login"):
        if query(url, "SELECT 1 FROM pg_roles WHERE rolname = ?", role):
            query(url, f"DROP OWNED BY {role}")
            query(url, f"DROP ROLE {role}")
    drop_roles(url)


def target_of(url: str) -> str:
    """Return the name that ``qmon init`` gives a target: that of its database."""
    return re.sub(r".*/|\?.*", "", url)


def login(url: str, name: str) -> str:
    """Return the same URL for another login."""
    return url.replace("//postgres@", f"//{name}@")


def run(words: list[str], url: str, folder: Path, replaced: Callable[[str], str] = str) -> tuple[int, str]:
    """Run a command of a page. Return its exit code and all its output.

    ``url``: replaces the page's URLs. ``folder``: replaces the page's folders and files. ``replaced``: replacements of
    other words.
    """
    words = [url if "://" in word else target_of(url) if word == "shop" else replaced(word) for word in words]
    words = [
        str(folder / Path(word).name) if "/var/" in word or word.endswith((".qmon", ".zip")) else word for word in words
    ]
    if words[0] == "record":
        words += ["--for", "2s"]
    asks = words[0] in ("requeue", "purge", "undo", "end-session", "pause", "resume") or "--gate" in words
    asks = asks or words[:2] == ["trash", "empty"]
    done = call(*words, *(["--yes"] if asks and "--dry-run" not in words else []))
    return done.exit_code, done.output


@contextlib.contextmanager
def blocker(url: str) -> Iterator[int]:
    """Open an application session that is idle in a transaction with every ready message locked. Yield its number."""
    with connected(login(url, "qmon_app"), autocommit=False) as session:
        session.execute("SELECT id FROM public.orders WHERE status = 'new' FOR UPDATE").fetchall()
        yield int(session.execute("SELECT pg_backend_pid()").fetchval())


def test_the_quick_start_works_as_it_is_written(orders: str, own_home: Path, tmp_path: Path) -> None:
    text = manual.page("quickstart-postgresql")
    for statement in manual.statements(text):
        query(orders, statement)
    ran, said = [], ""
    for words in manual.commands(text):
        if words[0] not in NOT_RUN:
            code, said = run(words, login(orders, "qmon_login"), tmp_path)
            assert code == 0, said
            ran.append(words[0])
    assert ran == ["doctor", "queues", "init", "status"]
    late = FlowText.LATE.render(count="3", longer=FlowText.LATE_BY_TIMEOUT.render(timeout="5 m 00 s"))
    assert f"stuck in progress: {late}" in said
    first = re.findall(r"^QUEUE .*", text, re.M)[0].split()
    assert said.splitlines()[0].split() == first


def test_the_four_commands_of_the_readme_are_those_of_the_quick_start() -> None:
    text = manual.page("README").split("## Watch your own database", 1)[1]
    assert [words[0] for words in manual.commands(text)[:3]] == ["doctor", "init", "connect"]


def test_the_runbook_fixes_a_queue_that_does_not_move(orders: str, shop: str, tmp_path: Path) -> None:
    query(orders, "CREATE ROLE qmon_login LOGIN")
    query(orders, "GRANT qmon_operator TO qmon_login")
    refused = {
        f"requeue {shop} orders --dry-run": f"3 {ExclusionText.OWNER_UNKNOWN}",
        f"requeue {shop} orders": f"3 {ExclusionText.OWNER_UNKNOWN}",
        f"resume {shop} orders --side consumers": "",
    }
    operations: list[str] = []
    ran = []
    with blocker(orders) as session:
        for words in manual.commands(manual.page("runbook")):
            if words[0] in NOT_RUN:
                continue
            if words[0] == "resume" and "--side" not in words:
                assert call("pause", shop, "orders", "--yes").exit_code == 0
            line = " ".join(shop if word == "shop" else word for word in words)
            last = operations[-1] if operations else ""
            known = {"4711": str(session), "15s": "3s", "261121-071402-k7qd": last}
            code, said = run(words, orders, tmp_path, lambda word: known.get(word, word))  # noqa: B023 - called at once
            assert code == (2 if line in refused and line.startswith("resume") else 0), (line, said)
            assert refused.get(line, "") in said
            if words[0] == "status":
                assert "stuck in progress" in said
            if words[0] in ("requeue", "purge") and code == 0:
                operations += re.findall(RunText.OPERATION.format(operation=r"(\S+)"), said)
            ran.append(words[0])
    assert {"status", "requeue", "end-session", "purge", "resume", "pause", "operations", "undo"} <= set(ran)
    states = query(orders, "SELECT status, count(*) FROM public.orders GROUP BY status ORDER BY status")
    assert states == [("failed", 6), ("new", 33)]  # the redrive is undone; 17 is in the trash


def test_the_tasks_can_be_done_as_they_are_written(
    orders: str, shop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    query(orders, "UPDATE public.orders SET locked_by = NULL WHERE id > 20")
    refused = (
        "setup shop --gate orders",  # it is there
        "export",  # nothing was recorded at that time
        "report incident /var/lib/qmon --from 14:00 --to 14:20",  # nothing was recorded yet
    )
    operations: list[str] = []
    ran = set()
    with blocker(orders) as session:
        for words in manual.commands(manual.page("tasks")):
            if words[0] in NOT_RUN or "prod" in words or "--test-notice" in words:
                continue
            if words[0] == "undo":
                operations = json.loads(call("operations", shop, "-o", "json").stdout)["operations"]
            last = next((each["id"] for each in operations if each["kind"] == "purge"), "")  # type: ignore[index]
            known = {"4711": str(session), "261121-071402-k7qd": last}
            code, said = run(words, orders, tmp_path, lambda word: known.get(word, word))  # noqa: B023 - called at once
            line = " ".join(words)
            assert code == (2 if line in refused or words[0] in refused else 0), (line, said)
            assert "Traceback" not in said
            ran.add(words[0])
    assert {"requeue", "undo", "pause", "resume", "record", "queues", "doctor", "init"} <= ran


def test_the_scripts_for_the_dba_give_the_rights_that_they_promise(orders: str, own_home: Path, tmp_path: Path) -> None:
    text = manual.page("rights")
    for statement in manual.statements(manual.section(text, "PostgreSQL: watch")):
        query(orders, statement)
    mine = login(orders, "qmon_login")
    assert call("init", mine).exit_code == 0
    found = call("doctor", mine).output
    assert re.search(r"pg_read_all_stats +yes", found)
    assert not has(found, ResolveText.UNREADABLE)
    act = manual.section(text, "PostgreSQL: act")
    ((*words,),) = manual.commands(act)
    code, _ = run(words, orders, tmp_path)
    assert code == 0
    script = call("setup", target_of(orders), "--role", "operator", "--print").stdout
    refused = call("requeue", target_of(orders), "orders", "--owners", "unknown", "--yes")
    assert (refused.exit_code, "GRANT UPDATE" in refused.output) == (2, True)
    with connected(orders) as session:
        session.execute(script)
    for statement in manual.statements(act):
        query(orders, statement)
    done = call("requeue", target_of(orders), "orders", "--owners", "unknown", "--yes")
    assert done.exit_code == 0, done.output
    assert query(orders, "SELECT count(*) FROM public.orders WHERE status = 'running'") == [(0,)]


def test_the_statements_of_the_page_on_installing_remove_everything_from_a_database(orders: str, shop: str) -> None:
    assert call("setup", shop, "--gate", "orders", "--remove", "--yes").exit_code == 0
    for statement in manual.statements(manual.page("install")):
        query(orders, statement)
    left = "SELECT count(*) FROM pg_namespace WHERE nspname = 'qmon'"
    assert query(orders, left) == [(0,)]
    wait_until(lambda: query(orders, "SELECT 1 FROM pg_roles WHERE rolname LIKE 'qmon\\_%or'") == [])


def test_an_operator_may_pause_with_a_gate_that_the_owner_installed_later(
    orders: str, shop: str, own_home: Path
) -> None:
    query(orders, "CREATE ROLE qmon_login LOGIN")
    query(orders, "GRANT qmon_operator TO qmon_login")
    own_home.write_text(login(own_home.read_text("utf-8"), "qmon_login"), "utf-8")
    done = call("pause", shop, "orders", "--yes")
    assert done.exit_code == 0, done.output
    with pytest.raises(pyodbc.Error, match="are paused until"):
        query(login(orders, "qmon_app"), "INSERT INTO public.orders (body) VALUES ('{}')")
    assert call("resume", shop, "orders", "--yes").exit_code == 0
