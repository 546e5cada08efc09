"""Fixtures of the demo's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.temporary import folder_for_all


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary files that every account can enter, with a short enough path."""
    with folder_for_all() as folder:
        yield Path(folder)
