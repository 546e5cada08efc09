"""The program itself: its imports, its help, its exit codes, and its error messages."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import qmon
from qmon.cli.commands.connect import ConnectText
from qmon.cli.commands.design.install import DesignText
from qmon.cli.commands.design.load import LoadResultText
from qmon.config.chosen_target import TargetText
from qmon.config.config_file import ConfigText
from qmon.config.credentials import CredentialText
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.engines.urls import UrlText
from qmon.log import LogText
from qmon.model.formatting import DurationText
from qmon.texts import Text
from tests.cli.calling import ROOT, call, program, run, surroundings
from tests.contract.tables import ARTICLES, make
from tests.facts import query, wait_until
from tests.wordings import has

pytestmark = pytest.mark.server

COMMANDS = (
    "connect",
    "status",
    "demo",
    "queues",
    "init",
    "doctor",
    "setup",
    "design",
)
NOWHERE = "postgresql://me:s3cretword@127.0.0.1:1/shop"


def test_importing_the_commands_loads_no_driver_no_screen_and_no_spark() -> None:
    code = (
        "import sys, qmon.cli; heavy = {'pyodbc', 'textual', 'pyspark', 'rich', 'keyring'}; "
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=surroundings(), capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


def test_version_and_help() -> None:
    assert call("--version").stdout == f"qmon {qmon.__version__}\n"
    assert run("--version").stdout == f"qmon {qmon.__version__}\n"
    listed = call("--help").stdout
    for command in COMMANDS:
        assert f"  {command} " in listed
    assert call("-h").stdout == listed


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_and_an_example(command: str) -> None:
    done = call(command, "--help")
    assert done.exit_code == 0
    assert f"Example: qmon {command}" in done.stdout
    options = done.stdout.split("Options:", 1)[1]
    assert "--help" in options


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["queues", "nowhere-at-all"], TargetText.UNKNOWN),
        (["queues", "postgres://h:port/db"], UrlText.NO_PORT),
        (["queues", "shop", "--config", "/nonexistent/qmon.toml"], ConfigText.NO_FILE),
        (["status", "x", "--over", "soon"], DurationText.NOT_A_DURATION),
        (["connect", "x", "--interval", "-3s"], DurationText.NOT_A_DURATION),
        (["setup", "x", "--role", "king"], "king"),
        (["queues"], "TARGET"),
        (["quques"], "quques"),
        (["design", "install", "x", "fifo"], "--schema"),
        (["design", "install", "x", "fifo", "ring", "--schema", "s", "--queue", "q"], DesignText.ONE_DESIGN),
        (["demo", "--output", "json"], ConnectText.OUTPUT_NEEDS_FOR),
    ],
)
def test_bad_input_is_exit_code_2_and_no_traceback(arguments: list[str], text: Text | str) -> None:
    done = call(*arguments)
    assert done.exit_code == 2
    assert has(done.stderr, text) if isinstance(text, Text) else text in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("arguments", [("queues", "nowhere-at-all"), ("queues",)])
def test_bad_input_is_the_same_as_a_program(arguments: tuple[str, ...]) -> None:
    """One error of qmon, and one of typer."""
    done, here = run(*arguments), call(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.replace("python -m qmon", "qmon") == here.stderr


@pytest.mark.parametrize("command", ["queues", "status", "doctor", "setup", "init"])
def test_an_unreachable_target_is_exit_code_1_in_one_line_without_the_password(command: str) -> None:
    done = call(command, NOWHERE)
    assert done.exit_code == 1
    lines = [line for line in done.stderr.splitlines() if not has(line, CredentialText.ON_COMMAND_LINE)]
    assert len(lines) == 1
    assert has(lines[0], PostgresErrorText.REFUSED)
    assert "s3cretword" not in done.stderr + done.stdout
    if command == "status":
        program = run(command, NOWHERE)
        assert (program.returncode, program.stdout, program.stderr) == (1, done.stdout, done.stderr)


def test_debugging_shows_where_and_still_no_password() -> None:
    done = run("queues", NOWHERE, QMON_DEBUG="1")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "s3cretword" not in done.stderr
    assert "Traceback" not in run("queues", NOWHERE, QMON_DEBUG="0").stderr


def test_a_fault_of_our_own_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("at postgresql://me:s3cretword@h/db;PWD={s3cret;word}")

    monkeypatch.setattr("qmon.cli.target_session.resolve_targets", broken)
    done = call("queues", "x")
    assert done.exit_code == 1
    assert has(done.stderr, LogText.DEFECT, kind="RuntimeError")
    assert done.stderr.count("\n") == 1
    assert "s3cret" not in done.stderr


def test_a_reader_that_goes_away_is_no_error(database: str) -> None:
    make(database, ARTICLES["fifo"])
    reading, writing = os.pipe()
    os.close(reading)
    for arguments in (("queues", database), ("design", "list"), ("--help",)):
        done = subprocess.run(
            program(*arguments), env=surroundings(), stdout=writing, stderr=subprocess.PIPE, text=True, check=False
        )
        assert done.stderr == ""
        assert done.returncode in (0, 141)  # 141: the reader had closed before all was printed
    os.close(writing)


def test_an_interrupt_ends_a_load_quietly_with_130_and_leaves_no_session(database: str) -> None:
    assert call("design", "install", database, "fifo", "--schema", "public").exit_code == 0
    load = subprocess.Popen(
        program("design", "load", database, "fifo", "--for", "10m", "--producers", "1", "--consumers", "1"),
        env=surroundings(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    pushed = "SELECT 1 FROM pg_stat_activity WHERE application_name LIKE '%load-producer%'"
    wait_until(lambda: query(database, pushed), what="a producer is connected")
    load.send_signal(signal.SIGINT)
    out, err = load.communicate(timeout=120)
    assert (load.returncode, out) == (130, "")
    assert "Traceback" not in err
    wait_until(lambda: not query(database, pushed), what="the producers have gone")


def test_sigterm_ends_a_load_with_what_it_came_to(database: str) -> None:
    assert call("design", "install", database, "fifo", "--schema", "public").exit_code == 0
    load = subprocess.Popen(
        program("design", "load", database, "fifo", "--for", "10m", "--producers", "1", "--consumers", "0"),
        env=surroundings(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: query(database, "SELECT 1 FROM fifo LIMIT 1"), what="a message is pushed")
    load.send_signal(signal.SIGTERM)
    out, _ = load.communicate(timeout=120)
    assert load.returncode == 0
    (pushed,) = query(database, "SELECT count(*) FROM fifo")[0]
    assert has(out, LoadResultText.RESULT, queue="fifo", pushed=pushed)


def test_a_load_that_pushed_nothing_has_failed(database: str) -> None:
    assert call("design", "install", database, "fifo", "--schema", "public").exit_code == 0
    query(database, "ALTER FUNCTION fifo_push RENAME TO gone")
    done = run("design", "load", database, "fifo", "--for", "1s", "--producers", "1", "--consumers", "0")
    assert done.returncode == 1
    assert has(done.stdout, LoadResultText.RESULT, queue="fifo", pushed=0)
    assert has(done.stderr, LoadResultText.NOTHING_PUSHED, queue="fifo")


# Names that would colour a terminal, or reverse its text.
HOSTILE = "e\x1b[31m\x9b31m\u202etxt\u2066\u200f\x7f"


def test_no_name_or_payload_of_others_steers_a_terminal(database: str, tmp_path: Path) -> None:
    name = HOSTILE.replace('"', '""')
    query(database, f'CREATE TABLE "{name}" (id int PRIMARY KEY, status text, locked_by text, body text)')
    query(database, f"INSERT INTO \"{name}\" VALUES (1, 'running', ?, ?)", HOSTILE, HOSTILE)
    config, table = tmp_path / "qmon.toml", f'public."{HOSTILE}"'
    config.write_text(
        f"[target.shop]\nconnect = '{database}'\n[[target.shop.queue]]\nname = {json.dumps(HOSTILE)}\n"
        f"table = {json.dumps(table)}\ndesign = 'status'\nid = 'id'\npayload = 'body'\n"
        "state = { column = 'status', ready = 'new', in_progress = 'running' }\n"
        "owner = { column = 'locked_by', kind = 'name' }\n"
    )
    for arguments in (
        ("status", "shop", "--over", "1s"),
        ("status", "shop", "--over", "1s", "--output", "json"),
        ("queues", "shop"),
        ("doctor", "shop"),
        ("queues", "shop", "--output", "json"),
        ("check", "shop"),
        ("check", "shop", "--output", "json"),
        ("check", "shop", "--queue", HOSTILE + "?"),
        ("purge", "shop", HOSTILE, "--state", "in_progress", "--owners", "unknown", "--dry-run"),
        ("purge", "shop", HOSTILE + "?", "--yes"),
        ("purge", "shop", HOSTILE, "--state", "in_progress", "--owners", "unknown", "--dry-run", "--output", "json"),
    ):
        done = call(*arguments, "--config", str(config))
        assert done.output, arguments
        odd = {sign for sign in done.output if not sign.isprintable() and sign != "\n"}
        assert not odd, (arguments, odd, done.output)
        if "json" in arguments:
            assert json.dumps(HOSTILE) in json.dumps(json.loads(done.stdout)), arguments  # escaped, not changed


@pytest.mark.parametrize(
    ("type_name", "size"),
    [
        ("bytea", r"9766 kB(?! stored)"),
        ("text", r"9766 kB(?! stored)"),
        ("varchar", r"9766 kB(?! stored)"),
        ("json", r"\d+ kB stored"),
    ],
)
def test_a_size_is_that_of_the_payload_or_says_that_it_is_the_stored_one(
    database: str, type_name: str, size: str
) -> None:
    """The server has compressed it. For some types only decompression would show its size."""
    assert call("design", "install", database, "fifo", "--schema", "public").exit_code == 0
    query(database, f"ALTER TABLE fifo ALTER payload TYPE {type_name} USING NULL")
    packed = "repeat('ab', 5000000)" if type_name != "json" else "to_json(repeat('ab', 5000000))"
    query(database, f"INSERT INTO fifo (payload) SELECT CAST({packed} AS {type_name})")
    done = call("purge", database, "fifo", "--state", "ready", "--dry-run")
    assert done.exit_code == 0, done.output
    assert re.search(size, done.stdout), done.stdout


def on_a_terminal(*arguments: str, **more: str) -> str:
    """Return qmon's output if standard output is a terminal."""
    ours, theirs = pty.openpty()
    done = subprocess.Popen(program(*arguments), env=surroundings(TERM="xterm-256color", **more), stdout=theirs)
    os.close(theirs)
    printed = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed: terminals end this way
            break
        if not piece:
            break
        printed += piece
    os.close(ours)
    assert done.wait(120) == 0
    return printed.decode()


def test_colours_only_on_a_terminal_that_wants_them() -> None:
    assert "\x1b[" in on_a_terminal("design", "list")
    assert "\x1b[" not in on_a_terminal("design", "list", NO_COLOR="1")
    assert "\x1b[" not in run("design", "list").stdout


def test_shell_completion_names_the_commands() -> None:
    code = "import sys; sys.argv[0] = 'qmon'; from qmon.cli import main; main()"
    asked = {"_QMON_COMPLETE": "complete_bash", "COMP_WORDS": "qmon de", "COMP_CWORD": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=surroundings(**asked), capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["demo", "design"]
