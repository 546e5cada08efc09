"""Queues whose messages are archived, by one waiting session or by several at a time."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Iterator

import pyodbc

from qmon.model.layout.layout import Layout
from qmon.pipeline.messages.archive_reader import ArchiveTable, find_archive
from tests.facts import connected, query
from tests.queues import ENGINE, opened, routine


def finished(url: str, layout: Layout, messages: int) -> None:
    """Push and finish this number of messages."""
    push, pop = routine(layout, "push"), routine(layout, "pop_batch")
    query(url, f"SELECT count({push}('message ' || n)) FROM generate_series(1, {messages}) AS n")
    if layout.traits.completes:
        query(url, f"SELECT count({routine(layout, 'complete')}(r.id, r.attempt)) FROM {pop}({messages}) AS r")
    else:
        query(url, f"SELECT count(*) FROM {pop}({messages})")


def archive(connection: pyodbc.Connection, layout: Layout, messages: int) -> int:
    """Move up to this number of messages to the archive, in this connection's transaction.

    Return how many were moved.
    """
    return int(connection.execute(f"SELECT {routine(layout, 'archive')}({messages})").fetchval())


def found(url: str, layout: Layout) -> ArchiveTable:
    with opened(url) as connection:
        return find_archive(connection, ENGINE, layout)


def kept(url: str, archive: ArchiveTable) -> dict[int, str]:
    """Return the archive's content: number → message."""
    payload = ENGINE.quote((archive.columns["payload"] or "",))
    return {
        int(str(key)): str(text)
        for key, text in query(url, f"SELECT archive_id, {payload} FROM {ENGINE.quote(archive.parts)}")
    }


@contextlib.contextmanager
def archivers(url: str, layout: Layout, count: int) -> Iterator[None]:
    """Run this number of archivers until the block ends.

    Each archives a few messages at a time, then commits or rolls back.
    """
    stop = threading.Event()

    def work(number: int) -> None:
        chance = random.Random(number)
        with connected(url, autocommit=False) as connection:
            while not stop.is_set():
                archive(connection, layout, chance.randrange(1, 9))
                stop.wait(chance.uniform(0.0, 0.1))
                if chance.randrange(3):
                    connection.commit()
                else:
                    connection.rollback()

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(120)
