"""If standard output is full, closed or unread, a command ends with at most one line and the right exit code."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from qmon.cli.console import ConsoleText
from tests.cli.calling import call, program, surroundings

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this machine has no /dev/full")

NOWHERE: Final = "postgresql://me@127.0.0.1:1/none"
# Commands that need no server, for every method of printing.
PRINTED: Final = (
    ("--version",),
    ("purge", "--help"),
    ("help", "acting"),
    ("targets", "--no-connect", "--output", "json"),
    ("design", "list"),
)
FULL: Final = f"qmon: {ConsoleText.UNWRITABLE.render(problem=os.strerror(errno.ENOSPC))}\n"
# Redirections that lose the output.
LOST: Final = (">/dev/full", ">&-", "<&- >&- 2>&-", "2>/dev/full")


def shell(arguments: tuple[str, ...], redirected: str) -> subprocess.CompletedProcess[str]:
    """Run qmon in the shell, with the shell's redirections."""
    command = ["sh", "-c", f'exec "$@" {redirected}', "sh", *program(*arguments)]
    return subprocess.run(command, env=surroundings(), capture_output=True, text=True, timeout=120, check=False)


def unread(arguments: tuple[str, ...]) -> tuple[int, str]:
    """Run qmon into a pipe without a reader. Return its exit code and standard error."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        program(*arguments), env=surroundings(), stdout=writer, stderr=subprocess.PIPE, timeout=120, check=False
    )
    os.close(writer)
    return done.returncode, done.stderr.decode()


@pytest.mark.parametrize("arguments", PRINTED, ids=" ".join)
def test_a_full_disk_is_one_line_and_code_1(arguments: tuple[str, ...]) -> None:
    done = shell(arguments, ">/dev/full")
    assert (done.returncode, done.stderr) == (1, FULL)


@pytest.mark.parametrize("arguments", PRINTED, ids=" ".join)
def test_a_reader_that_has_gone_ends_it_silently_as_sigpipe_does(arguments: tuple[str, ...]) -> None:
    assert unread(arguments) == (141, "")


@pytest.mark.parametrize("redirected", [">&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("arguments", PRINTED, ids=" ".join)
def test_streams_that_are_closed_change_no_code(arguments: tuple[str, ...], redirected: str) -> None:
    done = shell(arguments, redirected)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("arguments", "code"), [(("status", NOWHERE), 1), (("design", "list", "--frob"), 2)], ids=str)
def test_errors_keep_their_code(arguments: tuple[str, ...], code: int) -> None:
    assert {redirected: shell(arguments, redirected).returncode for redirected in LOST} == dict.fromkeys(LOST, code)
    assert unread(arguments)[0] == code


@pytest.mark.parametrize(
    "arguments", [("check", NOWHERE), ("check", "--frob"), ("check", NOWHERE, "-o", "json")], ids=str
)
def test_a_check_whose_result_is_lost_is_unknown(arguments: tuple[str, ...]) -> None:
    assert {redirected: shell(arguments, redirected).returncode for redirected in LOST} == dict.fromkeys(LOST, 3)
    assert unread(arguments) == (3, "")


def test_commands_that_ask_a_server_end_in_the_same_way(database: str) -> None:
    assert call("design", "install", database, "fifo", "--schema", "public").exit_code == 0
    for arguments in (
        ("status", database),
        ("queues", database, "-o", "csv"),
        ("doctor", database),
        ("init", database, "--print"),
        ("purge", database, "fifo", "--state", "ready", "--dry-run"),
        ("design", "load", database, "fifo", "--for", "10ms"),
    ):
        full = shell(arguments, ">/dev/full")
        assert (full.returncode, full.stderr.splitlines()[-1:]) == (1, [FULL.rstrip()]), arguments
        code, said = unread(arguments)
        assert code == 141 and "went wrong" not in said, (arguments, said)


def test_a_file_that_is_opened_does_not_become_standard_output() -> None:
    script = (
        "import os, sys, tempfile; from qmon.cli.console import prepare_streams; prepare_streams(); "
        "file = tempfile.TemporaryFile('w+'); print('shown'); sys.stdout.flush(); file.seek(0); "
        "sys.exit(f'{file.read()!r} is in the file' if os.fstat(file.fileno()).st_size else 0)"
    )
    command = ["sh", "-c", 'exec "$@" <&- >&-', "sh", sys.executable, "-c", script]
    done = subprocess.run(command, env=surroundings(), capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
