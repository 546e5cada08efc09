"""Probes that cost the connection: some servers close it where a statement runs out of time, instead of ending that.

What is known here outlives a connection: without it each new one would run the same probe and be lost again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from qmon.model.budget import Key

# Losses that count as proof. One may be chance: a server that is stopped is always stopped while something runs.
_LOSSES: Final = 2
# Probes up to which each is sent by itself after a loss; of more, several go together: there may be thousands.
_FEWER: Final = 100
_REST: Final = 4
_REST_MOST: Final = 256


class ProbeQuarantine:
    """Counts how many connections in a row were lost over each probe."""

    def __init__(self) -> None:
        self._losses: dict[Key, int] = {}
        # Probes that have not worked yet and are sent together, at most; 0: no limit. Less after a loss over some.
        self.most = 0

    def keep(self, stays: Callable[[Key], bool]) -> None:
        """Forget the probes that do not stay."""
        self._losses = {probe: losses for probe, losses in self._losses.items() if stays(probe)}

    def rest(self, probe: Key) -> int:
        """For how many polls of a new connection the probe is left out: mostly none; more with each loss, up to 256."""
        more = self._losses.get(probe, 0) - _LOSSES
        return 0 if more < 0 else int(min(_REST * 4**more, _REST_MOST))

    def lost_over(self, probe: Key) -> None:
        """A connection was lost over it."""
        self._losses[probe] = self._losses.get(probe, 0) + 1

    def lost_over_some(self, count: int) -> None:
        """A connection was lost over one of several probes that have not worked yet."""
        self.most = max(1, count // _FEWER)

    def works(self, probe: Key) -> None:
        """It was answered."""
        self._losses.pop(probe, None)


class InFlightProbe:
    """Remembers the probe in flight, to blame if its connection is lost. Only ``lost`` is for any thread."""

    def __init__(self, quarantine: ProbeQuarantine | None = None) -> None:
        self.quarantine = quarantine or ProbeQuarantine()
        self._asked: Sequence[Key] = ()
        self._late = False
        self._over = False

    def asks(self, probes: Sequence[Key]) -> None:
        """Probes that have not worked yet are sent to the server; none: those that have."""
        if not self._late:  # else the one before may have cost the connection already, and this will only find it lost
            self._asked = probes

    def late(self) -> None:
        """What was asked ran into its deadline."""
        self._late = True

    def answered(self, probe: Key | None = None) -> None:
        """The server has answered, so the connection is good; ``probe`` works."""
        self._asked, self._late = (), False
        if probe is not None and not self._over:
            self.quarantine.works(probe)

    def lost(self) -> None:
        """The connection is lost, or left behind since it hangs. Once is enough."""
        if len(self._asked) == 1 and not self._over:
            self.quarantine.lost_over(self._asked[0])
        elif self._asked and not self._over:
            self.quarantine.lost_over_some(len(self._asked))
        self._over = True
