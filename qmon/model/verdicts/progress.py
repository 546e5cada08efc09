"""Messages that are in progress for too long."""

from __future__ import annotations

from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import Signs
from qmon.model.view import Severity


def _stuck(s: Signs) -> str | None:
    if not s.stuck.value:
        return None
    mark = "at least " if s.stuck.at_least else ""
    return f"{mark}{s.stuck.value:,.0f} in progress for more than {_minutes(s.timeout_s)}"


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:,.0f} m" if seconds >= 120 else f"{seconds:,.0f} s"


STUCK = Rule("stuck in progress", Severity.CRITICAL, 0.0, _stuck)
