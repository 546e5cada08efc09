"""Implements the command line. This package connects the other packages and has no logic of its own.

Importing this package does not load the driver, the screens or Spark. Each command imports the modules that it needs
when it runs.
"""

from __future__ import annotations

from qmon.cli.app import app, main

__all__ = ["app", "main"]
