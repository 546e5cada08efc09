"""The log: a file private to the user, in the folder for state, that never disturbs the program that writes it.

Modules log by ``logging.getLogger(__name__)``. Whatever they log, no line holds a password, a literal of a statement
or a payload: servers and Python quote values in their errors, and what is quoted is covered unless it is a name.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import stat
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import platformdirs

from qmon import files as private
from qmon import system
from qmon.errors import BadInput, QmonError
from qmon.redact import hide_secrets, without_values

LEVELS: Final = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
OFF: Final = "off"
MAX_BYTES: Final = 1_000_000
# So many full files are kept beside the one that is written: `qmon.log.1` is the newest of them.
KEPT: Final = 3

Cover = Callable[[str], str]

# Another process has moved the file, or has it open: the next line tries again.
_NOT_NOW: Final = (FileNotFoundError, PermissionError) if system.HELD_WHILE_OPEN else (FileNotFoundError,)
_LONGEST: Final = 2_000
_LONGEST_RAW: Final = 20_000
_SEEN: Final = 100
_logger: Final = logging.getLogger("qmon")
_logger.addHandler(logging.NullHandler())  # else Python prints warnings on the screen of a program that keeps no log
_lock: Final = threading.Lock()
# The defects that were logged with their traceback already.
_seen: Final[set[tuple[object, ...]]] = set()


def default_path() -> Path:
    """``qmon.log`` in the user's folder for state (``~/.local/state/qmon`` on Linux)."""
    return platformdirs.user_state_path("qmon") / "qmon.log"


def parse_level(text: str) -> int | None:
    """The level of that name, ``None`` for ``off``. Raises ``BadInput``."""
    name = text.strip().lower()
    if name != OFF and name not in LEVELS:
        from qmon.model.config_reader import nearest

        raise BadInput(f"{text!r} is no log level{nearest(name, (*LEVELS, OFF))}")
    return LEVELS.get(name)


# Python's own errors that quote names and types, never values.
_ABOUT_CODE: Final = (AttributeError, ImportError, ModuleNotFoundError, NameError, TypeError, UnboundLocalError)


class Formatter(logging.Formatter):
    """One line for each record, and its traceback below; nothing secret, nothing that could steer a terminal."""

    def __init__(self) -> None:
        super().__init__()
        self.covers: list[Cover] = [hide_secrets]

    def format(self, record: logging.LogRecord) -> str:
        """``2026-11-22T14:05:34.123Z 4711 WARNING monitor.poller [qmon-poll]: …``, UTC."""
        when = f"{self.formatTime(record, '%Y-%m-%dT%H:%M:%S')}.{int(record.msecs):03d}Z"
        name = record.name.removeprefix("qmon.")
        words = without_values(_one_line(self.without_secrets(record.getMessage())))[:_LONGEST]
        head = f"{when} {record.process} {record.levelname} {name} [{record.threadName}]: {words}"
        problem = record.exc_info[1] if record.exc_info else None
        return head if problem is None else "\n".join([head, *self.traceback(problem)])

    @staticmethod
    def converter(seconds: float | None) -> time.struct_time:
        """Times are UTC."""
        return time.gmtime(seconds)

    def words(self, problem: BaseException) -> str:
        """What an error says, on one line, with nothing secret and no values in it."""
        words = _one_line(self.without_secrets(str(problem)))
        return (words if type(problem) in _ABOUT_CODE else without_values(words))[:_LONGEST]

    def without_secrets(self, text: str) -> str:
        """The text with passwords covered, and what the configuration says."""
        text = text[:_LONGEST_RAW]
        for cover in self.covers:
            text = cover(text)
        return text

    def traceback(self, problem: BaseException) -> list[str]:
        """The lines of the traceback of an error and of what led to it."""
        return [f"  {_clean(line)}" for line in self._chain(problem, set())]

    def _chain(self, problem: BaseException, seen: set[int]) -> Iterator[str]:
        """The lines of a traceback, those of what it came from first. No variable and no note of it is shown."""
        seen.add(id(problem))
        earlier = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)
        if earlier is not None and id(earlier) not in seen:
            yield from self._chain(earlier, seen)
            yield "which led to:"
        for frame in traceback.StackSummary.extract(traceback.walk_tb(problem.__traceback__)).format():
            yield from self.without_secrets(frame).splitlines()
        yield f"{type(problem).__qualname__}: {self.words(problem)}"
        for each in problem.exceptions if isinstance(problem, BaseExceptionGroup) else ():
            yield from self._chain(each, seen)


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def _one_line(text: str) -> str:
    return _clean(" ".join(text.split()))


# ----------------------------------------------------------------------------------------------------- the file


class FileHandler(logging.Handler):
    """Appends to a file that several processes write and rotate; opened for each line, since there are few.

    Nothing is raised and nobody is waited for: what cannot be written is lost, and ``problem`` says why.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        # Why the last line was not written; empty where it was.
        self.problem = ""
        self._write(b"")

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        try:
            self._write((self.format(record) + "\n").encode("utf-8", "backslashreplace"))
        except Exception as problem:
            self.problem = type(problem).__name__

    def _write(self, line: bytes) -> None:
        try:
            self._append(line)
            self.problem = ""
        except OSError as problem:
            self.problem = problem.strerror or str(problem)

    def _append(self, line: bytes) -> None:
        moved = False
        while True:
            file = self._open()
            try:
                found = os.fstat(file)
                full = stat.S_ISREG(found.st_mode) and found.st_size + len(line) > MAX_BYTES
                if moved or not full or not system.lock(file, wait=False):
                    os.write(file, line)
                    return
                if not system.HELD_WHILE_OPEN:
                    self._rotate(found)
            finally:
                os.close(file)
            if system.HELD_WHILE_OPEN:
                self._rotate(found)
            moved = True

    def _open(self) -> int:
        # A pipe that nobody reads would hold us up.
        flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)
        with contextlib.suppress(FileNotFoundError):
            return private.open_private(self.path, flags)
        private.make_folder(self.path.parent)
        return private.open_private(self.path, flags)

    def _rotate(self, full: os.stat_result) -> None:
        """Move the full file aside, unless another process has done so."""
        with contextlib.suppress(*_NOT_NOW):
            if os.path.samestat(full, self.path.stat()):
                for number in range(KEPT, 0, -1):
                    with contextlib.suppress(FileNotFoundError):
                        rotated(self.path, number - 1).replace(rotated(self.path, number))


def rotated(path: Path, number: int) -> Path:
    """The file with the log before the last ``number`` rotations; with 0 the one that is written."""
    return path.with_name(f"{path.name}.{number}") if number else path


# -------------------------------------------------------------------------------------------------- for the program


@contextlib.contextmanager
def written(path: Path | None, level: int | None) -> Iterator[None]:
    """Keep a log inside: what qmon logs from ``level`` on, warnings of others, and errors that end a thread.

    ``path``: without one the usual place. ``level`` ``None``: no log. Passwords are covered, and what
    ``also_cover`` was given. Never raises; ``problem`` says what went wrong.
    """
    if level is None:
        yield
        return
    handler = FileHandler(path or default_path())
    handler.setFormatter(Formatter())
    root = logging.getLogger()
    before, hook = _logger.level, threading.excepthook

    def ended(found: threading.ExceptHookArgs) -> None:
        if found.exc_value is not None and found.exc_type is not SystemExit:
            _logger.error("a thread has ended", exc_info=found.exc_value)
        hook(found)

    root.addHandler(handler)
    _logger.setLevel(level)
    threading.excepthook = ended
    try:
        yield
    finally:
        threading.excepthook = hook
        _logger.setLevel(before)
        root.removeHandler(handler)


def also_cover(cover: Cover) -> None:
    """Cover more from now on, such as what the configuration says."""
    _formatter().covers.append(cover)


def place() -> str:
    """Where the log is, for messages: empty where none is kept."""
    handler = _handler()
    if handler is None:
        return ""
    return str(handler.path) if not handler.problem else f"no log: {handler.path}: {handler.problem}"


def problem() -> str:
    """Why the last line was not written; empty where it was, or where no log is kept."""
    handler = _handler()
    return handler.problem if handler is not None else ""


def files() -> list[Path]:
    """The files of the log that are there, the newest first."""
    handler = _handler()
    path = handler.path if handler is not None else default_path()
    return [file for number in range(KEPT + 1) if (file := rotated(path, number)).is_file()]


def report(problem: BaseException, logger: logging.Logger = _logger, *, once: bool = False) -> str:
    """Log a defect of qmon with its traceback, the same one again without; returns the line for the operator.

    ``once``: do not log the same defect again. Use it for what happens in every poll.
    """
    last = traceback.extract_tb(problem.__traceback__)[-1:]
    key = (type(problem).__qualname__, *((frame.filename, frame.lineno) for frame in last))
    with _lock:
        again = key in _seen
        if len(_seen) < _SEEN:
            _seen.add(key)
    if not (again and once):
        logger.error("something in qmon went wrong%s", " again" if again else "", exc_info=None if again else problem)
    words = _formatter().words(problem)
    where = place()
    text = f"something in qmon went wrong: {type(problem).__name__}: {words}; please report it"
    return f"{text} with {where}" if where else text


def traceback_of(problem: BaseException) -> str:
    """The traceback of an error as it is logged."""
    return "\n".join(_formatter().traceback(problem))


def reported(problem: QmonError) -> None:
    """Log an error that is shown to the operator and ends a command or an action."""
    _logger.log(logging.INFO if isinstance(problem, BadInput) else logging.WARNING, "%s", problem)


class Changes:
    """Logs what fails as it begins to fail, fails otherwise, or works again; not each time."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._before: dict[str, str] = {}

    def see(self, failing: Mapping[str, str]) -> None:
        """All that fails now, with the reasons; one that differs in its numbers alone is the same."""
        now = {what: re.sub(r"\d+", "#", why) for what, why in failing.items()}
        for what, why in failing.items():
            if self._before.get(what) != now[what]:
                self._logger.warning("%s: %s", what, why)
        for what in self._before:
            if what not in now:
                self._logger.info("%s: works again", what)
        self._before = now


def _handler() -> FileHandler | None:
    return next((each for each in logging.getLogger().handlers if isinstance(each, FileHandler)), None)


def _formatter() -> Formatter:
    handler = _handler()
    found = handler.formatter if handler is not None else None
    return found if isinstance(found, Formatter) else Formatter()
