"""Ends a server and removes what it left in memory: processes and shared memory. Standard library only."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

from qmon.demo import processes

if sys.platform == "win32":
    raise ImportError("only where there is POSIX")

_IPC_RMID = 0
_SERVER_S = 10.0
_GROUP_S = 2.0
_SHMEM_LINE = 6  # of postmaster.pid, counted from 0: key and id of the server's System V segment


def end_server(mark: str, data: Path) -> None:
    """End every process of the server, and remove its shared memory.

    The postmaster is asked first (SIGQUIT: no checkpoint, for the data is not wanted any more), since it removes its
    shared memory as it goes; after ten seconds what is left is killed.
    """
    postmaster = postmaster_pid(data)
    if postmaster in processes.marked(mark):
        processes.send({postmaster}, signal.SIGQUIT)
        processes.thaw(mark)
        if processes.wait_gone(mark, _SERVER_S):
            return
    processes.freeze(mark)  # so that none is started while the others die
    makers = processes.marked(mark)
    processes.kill(mark)
    if processes.wait_gone(mark, _SERVER_S):
        remove_shared_memory(data)
        _remove_made_by(makers)


def end_group(group: int) -> None:
    """Kill a process group (SIGKILL), wait for its end, and remove the shared memory that it made.

    One already gone, or not ours, is passed over.
    """
    processes.signal_group(group, signal.SIGSTOP)
    makers = processes.in_group(group)
    processes.signal_group(group, signal.SIGKILL)
    if processes.wait_group_gone(group, _GROUP_S):
        _remove_made_by(makers)


def postmaster_pid(data: Path) -> int:
    """The process id in ``postmaster.pid``, or -1 where there is none."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int((data / "postmaster.pid").read_text().splitlines()[0])
    return -1


def remove_shared_memory(data: Path) -> None:
    """Remove the segment that a killed server named in ``postmaster.pid``: the kernel keeps it until somebody does.

    Call it only when no process of the server lives. Does nothing where the server removed it itself, nor where the
    segment belongs to another account than the data: root must not be talked into removing somebody else's.
    """
    try:
        segment = int((data / "postmaster.pid").read_text().splitlines()[_SHMEM_LINE].split()[1])
        owner = data.stat().st_uid
    except (OSError, ValueError, IndexError):
        return
    if os.geteuid() != 0 or any(row["shmid"] == segment and row["uid"] == owner for row in _segments()):
        _remove(segment)


def _remove_made_by(pids: set[int]) -> None:
    """Remove the segments that these processes, which have ended, made and nobody uses.

    A server writes the id of its segment down only after it has made it; one that is killed in between, as initdb's
    are, names it nowhere.
    """
    for row in _segments():
        if row["cpid"] in pids and not row["nattch"]:
            _remove(row["shmid"])


def _segments() -> list[dict[str, int]]:
    """All System V segments as Linux tells them; none on other systems."""
    try:
        header, *lines = Path("/proc/sysvipc/shm").read_text().splitlines()
    except OSError:
        return []
    return [dict(zip(header.split(), map(int, line.split()), strict=False)) for line in lines]


def _remove(segment: int) -> None:
    with contextlib.suppress(OSError, AttributeError):  # a system without System V shared memory
        ctypes.CDLL(None).shmctl(segment, _IPC_RMID, None)
