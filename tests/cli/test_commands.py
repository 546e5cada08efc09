"""The commands on a real database: their output, files and changes."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from qmon.cli.commands.design.install import DesignText
from qmon.cli.commands.design.load import LoadResultText
from qmon.cli.commands.doctor.doctor import ExaminationText
from qmon.cli.commands.queues import ListingText, QueuesText
from qmon.cli.commands.setup import SetupText
from qmon.config.config_file import read_config
from qmon.model.groups.configured_queue import configured_name
from qmon.model.groups.group import Group
from qmon.model.layout.designs import TRAITS
from qmon.model.layout.layout import Layout
from qmon.monitor.catalog.discovery.shape import ShapeText
from qmon.monitor.catalog.proposal import ProposedLineText
from qmon.monitor.catalog.resolve import resolve_queues
from tests.cli.calling import call, run
from tests.contract.tables import ARTICLES, ENGINE, JOBS, ORDINARY, make, qmon_connection
from tests.facts import query
from tests.schemas import valid
from tests.wordings import has

EVIL = 'evil\x1b[31m queue\n"; drop table x; --'


def listed(database: str, *more: str) -> dict[str, Any]:
    done = call("queues", database, "--output", "json", *more)
    assert done.exit_code == 0, done.output
    return valid(done.stdout, "queues")


def test_queues_says_what_and_why(database: str) -> None:
    make(database, JOBS + ";" + ORDINARY)
    done = call("queues", database)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["QUEUE", "DESIGN", "TABLE", "KNOWN", "FROM", "WHY"]
    known = ListingText.BY_SHAPE.render(confidence="likely")
    assert lines[1].startswith(f"background_jobs  status  public.background_jobs  {known}")
    assert has(lines[1], ShapeText.ATTEMPTS, column="attempts")
    (queue, *others) = listed(database)["queues"]
    assert (queue["name"], queue["source"]) == ("background_jobs", "discovery")
    assert queue["confidence"] >= 0.6
    assert queue["layout"]["state"]["in_progress"] == "running"
    assert all(other["confidence"] < 0.6 for other in others)


def test_no_name_can_steer_the_terminal(database: str) -> None:
    quoted = '"' + EVIL.replace('"', '""') + '"'
    make(database, f"CREATE TABLE {quoted} (id bigserial PRIMARY KEY, payload bytea)")
    done = call("queues", database)
    assert "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) == 2
    assert "evil\\x1b[31m queue\\x0a" in done.stdout
    assert listed(database)["queues"][0]["name"] == EVIL


def test_nothing_found_is_said_and_is_no_error(database: str) -> None:
    done = call("queues", database)
    assert (done.exit_code, done.stdout) == (0, "")
    assert ListingText.NO_TABLE in done.stderr


@pytest.mark.parametrize(
    ("made", "next_step"),
    [
        (JOBS, ListingText.REVIEW),
        (ARTICLES["batch_split"], ListingText.REVIEW),
        (
            "CREATE TABLE mails (id bigserial PRIMARY KEY, phase text, claimed_at timestamp, tries int, body text)",
            ListingText.COMPLETE,
        ),
        (ORDINARY, ListingText.NOT_FOUND),
    ],
    ids=["likely", "of two tables", "undecided", "none"],
)
def test_init_says_what_to_do_next(
    database: str, tmp_path: Path, own_home: Path, made: str, next_step: ListingText
) -> None:
    make(database, made)
    place = tmp_path / "shop.toml"
    done = call("init", database, "--config", str(place))
    assert done.exit_code == 0, done.output
    assert has(done.stderr, ListingText.WRITTEN, path=place)
    assert has(done.stderr, next_step)


def test_init_writes_a_configuration_that_resolves_to_what_was_found(
    database: str, tmp_path: Path, own_home: Path
) -> None:
    make(database, JOBS + ";" + ORDINARY)
    make(database, ARTICLES["batch_split"])
    quoted = '"' + EVIL.replace('"', '""') + '"'
    make(
        database,
        f"CREATE TABLE {quoted} (id bigserial PRIMARY KEY, payload bytea, locked_at timestamptz, done_at timestamptz)",
    )
    make(database, "CREATE TABLE odd_jobs (id bigserial, status text, attempts int)")
    place = tmp_path / "shop.toml"
    done = call("init", database, "--config", str(place))
    assert done.exit_code == 0, done.output
    assert has(done.stderr, ListingText.WRITTEN, path=place)
    (target,) = read_config(place).targets.values()
    assert {configured_name(queue) for queue in target.queues} == {"background_jobs", "queuemeta", EVIL}
    with qmon_connection(database) as connection:
        found = resolve_queues(connection, ENGINE, target.queues)
    assert not found.problems
    assert [replace(each, zones=()) for each in found.layouts] == [q for q in target.queues if isinstance(q, Layout)]
    written = [q for q in target.queues if isinstance(q, Group)]
    assert [(each.group.name, each.group.table, each.group.states) for each in found.groups] == [
        (group.name, group.table, group.states) for group in written
    ]
    comments = " ".join(line[1:].strip() for line in place.read_text().splitlines() if line.startswith("#"))
    assert has(comments, ShapeText.ATTEMPTS)
    assert has(comments, ProposedLineText.PERHAPS)
    again = listed(target.name, "--config", str(place))
    assert {q["name"]: q["source"] for q in again["queues"] if q["confidence"] is None} == {
        "background_jobs": "configuration",
        "queuemeta": "configuration",
    }
    assert [group["queues"] for group in again["libraries"]] == [[EVIL]]


def test_init_never_overwrites_unless_told_and_then_keeps_the_old_one(database: str, own_home: Path) -> None:
    make(database, ARTICLES["fifo"])
    assert call("init", database).exit_code == 0
    assert own_home.is_file()
    own_home.write_text("# mine\n")
    refused = call("init", database)
    assert refused.exit_code == 2
    assert has(refused.stderr, QueuesText.EXISTS, path=own_home)
    assert own_home.read_text() == "# mine\n"
    assert call("init", database, "--force").exit_code == 0
    assert own_home.with_name("qmon.toml.bak").read_text() == "# mine\n"
    assert "fifoqueue" in own_home.read_text()


OWN: Final = """
[target.shop]
connect = {connect}

[[target.shop.queue]]
name = "work"
table = "work_table"
id = "id"
queue = {{ column = "kind" }}
where = {{ tenant = ["a", "\\"b\\""] }}
timeout = "7.5s"
counters = true
[[target.shop.queue.state]]
name = "ready"
when = {{ taken_at = {{ null = true }}, any = [{{ tries = {{ below = 3 }} }}, {{ tries = {{ null = true }} }}] }}
since = "made_at"
[[target.shop.queue.state]]
name = "in_progress"
when = {{ taken_at = {{ null = false }} }}

[[target.shop.queue]]
name = "gone"
table = "not_here"
id = "id"
where = {{ tenant = "a" }}
"""


def test_init_keeps_configured_queues_that_conditions_tell(database: str, own_home: Path) -> None:
    make(database, ARTICLES["fifo"])
    make(
        database,
        "CREATE TABLE work_table (id bigserial PRIMARY KEY, kind text, tenant text, taken_at timestamptz, tries int,"
        " made_at timestamptz)",
    )
    own_home.parent.mkdir(parents=True, exist_ok=True)
    own_home.write_text(OWN.format(connect=json.dumps(database)))
    before = read_config(own_home).targets["shop"]
    done = call("init", "shop", "--force")
    assert done.exit_code == 0, done.output
    after = read_config(own_home).targets["shop"]
    assert set(after.written) == {"work", "gone", "fifoqueue"}
    assert before.written.items() <= after.written.items()
    assert set(before.queues) <= set(after.queues)


def test_init_leaves_the_password_out(database: str) -> None:
    make(database, ARTICLES["fifo"])
    url = database.replace("postgres@", "postgres:s3cretword@", 1)
    done = call("init", url, "--print")
    assert done.exit_code == 0, done.output
    assert "s3cretword" not in done.output
    (target,) = tomllib.loads(done.stdout)["target"].values()
    assert target["connect"] == database


def test_setup_prints_what_it_would_run_and_runs_it_once(clean_roles: str) -> None:
    database = clean_roles
    printed = call("setup", database, "--print")
    assert printed.exit_code == 0
    listed_only = call("setup", database, "--dry-run")
    assert listed_only.exit_code == 0
    assert len(listed_only.stdout.splitlines()) == printed.stdout.count("/* qmon ")
    assert has(listed_only.stdout, SetupText.TO_DO)
    assert query(database, "SELECT count(*) FROM pg_namespace WHERE nspname = 'qmon'") == [(0,)]
    assert "CREATE ROLE qmon_monitor NOLOGIN;" in printed.stdout
    done = call("setup", database)
    assert done.exit_code == 0, done.output
    assert len(done.stdout.splitlines()) == printed.stdout.count("/* qmon ")
    again = call("setup", database, "--print")
    assert (again.exit_code, again.stdout) == (0, "")
    assert has(again.stderr, SetupText.NOTHING_TO_DO)


def test_setup_without_rights_says_in_one_line_how_to_get_the_script(database: str) -> None:
    make(database, "DROP ROLE IF EXISTS nobody_much; CREATE ROLE nobody_much LOGIN")
    target = database.replace("postgres@", "nobody_much@", 1)
    done = call("setup", target, "--role", "operator")
    assert done.exit_code == 1
    assert done.stdout == ""
    (refused,) = (line for line in done.stderr.splitlines() if has(line, SetupText.REFUSED))
    assert "qmon's own schema" in refused
    assert has(refused, SetupText.REFUSED, target=target, role="operator")
    printed = call("setup", target, "--role", "operator", "--print")
    assert (printed.exit_code, "CREATE ROLE qmon_operator NOLOGIN;" in printed.stdout) == (0, True)
    make(database, "DROP ROLE nobody_much")


def test_install_load_status_uninstall(database: str) -> None:
    done = call("design", "install", database, "fifo", "status", "--schema", "public")
    assert done.exit_code == 0, done.output
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["fifo", "status"]
    assert (
        call("design", "install", database, "ring", "--schema", "public", "--queue", "r", "--ring-size", "8").exit_code
        == 0
    )
    assert {q["name"] for q in listed(database)["queues"]} == {"fifo", "status", "r"}
    loaded = run("design", "load", database, "fifo", "--for", "2s", "--rate", "50")
    assert loaded.returncode == 0, loaded.stderr
    assert has(loaded.stdout, LoadResultText.RESULT, queue="fifo")
    pushed, *_, ready = re.findall(r"\d+", loaded.stdout)
    assert int(pushed) > 0
    shown = call("status", database, "--output", "json", "--over", "500ms")
    figures = {queue["name"]: queue for queue in valid(shown.stdout, "status")["queues"]}
    assert figures["fifo"]["ready"] == int(ready)
    assert call("status", database, "--over", "500ms").stdout.splitlines()[0].startswith("QUEUE")
    refused = run("design", "uninstall", database, "r", "fifo")
    assert refused.returncode == 2
    assert has(refused.stderr, DesignText.NO_TERMINAL)
    assert call("design", "uninstall", database, "r", "nosuch", "--yes").exit_code == 2
    assert call("design", "uninstall", database, "r", "fifo", "--yes").exit_code == 0
    assert {q["name"] for q in listed(database)["queues"]} == {"status"}


def test_faults_of_install_and_load_are_bad_input(database: str) -> None:
    for arguments in (
        ("design", "install", database, "fivo", "--schema", "public"),
        ("design", "install", database, "fifo", "--schema", "nowhere"),
        ("design", "load", database, "nosuch"),
    ):
        done = call(*arguments)
        assert done.exit_code == 2, done.output
        assert done.stderr.startswith("qmon: ")
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("json_wanted", [True, False])
def test_doctor_names_each_probe_and_the_grant_that_helps(database: str, json_wanted: bool) -> None:
    assert call("design", "install", database, "status", "--schema", "public").exit_code == 0
    healthy = call("doctor", database, *(["--output", "json"] if json_wanted else []))
    assert healthy.exit_code == 0, healthy.output
    if json_wanted:
        checks = valid(healthy.stdout, "doctor")["checks"]
        assert {c["probe"] for c in checks if c["queue"] is None} >= {"server", "waits", "catalog"}
        assert {c["probe"] for c in checks if c["queue"] == "status"} >= {"head_state", "progress_oldest"}
        assert all(c["ms"] is not None for c in checks if c["problem"] is None)
    else:
        assert "works" in healthy.stdout
    make(database, "DROP ROLE IF EXISTS patient; CREATE ROLE patient LOGIN")
    ill = call("doctor", database.replace("postgres@", "patient@", 1))
    assert ill.exit_code == 1
    assert ExaminationText.GRANT.render(grant='GRANT USAGE ON SCHEMA "qmon" TO "patient"') in ill.stdout
    make(database, "DROP ROLE patient")


def test_doctor_prints_the_indexes_that_make_figures_exact_and_once_made_they_do(database: str, tmp_path: Path) -> None:
    make(
        database,
        """CREATE TABLE "odd ""jobs" (id bigint PRIMARY KEY, "st""ate" text NOT NULL, started_at timestamptz)""",
    )
    config = tmp_path / "qmon.toml"
    config.write_text(
        f"""
        [target.shop]
        connect = {json.dumps(database)}
        [[target.shop.queue]]
        name = "jobs"
        table = '[public].[odd "jobs]'
        design = "status"
        id = "id"
        started_at = "started_at"
        state = {{ column = 'st"ate', ready = "it's new", in_progress = "busy", done = "done", dead = "dead" }}
        """
    )

    def missing() -> dict[str, str]:
        told = call("doctor", "shop", "--config", str(config), "--output", "json")
        assert told.exit_code == 0, told.output
        return {c["probe"]: c["index"] for c in valid(told.stdout, "doctor")["checks"] if c["index"]}

    found = missing()
    assert set(found) == {"(ready, oldest)", "(in_progress, stuck)", "(dead)"}
    assert found["(ready, oldest)"] == (
        """CREATE INDEX CONCURRENTLY ON "public"."odd ""jobs" ("id") WHERE "st""ate" = 'it''s new'"""
    )
    assert found["(in_progress, stuck)"] in call("doctor", "shop", "--config", str(config)).stdout
    for statement in found.values():
        make(database, statement)
    assert missing() == {}


@pytest.mark.parametrize("count", [1, 2])
def test_the_index_that_doctor_proposes_for_a_partitioned_table_can_be_made_and_what_it_holds_up_is_said(
    database: str, tmp_path: Path, count: int
) -> None:
    make(database, "CREATE TABLE jobs (id bigint, status text, started_at timestamptz) PARTITION BY RANGE (id)")
    for number in range(count):
        make(database, f"CREATE TABLE jobs_{number} PARTITION OF jobs FOR VALUES FROM ({number}) TO ({number + 1})")
    config = tmp_path / "qmon.toml"
    config.write_text(
        f"""
        [target.shop]
        connect = {json.dumps(database)}
        [[target.shop.queue]]
        name = "jobs"
        table = "jobs"
        id = "id"
        started_at = "started_at"
        state = {{ column = "status", ready = "ready", in_progress = "busy" }}
        """
    )
    told = call("doctor", "shop", "--config", str(config)).stdout
    assert ExaminationText.PARTITIONED in told
    before, _, _ = ExaminationText.INDEX.partition("{queue}")[2].partition("{index}")
    proposed = [line.partition(before)[2] for line in told.splitlines() if before in line]
    assert len(proposed) == 2
    for statement in proposed:
        make(database, statement)
    assert "cheap: " not in call("doctor", "shop", "--config", str(config)).stdout


def test_designs_lists_all_and_where_they_install() -> None:
    rows = {line.split()[0]: line for line in call("design", "list").stdout.splitlines()[1:]}
    assert set(rows) == set(TRAITS)
    assert " postgres, sqlserver " in rows["ring"]
    assert " postgres" not in rows["service_broker"] and " sqlserver" not in rows["service_broker"]
