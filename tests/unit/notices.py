"""A notice of a raised alert."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from qmon.model.alerts.latches import AlertEvent
from qmon.model.alerts.notices import Notice
from qmon.model.figure import Severity


def notice(number: int = 0, event: AlertEvent = AlertEvent.RAISED, **more: Any) -> Notice:
    raised = Notice(event, "shop", "deep", "", (f"q{number}",), Severity.WARNING, "deep", 5.0, 1e9, 1e9)
    return replace(raised, **more)
