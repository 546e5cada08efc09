"""The dashboard: the only package that imports textual. ``run`` is the way in, ``ActionRunner`` who acts from it."""

from __future__ import annotations

from qmon.tui.action_runner import ActionRunner
from qmon.tui.feed import redacted
from qmon.tui.run import need_terminal, run, run_fleet

__all__ = ["ActionRunner", "need_terminal", "redacted", "run", "run_fleet"]
