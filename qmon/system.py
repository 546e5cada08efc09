"""What differs between operating systems, with a twin for each: files, locks, signals, processes, shared memory."""

from __future__ import annotations

import io
import mmap
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from qmon.errors import BadInput

_PATIENCE_S: Final = 5.0
_RETRY_S: Final = 0.05

# For each file that is opened to be written: a link is not followed, and line ends stay as they are.
OPEN_FLAGS: Final[int] = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
# Have what was written to an open file on the disk when this returns. Raises `OSError`.
sync_data: Final[Callable[[int], None]] = getattr(os, "fdatasync", os.fsync)

if sys.platform == "win32":
    import msvcrt

    # The terminal is closed.
    HANGUP: Final = signal.SIGBREAK
    # Ends a process at whatever it is doing.
    KILL: Final = signal.SIGTERM
    # `creationflags` of a process that the terminal's signals do not reach; `start_new_session` elsewhere.
    NEW_GROUP: Final = subprocess.CREATE_NEW_PROCESS_GROUP
    # An open file can be neither renamed nor removed.
    HELD_WHILE_OPEN: Final = True
    _LOCKED_BYTE: Final = 2**40  # nobody else may read a locked byte: one that no file has

    def lock(file: int, *, wait: bool = True) -> bool:
        """Lock an open file until it is closed; whether it was locked, where that is not waited for."""
        at = os.lseek(file, 0, os.SEEK_CUR)
        os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
        try:
            while True:
                with suppress(PermissionError):
                    msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
                    return True
                if not wait:
                    return False
                time.sleep(_RETRY_S)
        finally:
            os.lseek(file, at, os.SEEK_SET)

    def rename_new(path: Path, to: Path) -> None:
        """Rename a closed file, unless the new name is taken. Raises ``OSError``."""
        _patiently(lambda: path.rename(to))  # refuses a name that is taken

    def sync_folder(path: Path) -> None:
        """Nothing: names are as safe here as the files they belong to."""

    def kill_all(process: subprocess.Popen[bytes]) -> None:
        """End a process and all that it has started."""
        command = ["taskkill", "/F", "/T", "/PID", str(process.pid)]  # from Windows' own folder
        with suppress(OSError):
            subprocess.run(command, check=False, capture_output=True)
        process.kill()

    def shared_memory(size: int, number: int | None = None) -> tuple[int, mmap.mmap]:
        """Memory that processes share, new or by its number; it is gone with the last process that has it."""
        number = secrets.randbits(62) if number is None else number
        return number, mmap.mmap(-1, size, tagname=f"qmon-{number}")

    def release_memory(number: int) -> None:
        """Nothing: it goes by itself."""

    def inherited(number: int) -> tuple[int, ...]:
        """The descriptors that a process has to inherit for the memory of that number."""
        return ()

    def open_files() -> int:
        """The number of files and sockets that this process may open; Windows has no such limit for sockets."""
        return sys.maxsize

else:
    import fcntl
    import resource

    HANGUP: Final = signal.SIGHUP
    KILL: Final = signal.SIGKILL
    NEW_GROUP: Final = 0
    HELD_WHILE_OPEN: Final = False

    def lock(file: int, *, wait: bool = True) -> bool:
        """Lock an open file until it is closed; whether it was locked, where that is not waited for."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True

    def rename_new(path: Path, to: Path) -> None:
        """Rename a file, unless the new name is taken. Raises ``OSError``."""
        os.link(path, to)
        path.unlink()

    def sync_folder(path: Path) -> None:
        """Have the names in a folder on the disk when this returns. Raises ``OSError``."""
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def kill_all(process: subprocess.Popen[bytes]) -> None:
        """End a process that has a session of its own, and all of that session's processes."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            process.kill()

    def shared_memory(size: int, number: int | None = None) -> tuple[int, mmap.mmap]:
        """Memory that processes share, new or by its number: the descriptor of a file without a name."""
        if number is None:
            with tempfile.TemporaryFile(prefix="qmon-counts-") as file:
                file.truncate(size)
                number = os.dup(file.fileno())
        return number, mmap.mmap(number, size)

    def release_memory(number: int) -> None:
        """Let go of what the number stands for, once the memory is closed."""
        os.close(number)

    def inherited(number: int) -> tuple[int, ...]:
        """The descriptors that a process has to inherit for the memory of that number."""
        return (number,)

    def open_files() -> int:
        """The number of files and sockets that this process may open."""
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return sys.maxsize if most == resource.RLIM_INFINITY else most


def read_text(path: Path, most: int) -> str:
    """The text of a UTF-8 file of ``most`` bytes at most, as a file of ours is.

    Raises ``BadInput`` if it is larger, ``OSError`` and ``UnicodeError``.
    """
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise BadInput(f"{path}: is larger than {most // 2**20} MB; was another file meant?")
    return io.TextIOWrapper(io.BytesIO(data), "utf-8").read()  # with the line ends of any system


def rename(path: Path, to: Path) -> None:
    """Rename a file, over one that is there. Raises ``OSError``."""
    _patiently(lambda: path.replace(to))


def remove(path: Path) -> None:
    """Remove a file that may be gone already. Raises ``OSError``."""
    _patiently(lambda: path.unlink(missing_ok=True))


def _patiently(work: Callable[[], object]) -> None:
    """Do something to a file; where others' open files are in the way, again for some seconds."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            work()
            return
        except PermissionError:
            if not HELD_WHILE_OPEN or time.monotonic() > until:
                raise
        time.sleep(_RETRY_S)


def here(*, linux: str, macos: str, windows: str) -> str:
    """The one that is about this operating system."""
    return {"win32": windows, "darwin": macos}.get(sys.platform, linux)


def adding(extra: str) -> str:
    """The command that adds what an extra needs to this environment, by pipx or uv where one of them made it."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        asked = [each.split(";") for each in requires("qmon-sql") or () if f"extra == '{extra}'" in each]
    except PackageNotFoundError:
        return f"in a clone of qmon pip install '.[{extra}]'"
    made = Path(sys.prefix)
    if (made / "pipx_metadata.json").exists():
        tool = f'pipx inject "{made.name}"'
    elif (made / "uv-receipt.toml").exists():
        tool = f'uv pip install --python "{made}"'
    else:
        tool = "pip install"
    return " ".join([tool, *(f'"{package.strip()}"' for package, _ in asked)])


def need_posix(what: str) -> None:
    """Raise ``BadInput`` on Windows."""
    if sys.platform == "win32":
        raise BadInput(f"{what} needs Linux or macOS; every other command of qmon runs on Windows, too")
