"""The app gets the newest size of the terminal, also if a resize interrupts the handling of another resize."""

from __future__ import annotations

import asyncio
import signal
import sys

import pytest
from textual.app import App
from textual.events import Resize
from textual.message import Message

from qmon.tui.driver import TerminalDriver

pytestmark = [pytest.mark.unit, pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")]


class ResizedDriver(TerminalDriver):
    """A driver whose terminal gets another size while its first size is read."""

    def __init__(self) -> None:
        super().__init__(App[None]())
        self._sizes = [(122, 40), (80, 1)]
        self.sent: list[tuple[int, int]] = []
        self.has_sent_both = asyncio.Event()

    def _get_terminal_size(self) -> tuple[int, int]:
        size = self._sizes.pop() if len(self._sizes) > 1 else self._sizes[0]
        if size == (80, 1):
            signal.raise_signal(signal.SIGWINCH)
        return size

    def send_message(self, message: Message) -> None:
        assert isinstance(message, Resize)
        self.sent.append((message.size.width, message.size.height))
        if len(self.sent) == 2:
            self.has_sent_both.set()


async def test_the_newest_size_is_sent_last() -> None:
    driver = ResizedDriver()
    before = signal.signal(signal.SIGWINCH, driver._sigwinch_application)
    try:
        signal.raise_signal(signal.SIGWINCH)
        await driver.has_sent_both.wait()
    finally:
        signal.signal(signal.SIGWINCH, before)
    assert driver.sent == [(80, 1), (122, 40)]
