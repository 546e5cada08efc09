"""Calls that never come back are left behind, a few of them at a time."""

from __future__ import annotations

import threading

import pytest

from qmon.engines.patience import MOST, OutOfPatienceError, Patience
from tests.facts import wait_until


def test_what_comes_in_time_is_returned_or_raised() -> None:
    patience, discarded = Patience(), list[int]()
    assert patience.within(60.0, lambda: 7, discarded.append) == 7
    with pytest.raises(ZeroDivisionError):
        patience.within(60.0, lambda: 1 // 0, discarded.append)
    assert discarded == []


def test_what_comes_late_is_given_back_and_makes_room() -> None:
    patience, discarded, release = Patience(), list[int](), threading.Event()

    def hang() -> int:
        release.wait()
        return 7

    for _ in range(MOST):
        with pytest.raises(OutOfPatienceError):
            patience.within(0.01, hang, discarded.append)
    with pytest.raises(OutOfPatienceError):
        patience.within(60.0, lambda: 8, discarded.append)
    release.set()
    wait_until(lambda: discarded == [7] * MOST)

    def again() -> bool:
        try:
            return patience.within(60.0, lambda: 9, discarded.append) == 9
        except OutOfPatienceError:
            return False

    wait_until(again)
