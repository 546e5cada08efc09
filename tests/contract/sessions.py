"""Sessions that hold locks and wait for each other on a real PostgreSQL, each with its own thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence

import pyodbc

from tests.facts import connected, query, wait_until


class OpenSessions:
    """Named sessions. A session that waits does not block the test."""

    def __init__(self, url: str, stack: contextlib.ExitStack) -> None:
        self._url = url
        self._stack = stack
        self._threads: list[threading.Thread] = []
        self.connections: dict[str, pyodbc.Connection] = {}
        self.pids: dict[str, int] = {}

    def open(self, name: str, *statements: str) -> int:
        """Open a session in a transaction that has run these statements; return its process id."""
        connection = self._stack.enter_context(connected(self._url, autocommit=False))
        pid = int(connection.execute("SELECT pg_backend_pid()").fetchval())
        for statement in statements:
            cursor = connection.execute(statement)
            if cursor.description:
                cursor.fetchall()
        self.connections[name], self.pids[name] = connection, pid
        return pid

    def wait(self, name: str, statement: str, *before: str) -> int:
        """Run a statement in a new session and return once it waits for a lock."""
        pid = self.pids[name] if name in self.pids else self.open(name, *before)
        self.go(name, statement)
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = ?"
        wait_until(lambda: query(self._url, waiting, pid) != [(0,)], what=f"{name} waits")
        return pid

    def go(self, name: str, statement: str) -> None:
        """Run a statement on the session's own thread."""

        def run() -> None:
            with contextlib.suppress(pyodbc.Error):  # it may be cancelled or terminated
                cursor = self.connections[name].execute(statement)
                if cursor.description:
                    cursor.fetchall()

        thread = threading.Thread(target=run, name=name)
        thread.start()
        self._threads.append(thread)

    def end(self) -> None:
        """End all sessions."""
        with connected(self._url) as connection:
            for pid in self.pids.values():
                connection.execute("SELECT pg_terminate_backend(?)", pid).fetchall()
        for thread in self._threads:
            thread.join()


@contextlib.contextmanager
def open_sessions(url: str) -> Iterator[OpenSessions]:
    """Yield sessions that all end with the block."""
    with contextlib.ExitStack() as stack:
        sessions = OpenSessions(url, stack)
        try:
            yield sessions
        finally:
            sessions.end()


def stand(sessions: OpenSessions, blockers: Mapping[int, Sequence[int]]) -> None:
    """Open numbered sessions, each waiting for advisory locks that one or two earlier ones hold.

    The lock of a session is shared, so a pair can hold one that a later session waits for.
    """
    pairs = {tuple(sorted(held)) for held in blockers.values() if held}
    for number in blockers:
        mine = [_key(pair) for pair in sorted(pairs) if number in pair]
        sessions.open(str(number), *(f"SELECT pg_advisory_xact_lock_shared({key})" for key in mine))
    for number, held in blockers.items():
        if held:
            sessions.go(str(number), f"SELECT pg_advisory_xact_lock({_key(tuple(sorted(held)))})")


def _key(pair: tuple[int, ...]) -> int:
    return pair[0] * 10_000 + (pair[1] if len(pair) > 1 else 0)


def pid(raw: pyodbc.Connection) -> int:
    return int(raw.execute("SELECT pg_backend_pid()").fetchval())


@contextlib.contextmanager
def waiting(url: str, sql: str = "UPDATE items SET note = 'd' WHERE id = 1") -> Iterator[threading.Thread]:
    """A session that waits for the row."""
    with connected(url) as raw:
        raw.execute("SET application_name = 'shop'")
        raw.execute("SET statement_timeout = 20000")
        own = pid(raw)

        def wait() -> None:
            with contextlib.suppress(pyodbc.Error):
                raw.execute(sql)

        thread = threading.Thread(target=wait)
        thread.start()
        session = f"SELECT 1 FROM pg_locks WHERE NOT granted AND pid = {own}"
        wait_until(lambda: query(url, session), what="a session waits for the lock")
        yield thread
        thread.join(120)
