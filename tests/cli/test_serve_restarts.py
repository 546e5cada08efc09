"""Counters of ``qmon serve`` while everything restarts: PromQL's ``increase()`` equals the number of moved messages."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from tests.cli.calling import program, surroundings
from tests.contract.watching import installed
from tests.facts import query, wait_until
from tests.increase import Scrapes
from tests.queues import call, opened

pytestmark = pytest.mark.server
PUSHED, POPPED = "qmon_queue_pushed_messages_total", "qmon_queue_popped_messages_total"
UP, POLL_AGE = "qmon_target_up", "qmon_target_poll_age_seconds"
BEGIN_ANEW = "SELECT setval('ring_classic_push_seq', 1, false), setval('ring_classic_pop_seq', 1, false)"


class Served:
    """A queue and a ring of a server, and ``qmon serve`` over them.

    ``pushed`` and ``popped``: counted while it watched.
    """

    def __init__(self, url: str, *designs: str) -> None:
        self.url = url
        self.layouts = {layout.queue: layout for layout in installed(url, *designs, ring_size=64)}
        self.scrapes = Scrapes()
        self.pushed = dict.fromkeys(self.layouts, 0)
        self.popped = dict.fromkeys(self.layouts, 0)

    @contextmanager
    def serving(self) -> Iterator[subprocess.Popen[str]]:
        """Start it, and wait until it counts."""
        command = program("serve", self.url, "--every", "500ms", "--listen", "127.0.0.1:0")
        with subprocess.Popen(
            command, env=surroundings(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as child:
            try:
                assert child.stderr is not None
                self.metrics = next(line for line in child.stderr if "serving" in line).split()[-1]
                self.polls(2)
                yield child
            finally:
                child.kill()

    def now(self) -> dict[tuple[str, str], float]:
        """Return the values of a scrape, by metric and queue."""
        return {(name, queue): value for (name, _, queue), value in self.scrapes.scrape(self.metrics).items()}

    def polls(self, number: int) -> None:
        """Wait until this number of polls have begun and ended."""
        for _ in range(number + 1):
            age = self.now().get((POLL_AGE, ""), 0.0)
            at = time.monotonic() - age  # the reported poll took place earlier
            wait_until(partial(self._polled_since, at), 90, what="a poll")

    def _polled_since(self, at: float) -> bool:
        asked_at = time.monotonic()
        found = self.now()
        return found[UP, ""] == 1 and asked_at - found[POLL_AGE, ""] > at

    def move(self, number: int, *, watched: bool = True, queues: Sequence[str] = ("status", "ring_classic")) -> None:
        """Push this number to the queues and pop one less.

        If ``watched``, wait until they are counted, exactly once.
        """
        for layout in map(self.layouts.__getitem__, queues):
            with opened(self.url) as connection:
                for _ in range(number):
                    call(connection, layout, "push", "'x'")
                for _ in range(number - 1):
                    assert call(connection, layout, "pop")
            if watched:
                self.pushed[layout.queue] += number
                self.popped[layout.queue] += number - 1
        if watched:
            self.wait_until_counted()

    def wait_until_counted(self) -> None:
        """Wait until the moved messages are counted, and one poll more: they are counted once."""
        wait_until(self._counted, 90, what=self._difference)
        self.polls(1)
        assert self._counted(), f"counted twice: {self._difference()}"

    def _counted(self) -> bool:
        self.now()
        return (self.increase(PUSHED), self.increase(POPPED)) == (self.pushed, self.popped)

    def _difference(self) -> str:
        """Return the counted and the actual numbers."""
        return (
            f"counted {self.increase(PUSHED)} pushed and {self.increase(POPPED)} popped, "
            f"of {self.pushed} and {self.popped}"
        )

    def increase(self, name: str) -> dict[str, float]:
        """Return the increase of each queue over all scrapes."""
        series = [key for key in self.scrapes.samples if key[0] == name]
        return {queue: self.scrapes.increase((name, target, queue)) for name, target, queue in series}


@pytest.mark.long
def test_no_restart_and_no_reset_makes_an_increase_negative_or_counts_twice() -> None:
    with EmbeddedServer(settings={"fsync": "off"}) as server:
        served = Served(server.url(), "status", "ring_classic")
        with served.serving() as child:
            served.move(7)
            query(served.url, "SELECT pg_stat_reset()")
            served.polls(2)
            served.move(5)
            query(served.url, f"TRUNCATE {served.layouts['status'].table}")
            served.polls(2)
            served.move(4)
            query(served.url, BEGIN_ANEW)
            served.polls(2)
            served.move(3)
            server.stop()
            wait_until(lambda: served.now()[UP, ""] == 0, 90, what="the loss")
            assert set(served.now()) == {(UP, ""), (POLL_AGE, "")}, "it is unknown now"
            server.start()
            served.polls(2)
            served.move(6)
            server.kill()
            server.start()
            served.polls(2)
            served.move(2, queues=("status",))  # the ring has lost the numbers that its sequences had reserved
            child.kill()
        served.move(9, watched=False, queues=("status",))
        with served.serving():
            served.move(5, queues=("status",))


@pytest.mark.long
def test_what_a_session_reports_late_is_counted_once_and_as_what_it_was(database: str) -> None:
    """Within a second of its last report, a session keeps its counters until it is idle for 10 s or ends."""
    served = Served(database, "status", "batch_fast")
    with served.serving():
        for layout in served.layouts.values():
            with opened(database) as connection:
                for _ in range(9):
                    call(connection, layout, "push", "'x'")
            served.pushed[layout.queue] = 9
            with opened(database) as kept:
                for _ in range(5):
                    assert call(kept, layout, "pop")
                served.polls(2)
            served.popped[layout.queue] = 5
            served.wait_until_counted()
            with opened(database) as kept, opened(database) as other:
                call(kept, layout, "complete", "1, 1")
                assert call(other, layout, "pop")
                assert call(kept, layout, "pop")
                served.polls(2)
            served.popped[layout.queue] = 7
            served.wait_until_counted()
