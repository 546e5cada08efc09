"""Commands on several targets: one output; a target that fails is reported and does not delay the others."""

from __future__ import annotations

import csv
import socket
from pathlib import Path

import pytest

from qmon.cli.commands.act.operations import HistoryText
from qmon.cli.commands.check import CheckText
from qmon.model.alerts.nagios import NagiosText
from qmon.operate.audit import default_path
from tests.cli.calling import call
from tests.queues import made
from tests.schemas import valid


@pytest.fixture
def shops(database: str, own_home: Path) -> str:
    """One database under two names, and an unreachable target."""
    own_home.parent.mkdir(parents=True)
    own_home.write_text(
        '[settings]\ninterval = "500ms"\n[fleets]\nshops = ["one", "two"]\n'
        + "".join(f'[target.{name}]\nconnect = "{database}"\n' for name in ("one", "two"))
        + '[target.gone]\nconnect = "postgresql://me@127.0.0.1:1/shop"\n'
    )
    made(database, "fifo", "orders")
    return database


def test_each_command_prints_what_it_finds_of_all_and_says_who_did_not_answer(shops: str) -> None:
    for command, schema, list_, more in (
        ("status", "status", "queues", ("--over", "500ms")),
        ("queues", "queues", "queues", ()),
        ("doctor", "doctor", "checks", ()),
        ("operations", "operations", "operations", ()),
    ):
        done = call(command, "--all", *more)
        assert done.exit_code == 1, done.output
        assert "qmon: gone: " in done.stderr
        told = [valid(line, schema) for line in call(command, "shops", *more, "-o", "json").stdout.splitlines()]
        assert [each["target"] for each in told] == ["one", "two"], command
        lines = list(csv.DictReader(call(command, "two", "one", *more, "-o", "csv").stdout.splitlines()))
        assert [line["target"] for line in lines] == [name for name in ("two", "one") for _ in told[0][list_]], command
        if command != "operations":  # no operations here yet
            assert all(name in done.stdout for name in ("one", "two")), command
    assert call("operations", "shops").stderr == HistoryText.NO_RECORD.render(here="") + "\n"
    default_path().parent.mkdir(parents=True, exist_ok=True)
    default_path().touch()
    here = HistoryText.LOCAL_AUDIT.render(path=default_path())
    assert call("operations", "shops").stderr == HistoryText.NO_RECORD.render(here=here) + "\n"
    table = call("status", "shops", "--over", "500ms").stdout.splitlines()
    assert table[0].split()[:2] == ["TARGET", "QUEUE"]
    assert [line.split()[:2] for line in table[1:3]] == [["one", "orders"], ["two", "orders"]]


def test_a_check_of_several_is_one_line_with_the_worst_state(shops: str) -> None:
    done = call("check", "shops", "--warn", "depth>100")
    (line,) = done.stdout.splitlines()
    assert done.exit_code == 0, line
    fine = [
        NagiosText.QUEUES.render(target=f"{name}: ", count=1, plural="", state="fine", ready=0)
        for name in ("one", "two")
    ]
    assert line.startswith(f"QMON OK - {'; '.join(fine)} | ")
    assert "'one.orders.depth'=0;100;;0" in line
    assert "'two.orders.depth'=0;100;;0" in line
    done = call("check", "--all", "--crit", "push_rate<1", "--polls", "3")
    (line,) = done.stdout.splitlines()
    assert done.exit_code == 2, line
    assert line.startswith("QMON CRITICAL - one: orders: push_rate")
    assert "; gone: " in line
    told = [valid(each, "check")["state"] for each in call("check", "--all", "-o", "json").stdout.splitlines()]
    assert told == ["ok", "ok", "unknown"]


def test_one_that_hangs_keeps_no_other_from_being_checked(shops: str, own_home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        own_home.write_text(own_home.read_text().replace("127.0.0.1:1/", f"127.0.0.1:{port}/"))
        done = call("check", "--all", "--timeout", "3s")
    (line,) = done.stdout.splitlines()
    assert done.exit_code == 3
    problem = CheckText.NO_ANSWER.render(duration="3.0 s") + NagiosText.MORE_TARGETS.render(count=2, plural="s")
    assert line.startswith(f"QMON UNKNOWN - gone: {problem} | 'one.orders")


@pytest.mark.server
def test_none_that_answers_is_a_failure_without_output(own_home: Path) -> None:
    own_home.parent.mkdir(parents=True)
    own_home.write_text(
        "".join(f'[target.{name}]\nconnect = "postgresql://me@127.0.0.1:1/{name}"\n' for name in ("a", "b"))
    )
    done = call("status", "--all", "-o", "json")
    assert (done.exit_code, done.stdout) == (1, "")
    assert [line.partition(": ")[2].partition(":")[0] for line in done.stderr.splitlines()] == ["a", "b"]
