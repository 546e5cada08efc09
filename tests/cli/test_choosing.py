"""``qmon connect`` alone lists the known targets to choose from; the shell completes targets and queues."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from qmon.cli.target_prompt import PromptText
from qmon.engines import odbc
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.engines.sqlserver import driver_wheel
from qmon.model.config_reader import KeyText
from qmon.monitor.catalog.resolve import ResolveText
from qmon.tui.shared.header import HeaderText
from tests.cli.calling import call
from tests.cli.pseudo_terminal import Terminal
from tests.facts import query
from tests.needs import posix
from tests.schemas import valid
from tests.wordings import has

CONFIG = """
[target.orders-prod]
connect = "mssql://monitor@sql1/Orders"
prod = true
[[target.orders-prod.queue]]
name = "mails"
table = "Mail"
id = "Id"
[[target.orders-prod.queue]]
name = "invoices"
table = "Invoice"
id = "Id"
[target.shop]
connect = {shop}
environment = "staging"
"""


@pytest.fixture
def configured(own_home: Path, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration of two targets, and a DSN."""
    own_home.parent.mkdir(parents=True)
    own_home.write_text(CONFIG.format(shop=json.dumps(database)))
    (tmp_path / "odbc.ini").write_text("[warehouse]\nDriver=FreeTDS\nServername=x\n")
    monkeypatch.setenv("ODBCINI", str(tmp_path / "odbc.ini"))
    return own_home.parents[1]


@posix
def test_connect_alone_lists_what_is_known_and_asks(configured: Path) -> None:
    terminal = Terminal("connect", home=configured)
    terminal.expect(f"{PromptText.QUESTION}:")
    rows = [line.split() for line in terminal.seen.splitlines()]
    assert ["1", "orders-prod", "SQL", "Server", "sql1/Orders", "qmon.toml,", "prod,", "2", "queues"] in rows
    assert any(row[:3] == ["2", "shop", "PostgreSQL"] and row[-2:] == ["qmon.toml,", "staging"] for row in rows)
    assert ["warehouse", "SQL", "Server", "driver", "FreeTDS", "user", "DSN"] in [row[1:] for row in rows]
    assert "postgresql://user@host/database or mssql://login@host/Database" in terminal.seen
    terminal.type("shpo")
    terminal.expect(KeyText.DID_YOU_MEAN.render(word="shop"))
    terminal.expect(f"{PromptText.QUESTION}:", times=2)
    terminal.type("2")
    terminal.expect(HeaderText.LIVE.split()[1])
    os.write(terminal.leader, b"q")
    assert terminal.end() == 0, terminal.seen


def test_without_a_terminal_it_says_what_is_known(configured: Path) -> None:
    done = call("connect")
    assert (done.exit_code, done.stdout) == (2, "")
    assert has(done.stderr, PromptText.WHICH_KNOWN_TARGET, example="postgresql://user@host/database")
    assert "orders-prod, shop, " in done.stderr
    assert "warehouse" in done.stderr


def completed(*words: str) -> list[str]:
    """Return bash's completions of the last word, without the DSNs of this machine."""
    line = " ".join(("qmon", *words))
    asked = {"_QMON_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words))}
    done = call(environment=asked)
    ours = ("orders-prod", "shop", "warehouse", "elsewhere", "mails", "invoices")
    return [word for word in done.stdout.split() if word in ours]


def test_targets_and_queues_are_completed(configured: Path, tmp_path: Path) -> None:
    assert completed("status", "") == ["orders-prod", "shop", "warehouse"]
    assert completed("connect", "s") == ["shop"]
    assert completed("serve", "shop", "o") == ["orders-prod"]
    for line in (("requeue", "orders-prod"), ("check", "orders-prod", "--queue"), ("design", "archive", "orders-prod")):
        assert completed(*line, "") == ["mails", "invoices"]
    assert completed("pause", "orders-prod", "i") == ["invoices"]
    assert completed("pause", "shop", "") == []
    other = tmp_path / "other.toml"
    other.write_text("[target.elsewhere]\nconnect = 'postgresql://db2/x'\n")
    assert completed("status", "--config", str(other), "") == ["elsewhere", "warehouse"]
    other.write_text("[target")
    assert completed("status", "--config", str(other), "") == []


def test_a_configured_table_that_is_missing_is_a_row_and_exit_code_3(own_home: Path, database: str) -> None:
    query(database, "CREATE TABLE here (id bigserial PRIMARY KEY)")
    queue = "[[target.shop.queue]]\nname = '{0}'\ntable = '{0}'\nid = 'id'\n"
    own_home.parent.mkdir(parents=True)
    own_home.write_text(f"[target.shop]\nconnect = {json.dumps(database)}\n" + queue.format("here"))
    for command in ("queues", "status"):
        assert call(command, "shop").exit_code == 0
    with own_home.open("a") as file:
        file.write(queue.format("gone"))
    for command, form in (("queues", "table"), ("status", "table"), ("status", "json")):
        done = call(command, "shop", "--output", form)
        assert done.exit_code == 3, done.output
        assert has(done.stdout, ResolveText.NO_TABLE, name="gone")
    listed = call("queues", "shop").stdout
    assert [line.split()[0] for line in listed.splitlines()] == ["QUEUE", "here", "gone"]


def test_targets_lists_what_is_known_and_what_can_be_reached(configured: Path) -> None:
    with (configured / "qmon" / "qmon.toml").open("a") as file:
        file.write('[target.off]\nconnect = "postgresql://me@127.0.0.1:1/none"\n')
    done = call("targets", "--output", "json")
    assert done.exit_code == 0, done.output
    found = {each["name"]: each for each in valid(done.stdout, "targets")["targets"]}
    assert list(found) == ["orders-prod", "shop", "off", "warehouse"]
    assert (found["shop"]["reachable"], found["shop"]["problem"]) == (True, None)
    assert found["shop"]["server_version"].split(".")[0].isdecimal()
    assert found["off"]["reachable"] is False
    assert has(
        found["off"]["problem"],
        PostgresErrorText.REFUSED,
        where=PostgresErrorText.HOST_PORT.render(host="127.0.0.1", port=1),
    )
    assert (found["orders-prod"]["prod"], found["orders-prod"]["queues"]) == (True, 2)
    assert (found["warehouse"]["dsn"], found["warehouse"]["dsn_of"]) == (True, "user")
    assert found["shop"]["answered_s"] > 0
    assert (found["shop"]["dsn_of"], found["off"]["answered_s"]) == (None, None)
    assert valid(done.stdout, "targets")["drivers"] == sorted({*odbc.installed_drivers(), *driver_wheel.known_names()})
    assert has(" ".join(call("targets").stdout.split()), PostgresErrorText.REFUSED)
    unasked = valid(call("targets", "--no-connect", "--output", "json").stdout, "targets")["targets"]
    assert {each["reachable"] for each in unasked} == {None}


def test_a_target_that_hangs_holds_up_no_other_and_no_longer_than_its_deadline(
    configured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server accepts the connection and does not answer: each target has its own deadline."""
    monkeypatch.setattr("qmon.cli.commands.targets.WAIT_S", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with (configured / "qmon" / "qmon.toml").open("a") as file:
            file.write(f'[target.silent]\nconnect = "postgresql://me@127.0.0.1:{silent.getsockname()[1]}/none"\n')
        done = call("targets", "--output", "json")
    found = {each["name"]: each for each in valid(done.stdout, "targets")["targets"]}
    assert found["shop"]["reachable"] is True
    assert found["silent"]["problem"] == PromptText.NO_ANSWER.render(target="silent", duration="1.0 s")
