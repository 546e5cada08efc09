"""The alert command: a program of the user's that gets each change of an alert, one after the other.

It is run without a shell, gets one JSON object on standard input, and sees none of qmon's passwords.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, Final

from qmon import system
from qmon.model.text import duration

_LOG: Final = logging.getLogger(__name__)
_WAITING: Final = 200
_LAST_WORDS: Final = 200


def without_passwords(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without the variables that qmon takes passwords from."""
    return {k: v for k, v in environment.items() if k != "PGPASSWORD" and not k.startswith("QMON_PASSWORD")}


class AlertCommand:
    """Runs the command for each event on a thread of its own, in order. All methods return at once but ``close``.

    Args:
        command: the program and its arguments.
        timeout_s: seconds after which it is killed, with all that it has started.
    """

    def __init__(self, command: Sequence[str], timeout_s: float) -> None:
        self._command = tuple(command)
        self._timeout_s = timeout_s
        self._events: queue.Queue[Mapping[str, Any] | None] = queue.Queue(_WAITING)
        self._thread: threading.Thread | None = None
        self._last_problem = ""
        self.on_failure: Callable[[str], object] = lambda _: None
        """Called, on any thread, with one line when the command fails; again after it worked, or failed otherwise."""

    def send(self, event: Mapping[str, Any]) -> None:
        """Have the command run with this event; where it is far behind, the event is dropped, and that is a failure."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="qmon-hook", daemon=True)
            self._thread.start()
        try:
            self._events.put_nowait(event)
        except queue.Full:
            self._report(f"it is {_WAITING} events behind; what comes now is dropped")

    def close(self, patience_s: float) -> None:
        """Wait at most so many seconds until the command has had all events; what runs then is left to itself."""
        if self._thread is not None:
            try:
                self._events.put_nowait(None)
            except queue.Full:
                return
            self._thread.join(patience_s)

    def _work(self) -> None:
        while (event := self._events.get()) is not None:
            self._report(self._run(json.dumps(event).encode() + b"\n"))

    def _report(self, problem: str) -> None:
        if problem and problem != self._last_problem:
            what = problem.partition(": ")[0]  # what the command itself wrote may be secret
            _LOG.warning("the alert command %s: %s", self._command[0], what)
            self.on_failure(f"the alert command {self._command[0]}: {problem}")
        self._last_problem = problem

    def _run(self, data: bytes) -> str:
        """Run it once; returns what went wrong, or an empty text."""
        with tempfile.TemporaryFile() as errors:
            try:
                process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    env=without_passwords(os.environ),
                    start_new_session=True,  # neither Ctrl-C nor the end of the terminal is meant for it
                    creationflags=system.NEW_GROUP,
                )
            except (OSError, ValueError) as problem:
                return f"cannot be run: {getattr(problem, 'strerror', None) or problem}"
            try:
                process.communicate(data, self._timeout_s)
            except subprocess.TimeoutExpired:
                system.kill_all(process)
                process.communicate()
                return f"took longer than {duration(self._timeout_s)} and was killed"
            if process.returncode == 0:
                return ""
            words = _last_words(errors)
            return f"ended with {process.returncode}{': ' if words else ''}{words}"


def _last_words(errors: IO[bytes]) -> str:
    """The end of what it wrote to standard error, on one line."""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - _LAST_WORDS))
    return " ".join(errors.read().decode(errors="replace").split())
