"""The command line: connects the other packages, and has no logic of its own.

Importing it loads neither the driver, the screens nor Spark. Each command imports what it needs when it runs.
"""

from __future__ import annotations

from qmon.cli.app import app, main

__all__ = ["app", "main"]
