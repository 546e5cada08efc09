"""Reads the terminal: bytes that are no UTF-8 become replacement characters, and a failure ends the app in order."""

from __future__ import annotations

import codecs
from functools import partial
from typing import Any

from textual.app import App
from textual.drivers import linux_driver


def _lenient_decoder(encoding: str) -> Any:
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


# Textual decodes strictly and offers no other way: one key of a terminal that is set to Latin-1 would end the app.
vars(linux_driver)["getincrementaldecoder"] = _lenient_decoder


class TerminalDriver(linux_driver.LinuxDriver):
    """Textual's driver for terminals, which ends the app with exit code 0 and no line in the log if reading fails."""

    def _run_input_thread(self) -> None:
        """Read until the app ends. Hand what ends the thread to the app, which logs it and leaves with exit code 1."""
        try:
            self.run_input_thread()
        except Exception as problem:
            app: App[object] = self._app
            app.call_later(partial(app._handle_exception, problem))
