"""The state that all screens show, and how fresh this state is."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from qmon.model.view import View
from qmon.monitor.alerting import AlertState
from qmon.monitor.source import Phase, SourceState


class Freshness(StrEnum):
    """How current the figures on screen are."""

    WAITING = "waiting"
    LIVE = "live"
    FROZEN = "frozen"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class ShownState:
    """The state that every screen draws: the newest figures, the source's state, whether the display is frozen.

    ``newest_at``: when the newest figures were taken, even if a frozen display does not show them. ``interval_s``: the
    requested seconds between polls. Times are the local monotonic clock in seconds. ``served``: the address of the
    ``qmon serve`` from which the figures are read, or empty. ``recording``: whether the source is being recorded;
    ``None`` if recording was never requested. ``replay``: in a replay, the recorded time, whether the replay is
    playing, and its speed.
    """

    target: str
    view: View | None = None
    state: SourceState | None = None
    newest_at: float = 0.0
    frozen: bool = False
    interval_s: float = 1.0
    prod: bool = False
    read_only: bool = False
    environment: str = ""
    alerts: AlertState = field(default_factory=AlertState)
    recording: bool | None = None
    served: str = ""
    replay: str = ""

    @property
    def phase(self) -> Phase:
        """The phase of the source. If figures are newer than the last state, the source is live again."""
        if self.state is None:
            return Phase.CONNECTING if self.view is None else Phase.LIVE
        phase = self.state.phase
        if phase in (Phase.CONNECTING, Phase.LATE, Phase.LOST) and self.view is not None:
            return Phase.LIVE if self.newest_at > self.state.changed_at else phase
        return phase

    def age_s(self, now: float) -> float:
        """Return the seconds since the poll of these figures began; 0 without figures."""
        if self.view is None:
            return 0.0
        return max(0.0, now - self.view.taken_at + self.view.server.client_ms / 1000.0)

    def is_overdue(self, now: float) -> bool:
        """Return True if new figures should have arrived by now, even if the source reports no problem."""
        if self.view is None:
            return False
        slowed = self.view.server.observing is not None and self.view.interval_s > self.view.server.observing.asked_s
        every = max(self.interval_s, self.view.interval_s) if slowed else self.interval_s
        return now - self.newest_at > 2 * every + 2.0

    def freshness(self, now: float) -> Freshness:
        """Return how fresh the figures are at ``now``."""
        if self.view is None:
            return Freshness.WAITING
        if self.phase in (Phase.CONNECTING, Phase.LATE, Phase.LOST, Phase.CLOSED):
            return Freshness.STALE
        if self.frozen:
            return Freshness.FROZEN
        return Freshness.STALE if self.is_overdue(now) and self.phase is not Phase.PAUSED else Freshness.LIVE
