"""Reads the terminal without ending the app on bad input.

Bytes that are not UTF-8 become replacement characters. Malformed escape sequences are dropped. If reading fails, the
app ends cleanly. The event loop handles the signals that stop, continue and resize, one after the other.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

from textual import events
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers import linux_driver
from textual.geometry import Size
from textual.message import Message


# Textual always decodes strictly: one non-ASCII key of a terminal set to Latin-1 would end the app.
def lenient_decoder(encoding: str) -> Any:
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


class LenientParser(XTermParser):
    """Textual's parser, except that malformed sequences are dropped. Textual's own parser would end the app."""

    def feed(self, data: str) -> Iterable[Message]:
        if not data:
            yield from super().feed(data)
        for character in data:
            yield from self._skip_malformed(super().feed(character))

    def tick(self) -> Iterable[Message]:
        yield from self._skip_malformed(super().tick())

    def _skip_malformed(self, messages: Iterable[Message]) -> Iterator[Message]:
        try:
            yield from messages
        except (ArithmeticError, LookupError, ValueError):  # invalid numbers, or numbers that are not a character
            self._gen = self.parse(self._tokens.append)
            self._awaiting = next(self._gen)


# Seconds between looks at the parser while it waits for the rest of an escape sequence.
_PARSER_TICK_S: Final = 0.1


class _WakingEvent(threading.Event):
    """An event that also makes ``reader``, a file descriptor, readable when it is set."""

    def __init__(self) -> None:
        super().__init__()
        self.reader, self._writer = os.pipe()

    def set(self) -> None:
        super().set()
        os.write(self._writer, b"\0")


def _stop_process() -> None:
    if sys.platform != "win32":  # Windows has neither this signal nor this driver
        os.kill(os.getpid(), signal.SIGSTOP)


class TerminalDriver(linux_driver.LinuxDriver):
    """Textual's driver for terminals, with corrected handling of failures and signals.

    If reading fails, Textual ends the app with exit code 0 and logs nothing. Textual also leaves and enters the
    application mode inside its signal handlers, and a second signal can interrupt the first handler. If a handler that
    has read the size of the terminal is interrupted by another that reads a newer size, the app keeps the older size.
    In Textual, if the process was stopped by SIGSTOP instead of SIGTSTP, SIGCONT starts a second thread that reads the
    terminal. Textual's reading thread wakes up ten times a second; this one only for input.
    """

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._end_reading = self.exit_event = _WakingEvent()
        self._pausing = self._continued = False

    def start_application_mode(self) -> None:
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if sys.platform != "win32" and self._writer_thread is not None:
            signal.signal(signal.SIGWINCH, self._sigwinch_application)
            self._sigwinch_application()  # the size may have changed since Textual has read it

    def _sigwinch_application(self, *_: object) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop is closed, because the app has ended
            self._loop.call_soon_threadsafe(self._send_size)

    def _send_size(self) -> None:
        if not self._in_band_window_resize:  # otherwise the terminal reports its size
            size = Size(*self._get_terminal_size())
            self.send_message(events.Resize(size, size))

    def _sigtstp_application(self, *_: object) -> None:
        self._continued = False
        self._pause_soon(stop=True)

    def _sigcont_application(self, *_: object) -> None:
        self._continued = True
        self._pause_soon(stop=False)

    def _pause_soon(self, *, stop: bool) -> None:
        if not self._pausing:
            self._pausing = True
            with contextlib.suppress(RuntimeError):  # the event loop is closed, because the app has ended
                self._loop.call_soon_threadsafe(self._pause, stop)

    def _pause(self, stop: bool) -> None:
        """Leave the application mode, stop the process if ``stop`` is set, and enter the application mode again."""
        try:
            if self._auto_restart:
                self.suspend_application_mode()
                self._must_signal_resume = True
            if stop and not self._continued:
                _stop_process()
            while self._auto_restart and not self._take_terminal():
                _stop_process()  # a process in the background may not use the terminal
        finally:
            self._pausing = False

    def _take_terminal(self) -> bool:
        """Enter the application mode again. Return True on success."""
        self._writer_thread = None
        self.resume_application_mode()
        return bool(self._writer_thread)

    def _run_input_thread(self) -> None:
        """Read until the app ends. Pass any error to the app, which logs the error and exits with code 1."""
        try:
            self.run_input_thread()
        except Exception as problem:
            app: App[object] = self._app
            app.call_later(partial(app._handle_exception, problem))

    def run_input_thread(self) -> None:
        """Read the terminal and send its events until ``exit_event`` is set or the input ends."""
        parser, decoder = LenientParser(self._debug), lenient_decoder("utf-8")()
        inputs = [self._end_reading.reader, self.fileno]
        while not self.exit_event.is_set():
            pending = parser._timeout_time is not None  # a lone Escape is a key if nothing follows
            readable = select.select(inputs, (), (), _PARSER_TICK_S if pending else None)[0]
            if self.fileno in readable:
                data = os.read(self.fileno, 4096)
                if not data:
                    inputs.remove(self.fileno)  # the end of a file or pipe stays readable
                elif text := decoder.decode(data):
                    self._send_all(parser.feed(text))
            if self._end_reading.reader in readable:
                os.read(self._end_reading.reader, 4096)
            self._send_all(parser.tick())

    def _send_all(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)
