"""How many qmons poll a database: they share one budget, and each keeps to its part."""

from __future__ import annotations

from collections import deque
from typing import Final

_OF_S: Final = 10.0
_FEWEST: Final = 5


class Sharing:
    """Counts the qmons that poll beside us: the median of the last ten seconds, and of five polls at least, so that
    neither a command of a few seconds nor a qmon that connects anew changes the part of the others."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def see(self, now_at: float, pollers: int | None) -> int | None:
        """How many there are, with us. ``pollers``: as this poll has seen, ``None`` where our role is not shown others;
        ``now_at``: server clock, seconds."""
        if pollers is None:
            self._seen.clear()
            return None
        self._seen.append((now_at, max(1, pollers)))  # a name of the user's own hides us, too
        while len(self._seen) > _FEWEST and now_at - self._seen[0][0] > _OF_S:
            self._seen.popleft()
        return sorted(count for _, count in self._seen)[len(self._seen) // 2]
