"""Figures of queues on a standby. The rows of a standby are delayed, and a standby has no counters."""

from __future__ import annotations

from dataclasses import dataclass, replace

from qmon.model.figure import Figure
from qmon.model.formatting import duration
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import ServerSample
from qmon.texts import Text


class StandbyText(Text):
    """How far a standby is behind."""

    REPLAY_PAUSED = "replay paused"
    DELAY_UNKNOWN = "not known how far behind"
    BEHIND = "{age} behind"


@dataclass(frozen=True, slots=True)
class Standby:
    """The age of a standby's rows.

    ``behind_s``: seconds behind the primary, or ``None`` if unknown. ``paused``: true if replay is paused.
    """

    behind_s: float | None
    paused: bool

    @property
    def delay_text(self) -> str:
        """The delay as a short text. The text is empty if the standby is less than a second behind."""
        if self.paused:
            return StandbyText.REPLAY_PAUSED
        if self.behind_s is None:
            return StandbyText.DELAY_UNKNOWN
        return StandbyText.BEHIND.render(age=duration(self.behind_s)) if self.behind_s >= 1.0 else ""

    def add_delay(self, figure: Figure) -> Figure:
        """Add the age of the standby's rows to the age of a figure.

        The result is ``old`` if the age of the rows is unknown or replay is paused.
        """
        if figure.value is None:
            return figure
        age_s = figure.age_s + (self.behind_s or 0.0)
        if self.paused or self.behind_s is None:
            return replace(figure, age_s=age_s, old=True, reason=Reason.STANDBY_BEHIND.render(delay=self.delay_text))
        return replace(figure, age_s=age_s)


def standby_for(server: ServerSample) -> Standby | None:
    """Return the standby state of a server, or ``None`` for a server that accepts writes."""
    return Standby(server.behind_s, server.replay_paused) if server.in_recovery else None
