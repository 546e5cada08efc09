"""Finds processes of a server by a mark on their command lines, and sends signals to these processes.

A server is started with a random ``cluster_name``, which PostgreSQL writes on the command line of each of its
processes. Every account may read command lines. So processes are found even after their parent has ended, and a process
that reuses an id is never mistaken for a process of the server. This module only uses the standard library, because the
guardian imports it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

if sys.platform == "win32":
    raise ImportError("only on POSIX systems")

_PROC = Path("/proc")
_RUNNING_STATES = ("R", "S", "D")


def marked_pids(mark: str) -> set[int]:
    """Return the ids of all living processes with the mark on their command line, except our own."""
    found = _pids_from_proc(mark) if (_PROC / "self" / "cmdline").exists() else _pids_from_ps(mark)
    return found - {os.getpid()}


def _pids_from_proc(mark: str) -> set[int]:
    wanted = mark.encode()
    found = set()
    for folder in _PROC.iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # the process has ended in the meantime
            if wanted in (folder / "cmdline").read_bytes():  # the command line of a zombie is empty
                found.add(int(folder.name))
    return found


def _pids_from_ps(mark: str) -> set[int]:
    listing = subprocess.run(
        ["/bin/ps", "-A", "-ww", "-o", "pid=,command="],
        capture_output=True,
        text=True,
        errors="replace",
        check=True,
        env={},
    )
    lines = (line.split(None, 1) for line in listing.stdout.splitlines() if mark in line)
    return {int(parts[0]) for parts in lines}


def send_signal(pids: set[int], number: signal.Signals) -> None:
    """Send a signal to each process. Skip processes that have ended."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def process_state(pid: int) -> str:
    """Return the letter of a process's state: R, S, D, T (stopped), Z (zombie), or an empty text if unknown."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def freeze_marked(mark: str, seconds: float = 5.0) -> None:
    """Stop every marked process (SIGSTOP), including processes being started, and wait until all are stopped.

    Waits at most ``seconds`` for a process that the kernel does not release (state D).
    """
    stopped: set[int] = set()

    def freeze_new_processes() -> set[int]:
        fresh = {pid for pid in marked_pids(mark) if pid not in stopped or process_state(pid) in _RUNNING_STATES}
        send_signal(fresh - stopped, signal.SIGSTOP)
        stopped.update(fresh)
        return fresh

    _wait_until_false(freeze_new_processes, seconds)


def thaw_marked(mark: str) -> None:
    """Continue every marked process (SIGCONT)."""
    send_signal(marked_pids(mark), signal.SIGCONT)


def kill_marked(mark: str) -> None:
    """Kill every marked process (SIGKILL).

    All marked processes are stopped first, so that no process starts another process in the meantime.
    """
    freeze_marked(mark)
    send_signal(marked_pids(mark), signal.SIGKILL)


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group. Does nothing if the group has ended or is not ours."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def group_pids(group: int) -> set[int]:
    """Return the ids of the group's living processes on Linux, without zombies."""
    found = set()
    for stat in _PROC.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, number = stat.read_text().rpartition(")")[2].split()[:3]
            if int(number) == group and state not in "ZX":
                found.add(int(stat.parent.name))
    return found


def wait_group_gone(group: int, seconds: float) -> bool:
    """Wait until no process of the group is alive. Return false if a process is still alive after ``seconds``."""
    return _wait_until_false(lambda: group_pids(group), seconds)


def wait_marked_gone(mark: str, seconds: float) -> bool:
    """Wait until no marked process is left. Return false if a process is still left after ``seconds``."""
    return _wait_until_false(lambda: marked_pids(mark), seconds)


def _wait_until_false(condition: Callable[[], object], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    pause = 0.005
    while condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
        pause = min(pause * 2, 0.1)
    return True
