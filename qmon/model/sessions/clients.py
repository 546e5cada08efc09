"""Find the sessions that push into a queue or pop from it, by patterns, by called routines, or by table.

The last statement of a session shows what it calls. A session that was seen popping stays a consumer while it is
connected, whatever it runs between two pops.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from qmon.model.layout.layout import Clients, Layout
from qmon.model.operations import Side
from qmon.model.samples.clients import ClientSample

_PART: Final = r'(?:"(?:[^"]|"")+"|\[(?:[^\]]|\]\])+\]|[^\W\d][\w$#@]*)'
_NAME: Final = re.compile(rf"{_PART}(?:\s*\.\s*{_PART})*")
_PARTS: Final = re.compile(_PART)
_VERBS: Final = {
    Side.PUSHERS: ("push", "push_batch"),
    Side.POPPERS: ("pop", "pop_batch", "complete", "complete_batch", "fail"),
}
_POPS: Final = frozenset({"delete", "update"})


@dataclass(frozen=True, slots=True)
class ClientsSeen:
    """The connected producers or consumers of a queue.

    Attributes:
        waiting: those that run no statement, or one that waits for a lock or for time to pass; ``None`` if statements
            are not visible.
        by: how they are identified: ``pattern`` (the layout names them), ``routine`` or ``table`` (they were seen using
            it), ``library`` (they report themselves).
        one: the one that has been quiet longest.
        others: program sessions that are not among them.
        left_s: seconds since the last of them disconnected, if one was seen before.
        whole: no session was left out of the list, so there are no more of them.
        quiet_s: seconds in which none of them has run a statement; ``None``: one is running one now.
    """

    connected: int
    waiting: int | None
    by: str
    one: ClientSample | None = None
    others: int = 0
    left_s: float | None = None
    whole: bool = True
    quiet_s: float | None = None


def way_to_know(layout: Layout, side: Side) -> str:
    """Return how the clients of a side are identified: ``pattern``, ``routine`` or ``table``."""
    patterns = layout.pushers if side is Side.PUSHERS else layout.poppers
    if patterns != Clients():
        return "pattern"
    return "routine" if any(layout.routine(verb) for verb in _VERBS[side]) else "table"


def is_client(client: ClientSample, layout: Layout, side: Side) -> bool:
    """Return whether the session is a producer or consumer, judged by its properties and its last statement."""
    patterns = layout.pushers if side is Side.PUSHERS else layout.poppers
    if patterns != Clients():
        return _fits(patterns, client)
    called = names_in(client.statement)
    if not any(_called(parts, called) for parts in _names(layout, side)):
        return False
    if _routines(layout, side):
        return True
    pops = not _POPS.isdisjoint(called)
    return pops if side is Side.POPPERS else not pops and "insert" in called


def _routines(layout: Layout, side: Side) -> list[tuple[str, ...]]:
    return [name.parts for verb in _VERBS[side] if (name := layout.routine(verb)) is not None]


def _names(layout: Layout, side: Side) -> list[tuple[str, ...]]:
    """Return the names that clients of a side use, split into parts: routines, or tables if there are no routines."""
    tables = (layout.table, layout.data_table)
    return _routines(layout, side) or [table.parts for table in tables if table is not None]


class Sessions:
    """The sessions of one poll, indexed by the names in their statements."""

    def __init__(self, clients: Sequence[ClientSample]) -> None:
        self.all = clients
        self.places = {client.key: place for place, client in enumerate(clients)}
        # True if our role may not see what some of them do, or if they do not track it.
        self.hidden = any(not client.state for client in clients)
        self._calling: dict[str, dict[tuple[int, float | None], ClientSample]] = {}
        for client in clients:
            for name in names_in(client.statement):
                self._calling.setdefault(name, {})[client.key] = client

    def of(self, layout: Layout, side: Side) -> list[ClientSample]:
        """Return the producers or consumers of a queue, judged by their properties and last statements."""
        if not self.all:
            return []
        if way_to_know(layout, side) == "pattern":
            maybe: Iterable[ClientSample] = self.all
        else:
            own = {parts[-1].lower() for parts in _names(layout, side)}
            maybe = [client for name in own for client in self._calling.get(name, {}).values()]
        return [client for client in maybe if is_client(client, layout, side)]


def seen_of(
    clients: Iterable[ClientSample], members: Collection[tuple[int, float | None]]
) -> tuple[int, int, ClientSample | None]:
    """Return how many sessions are among ``members``, how many of these wait, and the one that is quiet longest."""
    found = [client for client in clients if client.key in members]
    waiting = [client for client in found if waits(client)]
    return len(found), len(waiting), max(waiting or found, key=lambda c: c.quiet_s or 0.0, default=None)


def quiet_for(clients: Iterable[ClientSample], members: Collection[tuple[int, float | None]]) -> float | None:
    """Return the seconds since any session among ``members`` ran a statement, ``None`` if one is running one."""
    found = [client for client in clients if client.key in members]
    quiet = [client.quiet_s for client in found if client.state.startswith(("idle", "sleeping"))]
    return min((each or 0.0 for each in quiet), default=None) if len(quiet) == len(found) else None


def waits(client: ClientSample) -> bool:
    """Return whether a session runs no statement, or one that waits for a lock or for time to pass (a waiting pop)."""
    return not client.state.startswith(("active", "running")) or client.wait_kind in ("Lock", "Timeout")


@lru_cache(maxsize=4096)
def names_in(statement: str) -> frozenset[str]:
    """Return the names and words of a statement, lower case and unquoted, each with and without its schema."""
    found: set[str] = set()
    for name in _NAME.findall(statement):
        parts = [_bare(part) for part in _PARTS.findall(name)]
        found.add(parts[-1])
        found.add(".".join(parts))
    return frozenset(found)


def _bare(part: str) -> str:
    if part.startswith('"'):
        part = part[1:-1].replace('""', '"')
    elif part.startswith("["):
        part = part[1:-1].replace("]]", "]")
    return part.lower()


def _called(parts: tuple[str, ...], called: frozenset[str]) -> bool:
    """Return whether a statement uses a name, with its schema or without any."""
    full = ".".join(parts).lower()
    own = parts[-1].lower()
    return full in called or (own in called and not any(name.endswith(f".{own}") for name in called))


def _fits(patterns: Clients, client: ClientSample) -> bool:
    if patterns.application is not None and not _like(patterns.application, client.application):
        return False
    if patterns.login is not None and not _like(patterns.login, client.login):
        return False
    wanted = patterns.procedure
    return wanted is None or any(_like(wanted, name) for name in names_in(client.statement))


@lru_cache(maxsize=65536)
def _like(pattern: str, text: str) -> bool:
    return fnmatchcase(text.lower(), pattern.lower().replace("[", "[[]"))
