"""The dashboard: the only package that imports textual. ``run`` is the way in."""

from __future__ import annotations

from qmon.tui.run import run

__all__ = ["run"]
