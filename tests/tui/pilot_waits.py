"""Waits for a condition while the app of a test goes on."""

from __future__ import annotations

import time
from collections.abc import Callable

from textual.pilot import Pilot

from tests.facts import PATIENCE_S


async def pilot_until(
    pilot: Pilot[None], ask: Callable[[], object], explain: Callable[[], str], *, seconds: float = PATIENCE_S
) -> None:
    """Let the app go on until ``ask`` is true.

    Raises ``AssertionError`` with the text of ``explain`` after ``seconds`` seconds.
    """
    deadline = time.monotonic() + seconds
    while not ask():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {explain()}"
        await pilot.pause(0.02)
