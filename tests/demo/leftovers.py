"""Resources that a process has left on the machine, as reported by the kernel."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from qmon.demo.processes import process_state


def alive(pid: int) -> bool:
    """Return whether a process is alive; one that ended and was not waited for is not."""
    return process_state(pid) not in ("", "Z", "X")


def shared_memory() -> set[int]:
    """Return the ids of all System V segments on the machine."""
    _, *lines = Path("/proc/sysvipc/shm").read_text().splitlines()
    return {int(line.split()[1]) for line in lines}


def segments_of(makers: Collection[int]) -> set[int]:
    """Return the ids of the System V segments that these processes created, running or not."""
    header, *lines = Path("/proc/sysvipc/shm").read_text().splitlines()
    rows = [dict(zip(header.split(), map(int, line.split()), strict=True)) for line in lines]
    return {row["shmid"] for row in rows if row["cpid"] in makers}


def segment_of(data: Path) -> int:
    """Return the id of the segment that a running server has noted in its data folder."""
    return int((data / "postmaster.pid").read_text().splitlines()[6].split()[1])
