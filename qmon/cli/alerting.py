"""The alerts of the configuration, for the dashboard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qmon.engines.base import Target
    from qmon.monitor.alerting import Alerting


def alerting_for(target: Target, path: Path | None) -> Alerting | None:
    """What watches over a target as the configuration says; ``None`` where no rule is about it."""
    from qmon.config.file import read_config
    from qmon.model.alerts.rules import applying
    from qmon.monitor.alert_command import AlertCommand
    from qmon.monitor.alerting import Alerting

    config = read_config(path)
    rules, telling = applying(config.alerts, target.name), config.telling
    if not rules:
        return None
    hook = AlertCommand(telling.command, telling.timeout_s) if telling.command else None
    return Alerting(target.name, rules, hook=hook, bell=telling.bell)
