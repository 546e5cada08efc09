"""The values of statements, checked, before the driver has them."""

from __future__ import annotations

from typing import Final

from qmon.engines.base import Bound, Value
from qmon.errors import BadInput

LONGEST_TEXT: Final = 4000
"""UTF-16 units of the longest text that is no large object (SQL Server)."""


def values_of(bound: Bound, *, nul_allowed: bool) -> list[Value]:
    """The values in the order of the statement's question marks.

    Raises ``BadInput`` where one is missing or of no use, or has a NUL character, which PostgreSQL cannot store.
    """
    wanted, given = bound.statement.parameters, bound.values
    if missing := [name for name in wanted if name not in given]:
        raise BadInput(f"{bound.statement.name} needs a value for {missing[0]}")
    if extra := given.keys() - set(wanted):
        raise BadInput(f"{bound.statement.name} has no use for the value {min(extra)}")
    values = [given[name] for name in wanted]
    if not nul_allowed and any(isinstance(value, str) and "\0" in value for value in values):
        raise BadInput(f"{bound.statement.name}: a value holds a NUL character, which this server cannot store")
    return values


def of_one_length(value: Value) -> bool:
    """Whether it can be sent as a text of ``LONGEST_TEXT``: as NULL can, and a longer text, sent in pieces, cannot."""
    return value is None or (isinstance(value, str) and len(value.encode("utf-16-le", "replace")) <= 2 * LONGEST_TEXT)
