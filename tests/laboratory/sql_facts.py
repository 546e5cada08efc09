"""Read each queue and its server with plain SQL while qmon polls, and compare qmon's verdicts with these facts."""

from __future__ import annotations

import contextlib
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyodbc

from qmon.model.layout.layout import Layout
from qmon.model.view import View
from qmon.monitor.state.rates.rate_window import RATE_WINDOW_S
from tests.facts import connected, wait_until
from tests.laboratory.case import HOLDS
from tests.meanwhile import meanwhile
from tests.queues import ENGINE

EVERY_S: Final = 0.5
# A table that is locked longer than this many milliseconds is left out of one reading.
_LOCK_TIMEOUT_MS: Final = 100
# Seconds before a poll in which a pop contradicts verdicts that nothing is popped. Counters lag by up to one second.
_POPPED_S: Final = (8.0, 3.0)
# Seconds before a poll from which its readings may come.
_LATELY_S: Final = 12.0


@dataclass(frozen=True)
class QueueFact:
    """A queue as SQL reads it.

    ``head``: the first message that is ready, ``None`` without one; pops move it forward. ``longest_s``: the time in
    progress of the message that has been in progress longest. ``attempts``: the most pops of one message in the table.
    """

    at: float
    ready: int
    head: int | None
    longest_s: float
    attempts: int


@dataclass(frozen=True)
class ServerFact:
    """The server as SQL reads it.

    ``blocked``: sessions that wait for a lock. ``deadlocks``: since the server started. ``oldest_s``: the age of the
    oldest transaction. ``waits``: types and names of the waits of active sessions. ``clients``: application names.
    """

    at: float
    blocked: int
    deadlocks: int
    oldest_s: float
    waits: frozenset[str]
    clients: frozenset[str]


_SERVER: Final = """
SELECT extract(epoch FROM clock_timestamp())::float8,
    count(*) FILTER (WHERE wait_event_type = 'Lock'),
    (SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()),
    coalesce(extract(epoch FROM clock_timestamp() - min(xact_start) FILTER (WHERE pid <> pg_backend_pid())), 0)::float8,
    coalesce(string_agg(DISTINCT wait_event_type || ' ' || wait_event, ',') FILTER (WHERE state = 'active'), ''),
    coalesce(string_agg(DISTINCT application_name, ','), '')
FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
"""


class SqlFacts:
    """The facts of all queues of a laboratory, read twice a second until the block ends."""

    def __init__(self, url: str, layouts: Mapping[str, Layout]) -> None:
        self._url = url
        self._layouts = dict(layouts)
        self.queues: dict[str, list[QueueFact]] = {name: [] for name in layouts}
        self.server: list[ServerFact] = []

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Read facts until the end of the block."""
        with meanwhile(self._read):
            wait_until(lambda: self.server, what="the first facts")
            yield

    def _read(self, over: threading.Event) -> None:
        statements = {name: _statement(layout) for name, layout in self._layouts.items()}
        with connected(self._url) as session:
            session.execute("SET application_name = 'facts'")
            session.execute(f"SET lock_timeout = {_LOCK_TIMEOUT_MS}")
            while not over.wait(EVERY_S):
                at, blocked, deadlocks, oldest_s, waits, clients = session.execute(_SERVER).fetchone()
                for name, statement in statements.items():
                    with contextlib.suppress(pyodbc.Error):  # the table is locked
                        self.queues[name].append(QueueFact(*session.execute(statement).fetchone()))
                self.server.append(
                    ServerFact(
                        at, blocked, deadlocks, oldest_s, frozenset(waits.split(",")), frozenset(clients.split(","))
                    )
                )

    def contradiction(self, view: View, queue: str, code: str) -> str:
        """Return why the facts contradict a verdict on a queue, or an empty text.

        A verdict without a rule here counts as contradicted.
        """
        wait_until(lambda: self.server[-1].at > view.sampled_at, what="the facts after the poll")
        compare = _COMPARED.get(code)
        if compare is None:
            return "no fact shows it"
        return compare(Around(self, view.sampled_at, queue, HOLDS.get(code, 0.0), self._layouts[queue].timeout_s))


@dataclass(frozen=True)
class Around:
    """The facts around a poll at ``at``, on one queue. ``hold_s`` is that of the verdict."""

    facts: SqlFacts
    at: float
    queue: str
    hold_s: float
    timeout_s: float

    def queue_facts(self, from_s: float, until_s: float = -EVERY_S) -> Sequence[QueueFact]:
        """Return the readings from ``from_s`` to ``until_s`` seconds before the poll."""
        facts = self.facts.queues[self.queue]
        times = [fact.at for fact in facts]
        return facts[bisect_left(times, self.at - from_s) : bisect_right(times, self.at - until_s)]

    def server_facts(self, from_s: float) -> Sequence[ServerFact]:
        """Return the readings of the server from ``from_s`` seconds before the poll until just after it."""
        times = [fact.at for fact in self.facts.server]
        return self.facts.server[bisect_left(times, self.at - from_s) : bisect_right(times, self.at + EVERY_S)]


def _popped(around: Around) -> str:
    heads = [fact.head for fact in around.queue_facts(*_POPPED_S) if fact.head is not None]
    return f"the head moved from {heads[0]} to {heads[-1]}" if heads and heads[-1] > heads[0] else ""


def _no_consumers(around: Around) -> str:
    name = f"{around.queue} consumer"[:63]
    connected_now = [fact for fact in around.server_facts(_POPPED_S[1]) if name in fact.clients]
    return f"{name} is connected" if connected_now else _popped(around)


def _did_not_grow(around: Around) -> str:
    now = [fact.ready for fact in around.queue_facts(_LATELY_S)]
    before = [fact.ready for fact in around.queue_facts(around.hold_s + RATE_WINDOW_S + _LATELY_S, around.hold_s)]
    grew = not now or not before or max(now) > min(before)
    return "" if grew else f"ready was {min(before)} to {max(before)} and is {min(now)} to {max(now)}"


def _none_is_late(around: Around) -> str:
    longest = [fact.longest_s for fact in around.queue_facts(_LATELY_S)]
    held = [fact.oldest_s for fact in around.server_facts(_LATELY_S)]
    most_s = max((*longest, *held), default=around.timeout_s)
    return f"the longest is {most_s:.1f} s in progress" if most_s < around.timeout_s else ""


def _none_came_back(around: Around) -> str:
    attempts = [fact.attempts for fact in around.queue_facts(_LATELY_S)]
    return "no message has more than one attempt" if attempts and max(attempts) <= 1 else ""


def _none_is_blocked(around: Around) -> str:
    facts = around.server_facts(_LATELY_S)
    locked = len(around.queue_facts(_LATELY_S)) < len(facts)
    return "" if locked or any(fact.blocked for fact in facts) else "no session waits for a lock"


def _no_deadlocks(around: Around) -> str:
    counts = [fact.deadlocks for fact in around.server_facts(60.0)]
    return f"the server still counts {counts[0]} deadlocks" if counts and counts[-1] == counts[0] else ""


def _no_waits_for(*words: str) -> Callable[[Around], str]:
    def compare(around: Around) -> str:
        waits = frozenset[str]().union(*(fact.waits for fact in around.server_facts(_LATELY_S)))
        return "" if any(word in wait for wait in waits for word in words) else f"no session waits for {words}"

    return compare


def _no_old_transaction(around: Around) -> str:
    oldest_s = max((fact.oldest_s for fact in around.server_facts(_LATELY_S)), default=0.0)
    return f"the oldest transaction is {oldest_s:.1f} s old" if oldest_s < around.hold_s else ""


# qmon may also say that it cannot tell: SQL cannot contradict that.
_COMPARED: Final[Mapping[str, Callable[[Around], str]]] = {
    "cannot tell": lambda _: "",
    "no pops": _popped,
    "consumers not claiming": _popped,
    "no consumers": _no_consumers,
    "consumers fall behind": _did_not_grow,
    "stuck in progress": _none_is_late,
    "poison message at the head": _none_came_back,
    "everything locked": _none_is_blocked,
    "deadlocks": _no_deadlocks,
    "log-bound": _no_waits_for("WAL"),
    "latch-bound": _no_waits_for("LWLock", "BufferPin"),
    "cleanup held back": _no_old_transaction,
}


def _statement(layout: Layout) -> str:
    """Return SQL for one ``QueueFact``."""
    now, table = "extract(epoch FROM clock_timestamp())::float8", ENGINE.quote(layout.table.parts)
    if layout.ring is not None:
        pushed, popped = (
            f"(SELECT last_value FROM {ENGINE.quote(each.parts)})"
            for each in (layout.ring.push_sequence, layout.ring.pop_sequence)
        )
        return f"SELECT {now}, {pushed} - {popped}, {popped}, 0::float8, 0"
    ready, working = "true", "false"
    if layout.state is not None:
        ready = f"{layout.state.column} = {layout.state.ready}"
        working = f"{layout.state.column} = {layout.state.in_progress}"
    elif layout.due_at is not None:
        ready = f"{layout.due_at} <= clock_timestamp()"
    started, attempts = layout.started_at or "NULL::timestamptz", layout.attempts or "0"
    return (
        f"SELECT {now}, count(*) FILTER (WHERE {ready}), min({layout.id}) FILTER (WHERE {ready}),"
        f" coalesce(extract(epoch FROM clock_timestamp() - min({started}) FILTER (WHERE {working})), 0)::float8,"
        f" coalesce(max({attempts}), 0) FROM {table}"
    )
