"""The dashboard. Only this package imports textual. Start it with ``run``; ``ActionRunner`` runs its actions."""

from __future__ import annotations

from qmon.tui.action_runner import ActionRunner
from qmon.tui.feed import redacted
from qmon.tui.run import need_terminal, run, run_fleet

__all__ = ["ActionRunner", "need_terminal", "redacted", "run", "run_fleet"]
