"""A small process that cleans up if our process cannot: after kill -9, a closed terminal, or a crash.

The guardian reads from a pipe which objects to remove, and waits for the end of its parent. It has its own session, so
that it receives no signals for the terminal's programs. It imports only the standard library, and ends when its work is
done.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from qmon.demo import cleanup
from qmon.redact import environment_without_secrets

if sys.platform == "win32":
    raise ImportError("only on POSIX systems")

_BOOT = "import sys; sys.path.insert(0, sys.argv[1]); from qmon.demo.guardian import main; main()"
_PACKAGES = Path(__file__).parents[2]
_CHECK_EVERY_S = 0.5  # notices the parent's end even if a forked child has the pipe open


class Guardian:
    """The parent's side of the pipe. Not thread-safe. ``close`` may be called twice.

    ``unregister_group`` undoes a registration. After ``close``, the guardian does not clean up.
    """

    def __init__(self) -> None:
        """Start the guardian. Raises ``OSError`` if no process can be started."""
        self._process: subprocess.Popen[bytes] = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _BOOT, str(_PACKAGES), str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
            env=environment_without_secrets(os.environ),
        )

    @property
    def pid(self) -> int:
        """The process id of the guardian."""
        return self._process.pid

    def register_folder(self, folder: Path) -> None:
        """Register a folder to remove when our process ends."""
        self._send("folder", str(folder))

    def register_server(self, mark: str, data: Path) -> None:
        """Register a server to end when our process ends. Its shared memory is also removed."""
        self._send("server", mark, str(data))

    def register_group(self, group: int) -> None:
        """Register a process group to kill when our process ends. Unregister the group before you wait for its leader.

        Raises ``ValueError`` for 0 (our own group), and for 1 and negative numbers (all processes).
        """
        if group <= 1:
            raise ValueError(f"{group} is not the process group of a helper")
        self._send("group", str(group))

    def unregister_group(self, group: int) -> None:
        """Unregister a process group that has ended, because its number may be reused."""
        self._send("forget", str(group))

    def close(self) -> None:
        """End the guardian without cleaning up. Return when it has ended."""
        if self._process.poll() is None:
            self._send("done")
        pipe = self._pipe
        if not pipe.closed:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _pipe(self) -> IO[bytes]:
        if self._process.stdin is None:
            raise ValueError("the guardian was started without a pipe")
        return self._process.stdin

    def _send(self, *words: str) -> None:
        with contextlib.suppress(BrokenPipeError):  # the guardian was killed; we still clean up ourselves
            self._pipe.write(json.dumps(words).encode() + b"\n")
            self._pipe.flush()


class _CleanupList:
    """The processes, servers and folders to clean up."""

    def __init__(self) -> None:
        self.folders: list[Path] = []
        self.servers: list[tuple[str, Path]] = []
        self.groups: set[int] = set()
        self.done = False

    def handle_line(self, line: bytes) -> None:
        match json.loads(line):
            case ["folder", path]:
                self.folders.append(Path(path))
            case ["server", mark, data]:
                self.servers.append((mark, Path(data)))
            case ["group", group]:
                self.groups.add(int(group))
            case ["forget", group]:
                self.groups.discard(int(group))
            case ["done"]:
                self.done = True

    def clean_up(self) -> None:
        for group in self.groups:
            cleanup.end_group(group)
        for mark, data in self.servers:
            cleanup.end_server(mark, data)
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)


def _read_registrations(cleanups: _CleanupList, parent: int) -> None:
    """Read registrations until the parent closes the guardian or ends."""
    os.set_blocking(0, False)
    received = b""
    while not cleanups.done:
        ready, _, _ = select.select([0], [], [], _CHECK_EVERY_S)
        gone = os.getppid() != parent  # check this before the last read, so that the last registrations are not lost
        if ready or gone:
            with contextlib.suppress(BlockingIOError):
                while piece := os.read(0, 65536):
                    received += piece
                gone = True  # the pipe was closed
            *lines, received = received.split(b"\n")
            for line in lines:
                cleanups.handle_line(line)
        if gone:
            return


def main() -> None:
    """Run the guardian. Arguments: the path of qmon's packages, and the process id of the parent."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    cleanups = _CleanupList()
    _read_registrations(cleanups, int(sys.argv[2]))
    if not cleanups.done:
        cleanups.clean_up()
