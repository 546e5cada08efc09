"""The job of libraries that find it by its name. It runs once, so a job that fails is dead."""

from __future__ import annotations

from typing import Final

from tests.libraries.programs.application import Application

# The application of this worker process.
CURRENT: Final[list[Application]] = []


def run(queue: str, payload: str, fails: int) -> None:
    """Do the job. Raises ``Failed`` if it fails on purpose."""
    CURRENT[0].work(queue, payload, 1, fails)
