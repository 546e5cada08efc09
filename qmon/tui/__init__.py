"""The dashboard. Only this package imports textual. ``run`` starts the dashboard. ``ActionRunner`` runs its actions."""

from __future__ import annotations

from qmon.tui.action_runner import ActionRunner
from qmon.tui.feed import redacting_fold
from qmon.tui.run import require_terminal, run
from qmon.tui.watched_target import DashboardTarget

__all__ = ["ActionRunner", "DashboardTarget", "redacting_fold", "require_terminal", "run"]
