"""Stop running probes that make the server close the connection. Some servers close it at a statement timeout.

The quarantine must outlast the connection. Otherwise each new connection would run the same probe and be lost again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from qmon.model.cost_budget import ProbeKey

# After this many losses, a probe counts as the cause. A single loss may be chance, because some probe is always running
# when a server stops.
_LOSSES: Final = 2

# After a loss, up to this many probes are sent one by one. If there are more, they are sent in groups, because there
# may be thousands.
_FEWER: Final = 100
_REST: Final = 4
_REST_MOST: Final = 256


class ProbeQuarantine:
    """Count, for each probe, how many connections in a row were lost while the probe ran."""

    def __init__(self) -> None:
        self._losses: dict[ProbeKey, int] = {}
        # Maximum number of unproven probes that are sent together; 0: no limit. A loss during several probes reduces
        # this number.
        self.most_together = 0

    def retain_only(self, stays: Callable[[ProbeKey], bool]) -> None:
        """Forget the probes for which ``stays`` is false."""
        self._losses = {probe: losses for probe, losses in self._losses.items() if stays(probe)}

    def rest_polls(self, probe: ProbeKey) -> int:
        """Return for how many polls of a new connection the probe is left out.

        The number is usually 0. It increases with each loss, up to 256.
        """
        more = self._losses.get(probe, 0) - _LOSSES
        return 0 if more < 0 else int(min(_REST * 4**more, _REST_MOST))

    def record_loss(self, probe: ProbeKey) -> None:
        """Record that a connection was lost while this probe ran."""
        self._losses[probe] = self._losses.get(probe, 0) + 1

    def record_shared_loss(self, count: int) -> None:
        """Record that a connection was lost while one of ``count`` unproven probes ran."""
        self.most_together = max(1, count // _FEWER)

    def record_success(self, probe: ProbeKey) -> None:
        """Record that the probe was answered."""
        self._losses.pop(probe, None)


class InFlightProbe:
    """Remember the running probe. If its connection is lost, the probe counts as the cause.

    Only ``record_loss`` may be called in any thread.
    """

    def __init__(self, quarantine: ProbeQuarantine | None = None) -> None:
        self.quarantine = quarantine or ProbeQuarantine()
        self._sent: Sequence[ProbeKey] = ()
        self._is_late = False
        self._is_over = False

    def record_sent(self, probes: Sequence[ProbeKey]) -> None:
        """Record which unproven probes are being sent; empty: only proven probes are sent."""
        # After a probe without an answer, the connection may already be lost. A probe sent now is not the cause.
        if not self._is_late:
            self._sent = probes

    def record_late(self) -> None:
        """Record that the probe ran into its deadline."""
        self._is_late = True

    def record_answer(self, probe: ProbeKey | None = None) -> None:
        """Record that the server has answered, which means that the connection and ``probe`` work."""
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
