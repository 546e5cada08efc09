"""The dashboard: the only package that imports textual. ``run`` is the way in, ``Office`` who acts from it."""

from __future__ import annotations

from qmon.tui.acting.office import Office
from qmon.tui.acting.redacted import redacted
from qmon.tui.run import run

__all__ = ["Office", "redacted", "run"]
