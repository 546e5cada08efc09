"""Close a connection while another thread cancels: the driver must not use freed memory."""

from __future__ import annotations

import contextlib
import random
import threading

import pytest

from qmon.engines.base import Connection
from qmon.engines.driver_calls import DriverCallText
from qmon.errors import ConnectionLost, StatementStopped
from tests.contract.engines import open_target, sql
from tests.wordings import pattern


def test_closing_waits_for_a_cancel_under_way(database: str) -> None:
    """Otherwise the driver crashes, and Python with it."""
    asked = sql("SELECT g FROM generate_series(1, 200) AS g", "g")
    for _ in range(100):
        connection, closed = open_target(database), threading.Event()

        def harass(connection: Connection = connection, closed: threading.Event = closed) -> None:
            while not closed.is_set():
                connection.cancel()

        threads = [threading.Thread(target=harass, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(random.randrange(1, 4)):
            with contextlib.suppress(StatementStopped):
                connection.fetch_batch([asked, asked])
        connection.close()
        closed.set()
        for thread in threads:
            thread.join(120)
        with pytest.raises(ConnectionLost, match=pattern(DriverCallText.CLOSED)):
            connection.fetch(sql("SELECT 1 AS alive", "alive"))
