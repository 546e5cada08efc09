"""The command hook, with real programs."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Final

import pytest

from qmon.monitor.alert_command import AlertCommand
from tests import needs
from tests.facts import wait_until

END_S: Final = 240.0
"""A program that is not meant to take too long has so much time, however busy the machine is."""
KEEP: Final = (
    "import os, sys; out = open(sys.argv[1], 'a'); out.write(sys.stdin.read()); "
    "out.write(''.join(f'{k}={v}\\n' for k, v in os.environ.items()) if len(sys.argv) > 2 else '')"
)


def keeping(place: Path, *more: str) -> tuple[str, ...]:
    """A program that writes what it reads to a file; with ``more`` its environment, too."""
    return (sys.executable, "-c", KEEP, str(place), *more)


def test_it_gets_each_event_in_order_as_a_line_of_json(tmp_path: Path) -> None:
    said = tmp_path / "said"
    hook = AlertCommand(keeping(said), END_S)
    for number in range(5):
        hook.send({"number": number, "words": "請求書; $(rm -rf /) `x` \n"})
    hook.close(END_S)
    told = [json.loads(line) for line in said.read_text().splitlines()]
    assert [event["number"] for event in told] == [0, 1, 2, 3, 4]
    assert told[0]["words"] == "請求書; $(rm -rf /) `x` \n"


def test_it_is_run_without_a_shell_and_without_passwords(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = tmp_path / "a; touch b"
    for name in ("QMON_PASSWORD", "QMON_PASSWORD_ORDERS_PROD", "PGPASSWORD"):
        monkeypatch.setenv(name, "s3cretword")
    monkeypatch.setenv("PAGER_TOKEN", "its own")
    hook = AlertCommand(keeping(said, "with its environment"), END_S)
    hook.send({})
    hook.close(END_S)
    text = said.read_text()
    assert "PAGER_TOKEN=its own" in text
    assert "s3cretword" not in text
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("/nonexistent/page-me",), "cannot be run: No such file or directory"),
        ((sys.executable, "-c", "import sys; sys.exit('no\\nservice')"), "ended with 1: no service"),
        ((sys.executable, "-c", "import os; os.close(0); os._exit(7)"), "ended with 7"),
        (("a\0b",), "cannot be run: embedded null byte"),
    ],
)
def test_a_failure_is_told_once(command: tuple[str, ...], words: str) -> None:
    told: list[str] = []
    hook = AlertCommand(command, END_S)
    hook.on_failure = told.append
    for _ in range(3):
        hook.send({})
    hook.close(END_S)
    assert told == [f"the alert command {command[0]}: {words}"]


def test_a_failure_is_told_again_after_it_worked(tmp_path: Path) -> None:
    told: list[str] = []
    program = tmp_path / "page-me"
    hook = AlertCommand((str(program),), END_S)
    hook.on_failure = told.append
    hook.send({})
    wait_until(lambda: len(told) == 1, what="the first failure")
    program.write_text(f"#!/bin/sh\ncat > '{tmp_path / 'said'}'\n")
    program.chmod(0o700)
    hook.send({})
    wait_until((tmp_path / "said").exists, what="the program runs")
    program.unlink()
    hook.send({})
    hook.close(END_S)
    assert len(told) == 2


def test_what_takes_too_long_is_killed_with_its_children_and_holds_up_nobody(tmp_path: Path) -> None:
    child = tmp_path / "child"
    for limit_s in (1.5, 6.0, 24.0):  # on a busy machine the program may be killed before it has its child
        told: list[str] = []
        hook = AlertCommand(("/bin/sh", "-c", f"sleep 600 & echo $! > '{child}'; wait"), limit_s)
        hook.on_failure = told.append
        hook.send({})
        assert told == [], "telling returns before the program ends"
        wait_until(lambda told=told: told, END_S, what="the end of the program")  # type: ignore[misc]
        hook.close(END_S)
        assert told[0].endswith(f"took longer than {limit_s:g} s and was killed")
        if child.exists() and child.read_text():
            break
    pid = int(child.read_text())
    wait_until(lambda: not Path(f"/proc/{pid}").exists() or _is_zombie(pid), what="the end of its child")


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@needs.posix
def test_events_that_it_cannot_keep_up_with_are_dropped_and_that_is_said(tmp_path: Path) -> None:
    told, gate = list[str](), tmp_path / "gate"
    os.mkfifo(gate)
    hook = AlertCommand(("/bin/sh", "-c", f"read line < {gate}"), END_S)
    hook.on_failure = told.append
    for number in range(300):
        hook.send({"number": number})
    assert told == ["the alert command /bin/sh: it is 200 events behind; what comes now is dropped"]
    opened = threading.Thread(target=lambda: gate.write_text("go\n"))
    opened.start()
    opened.join(30.0)
    assert not opened.is_alive()
