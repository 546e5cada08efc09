"""Commands over a connection that goes silent: each ends by itself, and on Ctrl-C even while the server is silent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from qmon.cli.commands.act.run_action import RunText
from qmon.cli.commands.check import CheckText
from qmon.cli.commands.design.archive import ArchiveResultText
from qmon.cli.signals import SignalText
from qmon.engines.bounded_calls import LoginText
from qmon.engines.driver_calls import DriverCallText
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.operate.run.running_operation import RunningOperationText
from tests import needs
from tests.cli.calling import program, surroundings
from tests.cli.pseudo_terminal import Terminal
from tests.facts import query, wait_until
from tests.jobs import configuration, fill
from tests.queues import made
from tests.silence import COMMIT_OF_A_BATCH, Tunnel, tunnel
from tests.wordings import has

pytestmark = needs.posix

COMMANDS: Final = {
    "queues": ["queues", "shop"],
    "doctor": ["doctor", "shop"],
    "status": ["status", "shop"],
    "check": ["check", "shop"],
    "operations": ["operations", "shop"],
    "trash": ["trash", "list", "shop"],
    "empty": ["trash", "empty", "shop", "--yes"],
    "requeue": ["requeue", "shop", "jobs", "--yes"],
    "purge": ["purge", "shop", "jobs", "--state", "ready", "--yes"],
    "pause": ["pause", "shop", "jobs", "--yes"],
    "undo": ["undo", "shop", "261126-000000-abcd", "--yes"],
    "install": ["design", "install", "shop", "fifo", "--schema", "public"],
    "setup": ["setup", "shop"],
    "archive": ["design", "archive", "shop", "jobs", "--until-empty"],
    "init": ["init", "{url}", "--config", "{folder}/new.toml"],
}
# Text that qmon sends after it has logged in.
SET_UP: Final = b"statement_timeout"
# Text that it sends when it looks for queues.
CATALOG: Final = b"pg_index"


@pytest.fixture
def quiet(database: str, own_home: Path) -> Iterator[Tunnel]:
    """A tunnel to a database with a queue, which is the target ``shop``."""
    fill(database, dead=3, alive=2, ready=4)
    with tunnel(database) as through:
        own_home.parent.mkdir(parents=True)
        own_home.write_text(configuration(through.url), encoding="utf-8")
        yield through


def started(arguments: list[str], own_home: Path) -> subprocess.Popen[str]:
    """Start the program with the test's configuration."""
    environment = surroundings(XDG_CONFIG_HOME=str(own_home.parents[1]), XDG_STATE_HOME=str(own_home.parents[1]))
    return subprocess.Popen(
        program(*arguments),
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def has_no_answer(*outputs: str) -> bool:
    """Return whether the output names a server that does not answer."""
    texts = (PostgresErrorText.NO_ANSWER, DriverCallText.NO_ANSWER, LoginText.NO_ANSWER, CheckText.NO_ANSWER)
    return any(has(output, text) for output in outputs for text in texts)


@pytest.mark.parametrize(
    ("mark", "names"),
    [(SET_UP, list(COMMANDS)), (CATALOG, ["queues", "doctor", "status", "check", "requeue", "pause"])],
    ids=["set-up", "catalog"],
)
def test_every_command_ends_by_itself(
    quiet: Tunnel, own_home: Path, tmp_path: Path, mark: bytes, names: list[str]
) -> None:
    """All commands run at once, because each waits for its deadline.

    The first one to reach the mark silences the others too.
    """
    quiet.silence_at(mark, passes=True)
    given = {"url": quiet.url, "folder": str(tmp_path)}
    running = {name: started([each.format(**given) for each in COMMANDS[name]], own_home) for name in names}
    try:
        ends = {name: (*each.communicate(timeout=240), each.returncode) for name, each in running.items()}
    finally:
        for each in running.values():
            each.kill()
    assert quiet.silent.is_set()
    assert {name: end for name, end in ends.items() if end[2] not in (1, 3) or not has_no_answer(*end[:2])} == {}
    assert not (tmp_path / "new.toml").exists()


def test_the_second_ctrl_c_ends_archiving_and_its_batch_is_unsure(quiet: Tunnel, own_home: Path) -> None:
    made(quiet.direct, "batch_fast", "orders")
    quiet.silence_at(b'"orders_archive"(', passes=True)
    child = started(["design", "archive", quiet.url, "orders"], own_home)
    try:
        assert quiet.silent.wait(120)
        assert child.stderr is not None
        child.send_signal(signal.SIGINT)
        assert any(has(line, SignalText.STOPPING) for line in child.stderr)
        child.send_signal(signal.SIGINT)
        out, said = child.communicate(timeout=120)
    finally:
        child.kill()
        child.communicate()
    assert child.returncode == 130, said
    assert has(out, ArchiveResultText.UNSURE, batches="1 batch")


@pytest.mark.parametrize("name", ["queues", "doctor", "status", "requeue", "pause", "operations"])
def test_ctrl_c_ends_a_command_that_has_no_answer(quiet: Tunnel, own_home: Path, name: str) -> None:
    quiet.silence_at(b"qmon.operations" if name == "operations" else CATALOG, passes=True)
    if name == "operations":
        query(quiet.direct, "CREATE SCHEMA qmon; CREATE TABLE qmon.operations (id text)")
    child = started(COMMANDS[name], own_home)
    try:
        assert quiet.silent.wait(120)
        child.send_signal(signal.SIGINT)
        with_second = _ended_or_signalled_again(child)
        # A second press while Python is ending kills the process; a shell reports 130 for that too.
        assert child.wait(60) in (130, -signal.SIGINT), (child.communicate(), with_second)
    finally:
        child.kill()
        child.communicate()


def _ended_or_signalled_again(child: subprocess.Popen[str]) -> bool:
    """Press Ctrl-C again if the first press is still waited for. Return whether it was."""
    try:
        child.wait(0.5)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGINT)
        return True
    return False


def test_the_second_ctrl_c_ends_an_action_and_its_batch_is_unknown(quiet: Tunnel, own_home: Path) -> None:
    quiet.silence_at(*COMMIT_OF_A_BATCH, passes=True)
    home = own_home.parents[1]
    terminal = Terminal("requeue", "shop", "jobs", "--yes", home=home)
    assert quiet.silent.wait(120)
    terminal.process.send_signal(signal.SIGINT)
    terminal.expect(RunText.STOPPING)
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130, terminal.seen
    assert "requeue unknown" in terminal.seen
    step = RunningOperationText.BATCH_COMMITTED.render(batch=1, done=3)
    assert has(" ".join(terminal.seen.split()), RunningOperationText.UNKNOWN, step=step)
    last = json.loads((home / "qmon" / "operations.jsonl").read_text().splitlines()[-1])
    assert (last["event"], last["state"], last["done"]) == ("end", "unknown", 0)
    found = wait_until(
        lambda: query(quiet.direct, "SELECT done FROM qmon.operations WHERE done > 0"), what="the commit"
    )
    assert found == [(3,)]


def test_a_killed_terminal_is_no_different(quiet: Tunnel, own_home: Path) -> None:
    """SIGTERM also ends a command that waits for a silent server."""
    quiet.silence_at(CATALOG, passes=True)
    child = started(COMMANDS["queues"], own_home)
    try:
        assert quiet.silent.wait(120)
        os.kill(child.pid, signal.SIGTERM)
        assert child.wait(60) in (143, -signal.SIGTERM)
    finally:
        child.kill()
        child.communicate()
