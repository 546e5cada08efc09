"""The log: a private file in the user's state folder. An error while the log is written never affects the program.

Modules log with ``logging.getLogger(__name__)``. No line ever contains a password, a payload or a literal of a
statement. Servers and Python quote values in their errors, so the log hides quoted text, except names.
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
from qmon.redact import hide_secrets, hide_values
from qmon.texts import Text


class LogText(Text):
    """Messages about the log, and about defects of qmon."""

    NO_LEVEL = "{level!r} is not a log level{nearest}"
    DEFECT = "unexpected error in qmon: {kind}: {problem}; please report it"
    DEFECT_WITH_LOG = "{defect} with {log}"


LEVELS: Final = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
OFF: Final = "off"
MAX_BYTES: Final = 1_000_000

# The number of full files kept next to the current file. `qmon.log.1` is the newest full file.
KEPT: Final = 3

Cover = Callable[[str], str]

# The errors that occur if another process has renamed the file or has it open. The next logged line tries again.
_NOT_NOW: Final = (FileNotFoundError, PermissionError) if system.HELD_WHILE_OPEN else (FileNotFoundError,)
_LONGEST: Final = 2_000
_LONGEST_RAW: Final = 20_000
_SEEN: Final = 100
_logger: Final = logging.getLogger("qmon")
_logger.addHandler(logging.NullHandler())  # or Python prints warnings if there is no log
_lock: Final = threading.Lock()

# Bugs that were already logged with their traceback.
_seen: Final[set[tuple[object, ...]]] = set()


def default_path() -> Path:
    """Return ``qmon.log`` in the user's state folder (``~/.local/state/qmon`` on Linux)."""
    return platformdirs.user_state_path("qmon") / "qmon.log"


def parse_level(text: str) -> int | None:
    """Return the log level with this name, or ``None`` for ``off``. Raises ``BadInput``."""
    name = text.strip().lower()
    if name != OFF and name not in LEVELS:
        from qmon.model.config_reader import suggest_nearest

        raise BadInput(LogText.NO_LEVEL.render(level=text, nearest=suggest_nearest(name, (*LEVELS, OFF))))
    return LEVELS.get(name)


# Python's own errors that only quote names and types, never values.
_ABOUT_CODE: Final = (AttributeError, ImportError, ModuleNotFoundError, NameError, TypeError, UnboundLocalError)


class Formatter(logging.Formatter):
    """Formats a record as one line, followed by its traceback. Hides secrets and terminal control characters."""

    def __init__(self) -> None:
        super().__init__()
        self.covers: list[Cover] = [hide_secrets]

    def format(self, record: logging.LogRecord) -> str:
        """Return ``2026-11-22T14:05:34.123Z 4711 WARNING monitor.poller [qmon-poll]: …``, in UTC."""
        when = f"{self.formatTime(record, '%Y-%m-%dT%H:%M:%S')}.{int(record.msecs):03d}Z"
        name = record.name.removeprefix("qmon.")
        words = hide_values(_one_line(self.apply_covers(record.getMessage())))[:_LONGEST]
        head = f"{when} {record.process} {record.levelname} {name} [{record.threadName}]: {words}"
        problem = record.exc_info[1] if record.exc_info else None
        return head if problem is None else "\n".join([head, *self.traceback_lines(problem)])

    @staticmethod
    def converter(seconds: float | None) -> time.struct_time:
        """Use UTC for timestamps."""
        return time.gmtime(seconds)

    def describe_error(self, problem: BaseException) -> str:
        """Return the message of an error on one line, without secrets and values."""
        words = _one_line(self.apply_covers(str(problem)))
        return (words if type(problem) in _ABOUT_CODE else hide_values(words))[:_LONGEST]

    def apply_covers(self, text: str) -> str:
        """Hide passwords and all text that the configuration marks as private."""
        text = text[:_LONGEST_RAW]
        for cover in self.covers:
            text = cover(text)
        return text

    def traceback_lines(self, problem: BaseException) -> list[str]:
        """Return the traceback lines of an error and of the errors that caused it."""
        return [f"  {_escape_unprintable(line)}" for line in self._chain_lines(problem, set())]

    def _chain_lines(self, problem: BaseException, visited: set[int]) -> Iterator[str]:
        """Yield the lines of a traceback, causes first. Values of variables and notes of exceptions are left out."""
        visited.add(id(problem))
        earlier = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)
        if earlier is not None and id(earlier) not in visited:
            yield from self._chain_lines(earlier, visited)
            yield "which led to:"
        for frame in traceback.StackSummary.extract(traceback.walk_tb(problem.__traceback__)).format():
            yield from self.apply_covers(frame).splitlines()
        yield f"{type(problem).__qualname__}: {self.describe_error(problem)}"
        for each in problem.exceptions if isinstance(problem, BaseExceptionGroup) else ():
            yield from self._chain_lines(each, visited)


def _escape_unprintable(text: str) -> str:
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def _one_line(text: str) -> str:
    return _escape_unprintable(" ".join(text.split()))


# ----------------------------------------------------------------------------------------------------- the file


class FileHandler(logging.Handler):
    """Appends lines to a file that several processes write and rotate.

    The file is opened again for each line, because lines are rare. The handler never raises and never waits. A line
    that cannot be written is lost, and ``problem`` contains the reason.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        # Why the last line was not written; empty if it was written.
        self.problem = ""
        self._write(b"")

    def emit(self, record: logging.LogRecord) -> None:
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
            file = self._open_log()
            try:
                found = os.fstat(file)
                full = stat.S_ISREG(found.st_mode) and found.st_size + len(line) > MAX_BYTES
                if moved or not full or not system.lock_file(file, wait=False):
                    os.write(file, line)
                    return
                if not system.HELD_WHILE_OPEN:
                    self._rotate(found)
            finally:
                os.close(file)
            if system.HELD_WHILE_OPEN:
                self._rotate(found)
            moved = True

    def _open_log(self) -> int:
        # Writing to a pipe without a reader would block.
        flags = os.O_WRONLY | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)
        with contextlib.suppress(FileNotFoundError):
            return private.open_private(self.path, flags)
        private.make_folder(self.path.parent)
        return private.open_private(self.path, flags)

    def _rotate(self, full: os.stat_result) -> None:
        """Rename the full file, unless another process has already done so."""
        with contextlib.suppress(*_NOT_NOW):
            if os.path.samestat(full, self.path.stat()):
                for number in range(KEPT, 0, -1):
                    with contextlib.suppress(FileNotFoundError):
                        rotated_path(self.path, number - 1).replace(rotated_path(self.path, number))


def rotated_path(path: Path, number: int) -> Path:
    """Return the path of the file that was rotated ``number`` times. For 0, return the path of the current file."""
    return path.with_name(f"{path.name}.{number}") if number else path


# -------------------------------------------------------------------------------------------------- for the program


@contextlib.contextmanager
def log_to_file(path: Path | None, level: int | None) -> Iterator[None]:
    """Write a log while the context is open.

    The log contains qmon's records of ``level`` or above, warnings of other libraries, and errors that end a thread.
    ``path``: ``None`` for the default path. ``level``: ``None`` for no log. The log hides passwords. It also hides text
    with the functions that were passed to ``add_cover``. Never raises. If the log cannot be written, ``write_problem``
    returns the reason.
    """
    if level is None:
        yield
        return
    handler = FileHandler(path or default_path())
    handler.setFormatter(Formatter())
    root = logging.getLogger()
    before, hook = _logger.level, threading.excepthook

    def log_thread_error(arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None and arguments.exc_type is not SystemExit:
            _logger.error("a thread has ended", exc_info=arguments.exc_value)
        hook(arguments)

    root.addHandler(handler)
    _logger.setLevel(level)
    threading.excepthook = log_thread_error
    try:
        yield
    finally:
        threading.excepthook = hook
        _logger.setLevel(before)
        root.removeHandler(handler)


def add_cover(cover: Cover) -> None:
    """Add a redaction function for all later lines, such as the function that hides the configured patterns."""
    _formatter().covers.append(cover)


def log_location() -> str:
    """Return the path of the log, or why it cannot be written, for use in messages. Empty if there is no log."""
    handler = _file_handler()
    if handler is None:
        return ""
    return str(handler.path) if not handler.problem else f"no log: {handler.path}: {handler.problem}"


def write_problem() -> str:
    """Return why the last line was not written. Empty if the line was written or there is no log."""
    handler = _file_handler()
    return handler.problem if handler is not None else ""


def log_files() -> list[Path]:
    """Return the existing log files, newest first."""
    handler = _file_handler()
    path = handler.path if handler is not None else default_path()
    return [file for number in range(KEPT + 1) if (file := rotated_path(path, number)).is_file()]


def forget_defects() -> None:
    """Log the traceback of every bug again at its next occurrence."""
    with _lock:
        _seen.clear()


def report_defect(problem: BaseException, logger: logging.Logger = _logger, *, once: bool = False) -> str:
    """Log a bug of qmon, with its traceback the first time, and return the line to show to the user.

    ``once``: do not log the same bug again. Use this option in code that runs in every poll.
    """
    last = traceback.extract_tb(problem.__traceback__)[-1:]
    key = (type(problem).__qualname__, *((frame.filename, frame.lineno) for frame in last))
    with _lock:
        again = key in _seen
        if len(_seen) < _SEEN:
            _seen.add(key)
    if not (again and once):
        logger.error("unexpected error in qmon%s", " again" if again else "", exc_info=None if again else problem)
    words = _formatter().describe_error(problem)
    where = log_location()
    text = LogText.DEFECT.render(kind=type(problem).__name__, problem=words)
    return LogText.DEFECT_WITH_LOG.render(defect=text, log=where) if where else text


def traceback_text(problem: BaseException) -> str:
    """Return the traceback of an error in the form that the log contains."""
    return "\n".join(_formatter().traceback_lines(problem))


def log_shown_error(problem: QmonError) -> None:
    """Log an error that is shown to the user and ends a command or an action."""
    _logger.log(logging.INFO if isinstance(problem, BadInput) else logging.WARNING, "%s", problem)


class FailureLog:
    """Logs a failure only when it starts, when its reason changes, and when it ends."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._before: dict[str, str] = {}

    def record_failures(self, failing: Mapping[str, str]) -> None:
        """Record all current failures. ``failing``: the reason of each failure, keyed by name.

        Reasons that differ only in numbers count as equal.
        """
        now = {what: re.sub(r"\d+", "#", why) for what, why in failing.items()}
        for what, why in failing.items():
            if self._before.get(what) != now[what]:
                self._logger.warning("%s: %s", what, why)
        for what in self._before:
            if what not in now:
                self._logger.info("%s: works again", what)
        self._before = now


def _file_handler() -> FileHandler | None:
    return next((each for each in logging.getLogger().handlers if isinstance(each, FileHandler)), None)


def _formatter() -> Formatter:
    handler = _file_handler()
    found = handler.formatter if handler is not None else None
    return found if isinstance(found, Formatter) else Formatter()
