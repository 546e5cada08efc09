"""A token bucket on a clock: so many messages a second on average, and no burst to catch up with a long pause."""

from __future__ import annotations

from typing import Final

MAX_DEBT_S: Final = 0.5
"""What was not done for longer than this is not made up for."""


class Pacer:
    """Says how long to wait before the next messages may go. Pure: the caller brings the time, in seconds."""

    def __init__(self, now: float) -> None:
        self._due = now

    def wait(self, now: float, messages: int, rate: float | None) -> float:
        """Seconds to wait before these messages may go, 0 or less: at once.

        ``rate``: messages per second from now on; ``None`` means without limit, 0 never (then the answer is infinite).
        Counts the messages only when the answer is 0 or less.
        """
        if rate is None:
            self._due = now
            return 0.0
        if rate <= 0:
            self._due = now
            return float("inf")
        self._due = max(self._due, now - MAX_DEBT_S)
        if self._due <= now:
            self._due += messages / rate
            return 0.0
        return self._due - now
