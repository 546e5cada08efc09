"""Keep temporary files of the tests in memory if there is room: creating a database takes a tenth of the time.

On disk (ext4) the 300 files of ``CREATE DATABASE`` cost 0.05 to 0.25 s of processor time, more if many files were
removed in the minute before. The results are the same: tests kill servers, not machines.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

import pytest

_DRIVERS: Final = Path("/etc/odbcinst.ini")
_MEMORY: Final = Path("/dev/shm")
# Ample: tests/contract and tests/cli, four at a time, used up to 0.9 GB of it.
_NEEDED_BYTES: Final = 6 * 2**30


def keep_in_memory() -> None:
    """Use memory in this process and its children, unless ``TMPDIR`` is set or memory is short."""
    if "TMPDIR" not in os.environ and _has_room():
        os.environ["TMPDIR"] = str(_MEMORY)
        tempfile.tempdir = None  # the next caller checks again


def folder_for_all() -> tempfile.TemporaryDirectory[str]:
    """Return a temporary folder that every account may enter, with a path short enough for sockets."""
    made = tempfile.TemporaryDirectory(
        prefix="qmon-test-", dir=_MEMORY if tempfile.gettempdir() == str(_MEMORY) else "/tmp"
    )
    Path(made.name).chmod(0o755)
    return made


def quiet_driver(cache: pytest.Cache) -> None:
    """Stop psqlODBC from writing ``/tmp/psqlodbc_….log`` when the last connection closes.

    It writes one if odbcinst.ini has ``CommLog=1``, as on Debian, so tests read a copy without it. qmon handles this
    for its own connections, but not for the tests' raw ones, or for processes that tests kill.
    """
    if "ODBCSYSINI" not in os.environ and _DRIVERS.is_file():
        folder = cache.mkdir("odbc")
        text = _DRIVERS.read_text(encoding="utf-8", errors="replace").replace("CommLog=1", "CommLog=0")
        (folder / _DRIVERS.name).write_text(text, encoding="utf-8")
        os.environ["ODBCSYSINI"] = str(folder)


def _has_room() -> bool:
    try:
        found = os.statvfs(_MEMORY)
        free = found.f_bavail * found.f_frsize
        available = next(
            int(line.split()[1]) * 1024
            for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
            if line.startswith("MemAvailable:")
        )
    except (OSError, StopIteration, AttributeError):  # Windows has no statvfs
        return False
    programs_run = not found.f_flag & os.ST_NOEXEC  # some tests run a copy of PostgreSQL's programs
    return programs_run and os.access(_MEMORY, os.W_OK) and free >= _NEEDED_BYTES and available >= _NEEDED_BYTES
