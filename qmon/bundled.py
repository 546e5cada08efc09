"""Find the folders shipped with qmon. They are next to the package in a checkout, and inside the package in a wheel."""

from __future__ import annotations

import importlib.resources
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path


@cache
def bundled_folder(name: str) -> Traversable | None:
    """Return the folder ``sql`` or ``docs``, or ``None`` if the installation is broken."""
    package = importlib.resources.files("qmon")
    inside = package / f"_{name}"
    beside = Path(str(package)).parent / name
    return inside if inside.is_dir() else beside if beside.is_dir() else None
