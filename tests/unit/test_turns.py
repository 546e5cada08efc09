"""A test marked alone has the machine to itself; only tests allowed beside it run too, at a low priority."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from tests.turns import LOWER, may_come_back, turn

comes_back = pytest.mark.skipif(not may_come_back(), reason="a lower priority cannot be taken back here")


def priority() -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


def waits(folder: Path, *, alone: bool) -> bool:
    """Return whether another process would have to wait for its turn now."""
    with (folder / "turn").open("w") as held:
        try:
            fcntl.flock(held, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def test_one_that_is_alone_has_no_other_and_the_rest_share(tmp_path: Path) -> None:
    with turn(tmp_path, alone=True):
        assert waits(tmp_path, alone=False)
        assert waits(tmp_path, alone=True)
    for beside in (False, True):
        with turn(tmp_path, alone=False, beside=beside), turn(tmp_path, alone=False):
            assert waits(tmp_path, alone=True)
            assert not waits(tmp_path, alone=False)
    assert not waits(tmp_path, alone=True)


@comes_back
def test_what_may_run_beside_one_that_is_alone_does_so_at_a_low_priority(tmp_path: Path) -> None:
    usual = priority()
    with turn(tmp_path, alone=True):
        with turn(tmp_path, alone=False, beside=True):
            assert priority() == min(usual + LOWER, 19)
        assert priority() == usual
    with turn(tmp_path, alone=False, beside=True):
        assert priority() == usual, "no test is alone"
