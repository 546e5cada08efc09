"""The thread that reads the terminal: it wakes up for input, and ends when the driver stops reading."""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import AsyncIterator
from queue import SimpleQueue
from typing import Any

import pytest
from textual.app import App
from textual.events import Key
from textual.message import Message

from qmon.tui import driver as terminal_driver
from qmon.tui.driver import TerminalDriver

pytestmark = [pytest.mark.unit, pytest.mark.skipif(sys.platform == "win32", reason="Windows has another driver")]


class PipedDriver(TerminalDriver):
    """A driver that reads from a pipe."""

    def __init__(self) -> None:
        super().__init__(App[None]())
        self.fileno, self.keyboard = os.pipe()
        self.keys: SimpleQueue[str] = SimpleQueue()
        self._key_thread: threading.Thread | None = None

    def write(self, data: str) -> None:
        """Write nothing: there is no terminal."""

    def process_message(self, message: Message) -> None:
        assert isinstance(message, Key)
        self.keys.put(message.key)

    def start(self) -> None:
        self._key_thread = threading.Thread(target=self._run_input_thread, daemon=True)
        self._key_thread.start()

    @property
    def is_reading(self) -> bool:
        return self._key_thread is not None and self._key_thread.is_alive()


@pytest.fixture
async def piped() -> AsyncIterator[PipedDriver]:
    driver = PipedDriver()
    driver.start()
    yield driver
    driver.disable_input()
    os.close(driver.fileno)
    os.close(driver.keyboard)


async def test_keys_and_a_lone_escape_arrive(piped: PipedDriver) -> None:
    os.write(piped.keyboard, b"q")
    assert piped.keys.get(timeout=30) == "q"
    os.write(piped.keyboard, b"\x1b")
    assert piped.keys.get(timeout=30) == "escape"
    os.write(piped.keyboard, "ü".encode()[:1])
    os.write(piped.keyboard, "ü".encode()[1:] + b"\x1b[A")
    assert [piped.keys.get(timeout=30), piped.keys.get(timeout=30)] == ["ü", "up"]


async def test_the_thread_ends_while_it_waits_and_another_can_follow(piped: PipedDriver) -> None:
    piped.disable_input()
    assert not piped.is_reading
    piped.start()
    os.write(piped.keyboard, b"x")
    assert piped.keys.get(timeout=30) == "x"


async def test_it_waits_without_a_limit_if_no_key_is_unfinished(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: SimpleQueue[float | None] = SimpleQueue()
    real = select.select

    def recording(*arguments: Any) -> Any:
        limits.put(arguments[3])
        return real(*arguments)

    monkeypatch.setattr(select, "select", recording)
    driver = PipedDriver()
    driver.exit_event.set()  # must not end the next thread
    driver.exit_event.clear()
    driver.start()
    assert limits.get(timeout=30) is None
    assert limits.get(timeout=30) is None
    os.write(driver.keyboard, b"\x1b")
    assert limits.get(timeout=30) == terminal_driver._PARSER_TICK_S
    assert driver.keys.get(timeout=30) == "escape"
    os.close(driver.keyboard)  # the end of the input
    driver.disable_input()
    assert not driver.is_reading
    os.close(driver.fileno)
