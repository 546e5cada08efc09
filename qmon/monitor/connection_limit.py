"""How many connections are to be had, and what each more would give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from qmon.engines.base import Connection
from qmon.errors import NoConnectionLeft

GIVES: Final = (
    "all that a poll reads",
    "exact counts of deep queues, and the full look for the oldest message",
    "what sessions wait for over time, where the server counts no waits",
    "acting while the dashboard is open",
)
"""What each connection is for, the first first: `qmon connect` has so many."""


def room(connect: Callable[[], Connection]) -> int:
    """How many of these connections are to be had, one that is open already among them; tried, and closed again.

    Raises what connecting raises but ``NoConnectionLeft``.
    """
    made: list[Connection] = []
    try:
        while len(made) + 1 < len(GIVES):
            made.append(connect())
    except NoConnectionLeft:
        pass
    finally:
        for connection in made:
            connection.close()
    return len(made) + 1
