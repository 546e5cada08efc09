"""Views as plain values, for comparison of every figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from qmon.model.series import Series


def plain(value: Any) -> Any:
    """Return records as tuples of their names and values, at any depth, and series as their points."""
    if isinstance(value, Series):
        return [plain(point) for point in value]
    if is_dataclass(value) and not isinstance(value, type):
        return (type(value).__name__, *((field.name, plain(getattr(value, field.name))) for field in fields(value)))
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return value
