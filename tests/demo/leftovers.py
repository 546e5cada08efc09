"""What a process has left on the machine, as the kernel tells."""

from __future__ import annotations

from pathlib import Path

from qmon.demo.processes import state


def alive(pid: int) -> bool:
    """Whether a process lives; one that ended and was not waited for does not."""
    return state(pid) not in ("", "Z", "X")


def shared_memory() -> set[int]:
    """The ids of all System V segments on the machine."""
    _, *lines = Path("/proc/sysvipc/shm").read_text().splitlines()
    return {int(line.split()[1]) for line in lines}


def orphaned() -> set[int]:
    """The ids of the System V segments whose maker has ended and that no process uses.

    Other servers come and go on the machine meanwhile, those of tests that run beside this one among them: a new
    segment alone proves nothing.
    """
    header, *lines = Path("/proc/sysvipc/shm").read_text().splitlines()
    rows = [dict(zip(header.split(), map(int, line.split()), strict=True)) for line in lines]
    return {row["shmid"] for row in rows if row["nattch"] == 0 and not alive(row["cpid"])}


def segment_of(data: Path) -> int:
    """The id of the segment that a running server has noted in its data folder."""
    return int((data / "postmaster.pid").read_text().splitlines()[6].split()[1])
