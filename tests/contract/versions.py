"""The installed versions of PostgreSQL."""

from __future__ import annotations

from pathlib import Path

PROGRAMS: list[Path | None] = [None, *sorted(Path("/usr/lib/postgresql").glob("*/bin"))]
