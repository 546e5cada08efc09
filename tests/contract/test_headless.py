"""A target polled without a screen and closed at any moment: nothing is begun or left open afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from qmon.engines.base import Connection, Target
from qmon.monitor import headless
from qmon.monitor.headless import HeadlessPoller
from qmon.monitor.source import Event
from tests.contract.watching import target_of
from tests.facts import query, wait_until

OPEN = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'qmon%' AND datname = current_database()"


@pytest.mark.parametrize("late", ["connect_with_password", "open_poller"])
def test_closed_while_it_connects_it_never_polls_and_leaves_no_connection(
    database: str, monkeypatch: pytest.MonkeyPatch, late: str
) -> None:
    reached, closed = threading.Event(), threading.Event()
    does: Callable[..., object] = getattr(headless, late)

    def closed_meanwhile(*arguments: object, **options: object) -> object:
        done = does(*arguments, **options)
        reached.set()
        assert closed.wait(30)
        return done

    monkeypatch.setattr(headless, late, closed_meanwhile)
    heard: list[Event | Target | Connection] = []
    poller = HeadlessPoller(target_of(database), (), interval_s=0.5, on_open=heard.append)
    poller.start(heard.append)
    assert reached.wait(30)
    assert query(database, OPEN) == [(1,)]
    poller.close()
    closed.set()
    wait_until(lambda: query(database, OPEN) == [(0,)], what="the connection closed")
    assert not heard
