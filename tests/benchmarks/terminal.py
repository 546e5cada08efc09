"""A program in its own pseudo terminal of a given size. The output is read and searched."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import psutil


class InTerminal:
    """Starts a command in a terminal and reads its output; hangs up at the end."""

    def __init__(self, command: Sequence[str], *, columns: int = 120, lines: int = 40) -> None:
        self._command = list(command)
        self._size = (lines, columns)
        self._seen = bytearray()
        self._marks: dict[bytes, float] = {}
        self._waiting: dict[bytes, threading.Event] = {}

    def __enter__(self) -> Self:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *self._size, 0, 0))
        environment = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            self._command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
        )
        os.close(theirs)
        self._ours = ours
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.process = psutil.Process(self._process.pid)
        return self

    def wait_for(self, mark: str, timeout_s: float = 60.0) -> float:
        """Return the seconds from the start until this text was printed; raises ``TimeoutError``."""
        key = mark.encode()
        event = self._waiting.setdefault(key, threading.Event())
        if key in self._seen:
            self._marks.setdefault(key, time.perf_counter())
            event.set()
        if not event.wait(timeout_s):
            raise TimeoutError(f"{mark!r} was not painted within {timeout_s} s: {bytes(self._seen[-2000:])!r}")
        return self._marks[key] - self.started

    def send(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._ours, 65536)
            except OSError:
                return
            if not data:
                return
            now = time.perf_counter()
            self._seen += data
            for key, event in list(self._waiting.items()):
                if not event.is_set() and key in self._seen:
                    self._marks[key] = now
                    event.set()
            del self._seen[:-200_000]

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.send_signal(signal.SIGHUP)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._ours)
