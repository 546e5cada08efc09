"""Quarantine probes that cost the connection: some servers close it when a statement exceeds its time limit.

The quarantine outlives connections. Otherwise each new connection would run the same probe and be lost again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from qmon.model.cost_budget import ProbeKey

# Number of losses that prove a probe to be the cause. A single loss may be chance: a server that stops does so while
# some statement runs.
_LOSSES: Final = 2

# Maximum number of probes that are sent one by one after a loss. More are sent in groups, because there may be
# thousands.
_FEWER: Final = 100
_REST: Final = 4
_REST_MOST: Final = 256


class ProbeQuarantine:
    """Count the connections in a row that were lost while each probe ran."""

    def __init__(self) -> None:
        self._losses: dict[ProbeKey, int] = {}
        # Maximum number of unproven probes that are sent together; 0: no limit. It shrinks after a loss over several.
        self.most_together = 0

    def retain_only(self, stays: Callable[[ProbeKey], bool]) -> None:
        """Forget the probes for which ``stays`` is false."""
        self._losses = {probe: losses for probe, losses in self._losses.items() if stays(probe)}

    def rest_polls(self, probe: ProbeKey) -> int:
        """Return for how many polls of a new connection the probe is left out.

        Usually 0; more with each loss, up to 256.
        """
        more = self._losses.get(probe, 0) - _LOSSES
        return 0 if more < 0 else int(min(_REST * 4**more, _REST_MOST))

    def record_loss(self, probe: ProbeKey) -> None:
        """Record that a connection was lost while this probe ran."""
        self._losses[probe] = self._losses.get(probe, 0) + 1

    def record_shared_loss(self, count: int) -> None:
        """Record that a connection was lost over one of ``count`` unproven probes."""
        self.most_together = max(1, count // _FEWER)

    def record_success(self, probe: ProbeKey) -> None:
        """Record that the probe was answered."""
        self._losses.pop(probe, None)


class InFlightProbe:
    """Remember the running probe, to blame it if its connection is lost.

    Only ``record_loss`` may be called in any thread.
    """

    def __init__(self, quarantine: ProbeQuarantine | None = None) -> None:
        self.quarantine = quarantine or ProbeQuarantine()
        self._sent: Sequence[ProbeKey] = ()
        self._is_late = False
        self._is_over = False

    def record_sent(self, probes: Sequence[ProbeKey]) -> None:
        """Record which unproven probes are sent to the server; empty: only proven ones."""
        # After a late probe the connection may already be lost, and this probe would only find that out.
        if not self._is_late:
            self._sent = probes

    def record_late(self) -> None:
        """Record that the probe ran into its deadline."""
        self._is_late = True

    def record_answer(self, probe: ProbeKey | None = None) -> None:
        """Record that the server has answered, so the connection is good and ``probe`` works."""
        self._sent, self._is_late = (), False
        if probe is not None and not self._is_over:
            self.quarantine.record_success(probe)

    def record_loss(self) -> None:
        """Record that the connection is lost, or abandoned because it hangs. Only the first call counts."""
        if len(self._sent) == 1 and not self._is_over:
            self.quarantine.record_loss(self._sent[0])
        elif self._sent and not self._is_over:
            self.quarantine.record_shared_loss(len(self._sent))
        self._is_over = True
