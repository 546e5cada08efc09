"""Run ``python -m qmon``."""

from __future__ import annotations

from qmon.cli import main

main()
