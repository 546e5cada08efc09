"""Differences between operating systems: files, locks, signals, processes and shared memory."""

from __future__ import annotations

import io
import math
import mmap
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from qmon.errors import BadInput
from qmon.texts import Text


class SystemText(Text):
    """What this operating system or a file does not allow."""

    TOO_LARGE = "{path}: is larger than {most_mb} MB; did you mean another file?"
    FROM_CLONE = "in a clone of qmon pip install '.[{extra}]'"
    NEEDS_POSIX = "{feature} needs Linux or macOS; every other command of qmon runs on Windows, too"


_PATIENCE_S: Final = 5.0
_RETRY_S: Final = 0.05

# If a signal arrives just when a wait begins, it is handled within this many seconds.
_SIGNAL_UNNOTICED_S: Final = 1.0

# Flags for every file opened for writing: do not follow links and do not translate line ends.
OPEN_FLAGS: Final[int] = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

# Flush the data of an open file to the disk. Raises `OSError`.
sync_data: Final[Callable[[int], None]] = getattr(os, "fdatasync", os.fsync)

if sys.platform == "win32":
    import msvcrt

    # The signal that is sent when the terminal is closed.
    HANGUP: Final = signal.SIGBREAK
    # The signal that ends a process immediately.
    KILL: Final = signal.SIGTERM
    # `creationflags` of a process that does not get the terminal's signals. Other systems use `start_new_session`.
    NEW_GROUP: Final = subprocess.CREATE_NEW_PROCESS_GROUP
    # True if an open file can be neither renamed nor removed.
    HELD_WHILE_OPEN: Final = True
    _LOCKED_BYTE: Final = 2**40  # locked bytes cannot be read, so this byte is beyond the end of any file

    def lock_file(file: int, *, wait: bool = True) -> bool:
        """Lock an open file until it is closed.

        Returns ``False`` if ``wait`` is false and another process has the lock.
        """
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
        """Rename a closed file, unless the new name exists. Raises ``OSError``."""
        _retry_while_held(lambda: path.rename(to))  # fails if the name exists

    def sync_folder(path: Path) -> None:
        """Do nothing, because Windows writes names to the disk as safely as the files."""

    def kill_with_descendants(process: subprocess.Popen[bytes]) -> None:
        """Kill a process and its descendants."""
        command = ["taskkill", "/F", "/T", "/PID", str(process.pid)]  # taskkill is in the system folder of Windows
        with suppress(OSError):
            subprocess.run(command, check=False, capture_output=True)
        process.kill()

    def shared_memory(size: int, number: int | None = None) -> tuple[int, mmap.mmap]:
        """Return memory that processes can share, and the number of the memory. Without ``number``, create new memory.

        ``size`` is in bytes. The memory is freed when the last process closes it.
        """
        number = secrets.randbits(62) if number is None else number
        return number, mmap.mmap(-1, size, tagname=f"qmon-{number}")

    def release_memory(number: int) -> None:
        """Do nothing, because Windows frees the memory."""

    def inherited_descriptors(number: int) -> tuple[int, ...]:
        """Return the file descriptors that a process must inherit to use the memory with this number."""
        return ()

    def max_open_files() -> int:
        """Return how many files and sockets this process may open. Windows has no such limit for sockets."""
        return sys.maxsize

else:
    import fcntl
    import resource

    HANGUP: Final = signal.SIGHUP
    KILL: Final = signal.SIGKILL
    NEW_GROUP: Final = 0
    HELD_WHILE_OPEN: Final = False

    def lock_file(file: int, *, wait: bool = True) -> bool:
        """Lock an open file until it is closed.

        Returns ``False`` if ``wait`` is false and another process has the lock.
        """
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True

    def rename_new(path: Path, to: Path) -> None:
        """Rename a file, unless the new name exists. Raises ``OSError``."""
        os.link(path, to)
        path.unlink()

    def sync_folder(path: Path) -> None:
        """Flush the names in a folder to the disk. Raises ``OSError``."""
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def kill_with_descendants(process: subprocess.Popen[bytes]) -> None:
        """Kill all processes of the session that ``process`` leads."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            process.kill()

    def shared_memory(size: int, number: int | None = None) -> tuple[int, mmap.mmap]:
        """Return memory that processes can share, and its number. The number is the descriptor of an unnamed file.

        ``size`` is in bytes. ``number``: number of existing memory; ``None`` creates new memory.
        """
        if number is None:
            with tempfile.TemporaryFile(prefix="qmon-counts-") as file:
                file.truncate(size)
                number = os.dup(file.fileno())
        return number, mmap.mmap(number, size)

    def release_memory(number: int) -> None:
        """Close the descriptor. The memory itself must be closed first."""
        os.close(number)

    def inherited_descriptors(number: int) -> tuple[int, ...]:
        """Return the file descriptors that a process must inherit to use the memory with this number."""
        return (number,)

    def max_open_files() -> int:
        """Return how many files and sockets this process may open."""
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return sys.maxsize if most == resource.RLIM_INFINITY else most


def read_text(path: Path, max_bytes: int) -> str:
    """Return the text of a UTF-8 file of at most ``max_bytes`` bytes.

    Raises ``BadInput`` if the file is larger. Raises ``OSError`` or ``UnicodeError`` if it cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise BadInput(SystemText.TOO_LARGE.render(path=path, most_mb=max_bytes // 2**20))
    return io.TextIOWrapper(io.BytesIO(data), "utf-8").read()  # this accepts the line ends of all systems


def rename_over(path: Path, to: Path) -> None:
    """Rename a file. An existing file with the new name is replaced. Raises ``OSError``."""
    _retry_while_held(lambda: path.replace(to))


def remove_file(path: Path) -> None:
    """Remove a file if it exists. Raises ``OSError``."""
    _retry_while_held(lambda: path.unlink(missing_ok=True))


def _retry_while_held(work: Callable[[], object]) -> None:
    """Run a file operation. Retry for some seconds if another process has the file open (Windows)."""
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            work()
            return
        except PermissionError:
            if not HELD_WHILE_OPEN or time.monotonic() > until:
                raise
        time.sleep(_RETRY_S)


def wait_for_event(event: threading.Event, seconds: float | None = None) -> bool:
    """Wait like ``event.wait(seconds)``, but notice every signal within a second.

    Python runs signal handlers on the main thread. If a signal arrives just when the main thread begins to wait, the
    handler of the signal runs only after this wait. Each wait is therefore short.
    """
    until = math.inf if seconds is None else time.monotonic() + seconds
    while not event.wait(min(_SIGNAL_UNNOTICED_S, max(0.0, until - time.monotonic()))):
        if time.monotonic() >= until:
            return False
    return True


def choose_for_system(*, linux: str, macos: str, windows: str) -> str:
    """Return the text for this operating system."""
    return {"win32": windows, "darwin": macos}.get(sys.platform, linux)


def install_command(extra: str) -> str:
    """Return the command that installs an extra into this environment. It uses pipx or uv if they created it."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        asked = [each.split(";") for each in requires("qmon-sql") or () if f"extra == '{extra}'" in each]
    except PackageNotFoundError:
        return SystemText.FROM_CLONE.render(extra=extra)
    made = Path(sys.prefix)
    if (made / "pipx_metadata.json").exists():
        tool = f'pipx inject "{made.name}"'
    elif (made / "uv-receipt.toml").exists():
        tool = f'uv pip install --python "{made}"'
    else:
        tool = "pip install"
    return " ".join([tool, *(f'"{package.strip()}"' for package, _ in asked)])


def require_posix(feature: str) -> None:
    """Raise ``BadInput`` on Windows."""
    if sys.platform == "win32":
        raise BadInput(SystemText.NEEDS_POSIX.render(feature=feature))
