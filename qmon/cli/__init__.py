"""The command line: assembles what the packages below offer, and decides nothing itself.

Importing it loads neither the driver, nor the screens, nor Spark: each command imports what it needs when it runs.
"""

from __future__ import annotations

from qmon.cli.app import app, main

__all__ = ["app", "main"]
