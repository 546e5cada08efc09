"""Snapshots one after the other, each as the change of the one before it.

Some readings are not taken at each poll: who is connected, what each index was used for. What was missing or null in
the snapshot before is written as the change of the last that there was; such a change has one part more than those of
``qmon.recording.format.delta``: ``l``, by key of the snapshot the change of the last record or list of that name.
"""

from __future__ import annotations

from typing import Final

from qmon.recording.format.codec import Damaged, Plain
from qmon.recording.format.delta import Change, change, changed

LAST: Final = "l"


class SnapshotDelta:
    """For who writes and for who reads; each has one for a minute, as each minute begins with a whole snapshot."""

    def __init__(self) -> None:
        self._before: Plain = None
        self._last: dict[str, Plain] = {}

    def begin(self, whole: Plain) -> None:
        """The first snapshot."""
        self._last = {}
        self._follow(whole)

    def told(self, now: Plain) -> Change | None:
        """How the next snapshot follows from those before; ``None``: it is the first, and has to be written whole."""
        before = self._before
        if before is None:
            self.begin(now)
            return None
        again: Change = {}
        for key, last in self._last.items():
            if before.get(key) is None and now.get(key) is not None:
                found = change(last, now[key])
                if found is not None:
                    again[key] = found
        by = change(*({key: value for key, value in each.items() if key not in again} for each in (before, now)))
        self._follow(now)
        return (by or {}) | ({LAST: again} if again else {})

    def next(self, by: Change) -> Plain:
        """The next snapshot, of what was told. Raises ``Damaged``."""
        now = changed(self._before, by)
        for key, part in by.get(LAST, {}).items():
            if key not in self._last:
                raise Damaged(f"a change of {key!r}, which was not there before")
            now[key] = changed(self._last[key], part)
        self._follow(now)
        return now

    def _follow(self, now: Plain) -> None:
        self._before = now
        self._last |= {key: value for key, value in now.items() if isinstance(value, dict | list)}
