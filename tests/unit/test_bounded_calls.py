"""Calls that never return are abandoned, a few of them at a time."""

from __future__ import annotations

import threading

import pytest

from qmon.engines.bounded_calls import MAX_HANGING, BoundedCalls, CallTimeoutError
from tests.facts import wait_until


def test_what_comes_in_time_is_returned_or_raised() -> None:
    calls, discarded = BoundedCalls(), list[int]()
    assert calls.run_within(60.0, lambda: 7, discarded.append) == 7
    with pytest.raises(ZeroDivisionError):
        calls.run_within(60.0, lambda: 1 // 0, discarded.append)
    assert discarded == []


def test_a_call_that_is_of_no_use_is_left_before_its_time() -> None:
    calls, discarded, release, asked = BoundedCalls(), list[int](), threading.Event(), list[bool]()

    def hang() -> int:
        release.wait()
        return 7

    def hopeless() -> bool:
        asked.append(True)
        return True

    with pytest.raises(CallTimeoutError):
        calls.run_within(86_400.0, hang, discarded.append, is_hopeless=hopeless)
    release.set()
    wait_until(lambda: discarded == [7])
    assert asked == [True]
    assert calls.run_within(60.0, lambda: 8, discarded.append, is_hopeless=hopeless) == 8
    assert asked == [True], "a call that returns soon is not asked about"


def test_what_comes_late_is_given_back_and_makes_room() -> None:
    calls, discarded, release = BoundedCalls(), list[int](), threading.Event()

    def hang() -> int:
        release.wait()
        return 7

    for _ in range(MAX_HANGING):
        with pytest.raises(CallTimeoutError):
            calls.run_within(0.01, hang, discarded.append)
    with pytest.raises(CallTimeoutError):
        calls.run_within(60.0, lambda: 8, discarded.append)
    release.set()
    wait_until(lambda: discarded == [7] * MAX_HANGING)

    def again() -> bool:
        try:
            return calls.run_within(60.0, lambda: 9, discarded.append) == 9
        except CallTimeoutError:
            return False

    wait_until(again)
