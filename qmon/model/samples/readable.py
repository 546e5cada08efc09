"""Sample of the probe ``readable``: whether a table that could not be read may be read now."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadableSample:
    """One row a table: whether our role may read it."""

    table_id: int
    readable: bool
