"""Ends a server and removes its processes and shared memory. Uses only the standard library."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

from qmon.demo import processes

if sys.platform == "win32":
    raise ImportError("only on POSIX systems")

_IPC_RMID = 0
_SERVER_S = 10.0
_GROUP_S = 2.0
_SHMEM_LINE = 6  # the line of postmaster.pid (the first is 0) with the key and id of the server's System V segment


def end_server(mark: str, data: Path) -> None:
    """End every process of the server, and remove its shared memory.

    The postmaster first gets SIGQUIT, so that it removes its own shared memory. It then makes no checkpoint, which is
    not needed because the data will be deleted. Processes that are still running after ten seconds are killed.
    """
    postmaster = postmaster_pid(data)
    if postmaster in processes.marked_pids(mark):
        processes.send_signal({postmaster}, signal.SIGQUIT)
        processes.thaw_marked(mark)
        if processes.wait_marked_gone(mark, _SERVER_S):
            return
    processes.freeze_marked(mark)  # so that no process starts while other processes are being killed
    makers = processes.marked_pids(mark)
    processes.kill_marked(mark)
    if processes.wait_marked_gone(mark, _SERVER_S):
        remove_shared_memory(data)
        _remove_segments_of(makers)


def end_group(group: int) -> None:
    """Kill a process group (SIGKILL), wait until it has ended, and remove the shared memory that it created.

    Does nothing if the group has ended or is not ours.
    """
    processes.signal_group(group, signal.SIGSTOP)
    makers = processes.group_pids(group)
    processes.signal_group(group, signal.SIGKILL)
    if processes.wait_group_gone(group, _GROUP_S):
        _remove_segments_of(makers)


def postmaster_pid(data: Path) -> int:
    """Return the process id in ``postmaster.pid``, or -1."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int((data / "postmaster.pid").read_text().splitlines()[0])
    return -1


def remove_shared_memory(data: Path) -> None:
    """Remove the shared memory of a killed server, which is named in ``postmaster.pid``. The kernel would keep it.

    Call this only if no process of the server is alive. Does nothing if the server has already removed the segment.
    Also does nothing if the segment and the data belong to different accounts, so that root cannot be tricked into
    removing the segment of another program.
    """
    try:
        segment = int((data / "postmaster.pid").read_text().splitlines()[_SHMEM_LINE].split()[1])
        owner = data.stat().st_uid
    except (OSError, ValueError, IndexError):
        return
    if os.geteuid() != 0 or any(row["shmid"] == segment and row["uid"] == owner for row in _shared_segments()):
        _remove_segment(segment)


def _remove_segments_of(pids: set[int]) -> None:
    """Remove unused segments that these processes created. The processes have ended.

    A server creates its segment before it writes the segment's id to a file. If a server is killed between these two
    steps (for example, a server that initdb runs), there is no record of its segment.
    """
    for row in _shared_segments():
        if row["cpid"] in pids and not row["nattch"]:
            _remove_segment(row["shmid"])


def _shared_segments() -> list[dict[str, int]]:
    """Return all System V segments on Linux. On other systems, return none."""
    try:
        header, *lines = Path("/proc/sysvipc/shm").read_text().splitlines()
    except OSError:
        return []
    return [dict(zip(header.split(), map(int, line.split()), strict=False)) for line in lines]


def _remove_segment(segment: int) -> None:
    with contextlib.suppress(OSError, AttributeError):  # a system without System V shared memory
        ctypes.CDLL(None).shmctl(segment, _IPC_RMID, None)
