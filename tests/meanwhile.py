"""Work that goes on while a block runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def meanwhile(act: Callable[..., None], *arguments: object) -> Iterator[None]:
    """Run ``act`` on a thread until the block ends, then raise its exception.

    The last argument of ``act`` is an event. ``act`` must return when the event is set.
    """
    over = threading.Event()
    failed: list[BaseException] = []

    def run() -> None:
        try:
            act(*arguments, over)
        except BaseException as error:  # raised below
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if failed:
        raise failed[0]
