"""Starts the threads of the dashboard.

qmon does not use Textual's thread workers. Textual runs these in asyncio's thread pool and waits for the pool at exit,
so that a statement that hangs in the driver would keep the program alive. ``@work(exclusive=True)`` and
``Worker.cancel`` do not stop a thread either: they only drop its result. Readers discard old answers themselves, and a
running statement is cancelled on its connection.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread


def start_daemon(run: Callable[[], object], name: str) -> Thread:
    """Start a thread that does not keep the program alive. It reports its result with ``post_message``."""
    thread = Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread
