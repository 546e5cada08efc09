"""Quarantine probes that cost the connection: some servers close it when a statement exceeds its time limit.

The quarantine outlives connections. Otherwise each new connection would run the same probe and be lost again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from qmon.model.budget import Key

# Losses that count as proof. A single loss may be chance: a server that stops does so while some statement runs.
_LOSSES: Final = 2

# Up to this many probes are sent one by one after a loss. More are sent in groups, because there may be thousands.
_FEWER: Final = 100
_REST: Final = 4
_REST_MOST: Final = 256


class ProbeQuarantine:
    """Count the connections in a row that were lost while each probe ran."""

    def __init__(self) -> None:
        self._losses: dict[Key, int] = {}
        # Maximum number of unproven probes that are sent together; 0: no limit. It shrinks after a loss over several.
        self.most = 0

    def keep(self, stays: Callable[[Key], bool]) -> None:
        """Forget the probes for which ``stays`` is false."""
        self._losses = {probe: losses for probe, losses in self._losses.items() if stays(probe)}

    def rest(self, probe: Key) -> int:
        """Return for how many polls of a new connection the probe is left out.

        Usually 0; more with each loss, up to 256.
        """
        more = self._losses.get(probe, 0) - _LOSSES
        return 0 if more < 0 else int(min(_REST * 4**more, _REST_MOST))

    def lost_over(self, probe: Key) -> None:
        """Record that a connection was lost while this probe ran."""
        self._losses[probe] = self._losses.get(probe, 0) + 1

    def lost_over_some(self, count: int) -> None:
        """Record that a connection was lost over one of ``count`` unproven probes."""
        self.most = max(1, count // _FEWER)

    def works(self, probe: Key) -> None:
        """Record that the probe was answered."""
        self._losses.pop(probe, None)


class InFlightProbe:
    """Remember the running probe, to blame it if its connection is lost.

    Only ``record_loss`` may be called in any thread.
    """

    def __init__(self, quarantine: ProbeQuarantine | None = None) -> None:
        self.quarantine = quarantine or ProbeQuarantine()
        self._asked: Sequence[Key] = ()
        self._late = False
        self._over = False

    def asks(self, probes: Sequence[Key]) -> None:
        """Record which unproven probes are sent to the server; empty: only proven ones."""
        # After a late probe the connection may already be lost, and this probe would only find that out.
        if not self._late:
            self._asked = probes

    def late(self) -> None:
        """Record that the probe ran into its deadline."""
        self._late = True

    def answered(self, probe: Key | None = None) -> None:
        """Record that the server has answered, so the connection is good. ``probe`` works."""
        self._asked, self._late = (), False
        if probe is not None and not self._over:
            self.quarantine.works(probe)

    def lost(self) -> None:
        """Record that the connection is lost, or abandoned because it hangs. Only the first call counts."""
        if len(self._asked) == 1 and not self._over:
            self.quarantine.lost_over(self._asked[0])
        elif self._asked and not self._over:
            self.quarantine.lost_over_some(len(self._asked))
        self._over = True
