"""What a process has left on the machine, as the kernel tells."""

from __future__ import annotations

from pathlib import Path


def state_of(pid: int) -> str:
    """The letter of a process's state: R, S, T (stopped), Z (ended, not waited for); empty where there is none."""
    try:
        line = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return line.rpartition(")")[2].split()[0]


def alive(pid: int) -> bool:
    """Whether a process lives; one that ended and was not waited for does not."""
    return state_of(pid) not in ("", "Z", "X")


def shared_memory() -> set[int]:
    """The ids of all System V segments on the machine."""
    _, *lines = Path("/proc/sysvipc/shm").read_text().splitlines()
    return {int(line.split()[1]) for line in lines}


def segment_of(data: Path) -> int:
    """The id of the segment that a running server has noted in its data folder."""
    return int((data / "postmaster.pid").read_text().splitlines()[6].split()[1])
