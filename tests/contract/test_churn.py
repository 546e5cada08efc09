"""Tables are created and dropped: nothing is stored about dropped ones."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import partial

import pytest

from qmon.monitor.poll.collector import Collector
from tests.contract.tables import QUEUE
from tests.contract.watching import Watched, watching
from tests.facts import query, wait_until


def test_of_a_queue_that_is_gone_and_no_longer_shown_nothing_is_kept(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No object of the watching code has the name or the table id."""
    monkeypatch.setattr("qmon.monitor.background.catalog_reading.EVERY_S", 0.2)
    monkeypatch.setattr("qmon.monitor.catalog.resolve.MAX_LOST", 1)  # the number of dropped queues that stay visible
    query(database, f"CREATE TABLE stays_queue {QUEUE}")
    ids: dict[str, set[object]] = {}
    with watching(database) as watched:
        for lap in range(2):
            names = [f"gone_{lap}_{number}_queue" for number in range(3)]
            for name in names:
                query(database, f"CREATE TABLE {name} {QUEUE}; INSERT INTO {name} (status) VALUES ('ready')")
                ids[name] = {row[0] for row in query(database, f"SELECT CAST(CAST('{name}' AS regclass) AS int)")}
            tables = set[object]().union(*(ids[name] for name in names))
            wait_until(partial(_scanned, watched, tables), what="a scan of each table")
            assert _held(watched, dict.fromkeys(names, tables)), "existing tables are remembered"
            query(database, f"DROP TABLE {', '.join(names)}")
            wait_until(partial(_forgotten, watched, ids), what="dropped tables are forgotten")
            shown = {queue.name for queue in watched.views[-1].queues} & ids.keys()
            assert shown < set(names), "the tables dropped last stay visible"


def _scanned(watched: Watched, tables: set[object]) -> bool:
    return watched.poller.slow_reads.scan_counts.parts >= tables


def _forgotten(watched: Watched, ids: dict[str, set[object]]) -> bool:
    """Return whether at most one of these queues is shown, and nothing is stored about the others."""
    shown = {queue.name for queue in watched.views[-1].queues} & ids.keys()
    return len(shown) <= 1 and not _held(watched, {name: ids[name] for name in ids.keys() - shown})


def _held(watched: Watched, ids: dict[str, set[object]]) -> list[str]:
    """Return the places that store the name or the id of one of these tables."""
    del watched.views[:-1]
    watched.evidence.clear()
    connection = watched.poller._attempt.connection
    collectors = [each for each in gc.get_objects() if isinstance(each, Collector)]
    mine = [each for each in collectors if each._connection is connection]
    numbers = set[object]().union(*ids.values())
    return [
        path
        for path, value in _reached((*mine, watched.poller, watched.history))
        if value in numbers or (isinstance(value, str) and any(name in value for name in ids))
    ]


def _reached(roots: tuple[object, ...]) -> Iterator[tuple[str, str | int]]:
    """Yield every text and number in these objects, at any depth, and the path to it."""
    seen: set[int] = set()
    left: list[tuple[str, object]] = [(type(root).__name__, root) for root in roots]
    while left:
        path, found = left.pop()
        if isinstance(found, str) or type(found) is int:
            yield path, found
            continue
        if id(found) in seen or isinstance(found, type) or found is None:
            continue
        seen.add(id(found))
        if isinstance(found, dict):
            left += [(f"{path} key", key) for key in list(found)]
            left += [(f"{path}[]", value) for value in list(found.values())]
        elif isinstance(found, list | tuple | set | frozenset) or type(found).__name__ == "deque":
            left += [(f"{path}[]", value) for value in list(found)]  # type: ignore[call-overload]
        elif type(found).__module__.startswith(("qmon.", "tests.")):
            names = [*getattr(found, "__dict__", ()), *(s for c in type(found).__mro__ for s in _slots(c))]
            left += [(f"{path}.{name}", getattr(found, name)) for name in names if hasattr(found, name)]


def _slots(kind: type) -> tuple[str, ...]:
    found = kind.__dict__.get("__slots__", ())
    return (found,) if isinstance(found, str) else tuple(found)
