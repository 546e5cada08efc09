"""Find the sessions that push into a queue or pop from it, by patterns, by called routines, or by table.

The last statement of a session shows the routine that the session calls. A session that has popped counts as a consumer
while it is connected, even if it runs other statements between two pops.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Final

from qmon.model.layout.layout import ClientPatterns, Layout
from qmon.model.operation_records import Side
from qmon.model.samples.client_samples import ProgramSessionSample

_PART: Final = r'(?:"(?:[^"]|"")+"|\[(?:[^\]]|\]\])+\]|[^\W\d][\w$#@]*)'
_NAME: Final = re.compile(rf"{_PART}(?:\s*\.\s*{_PART})*")
_PARTS: Final = re.compile(_PART)
_VERBS: Final = {
    Side.PRODUCERS: ("push", "push_batch"),
    Side.CONSUMERS: ("pop", "pop_batch", "complete", "complete_batch", "fail"),
}
# A pop that locks rows by a SELECT takes a few of them, or skips locked rows. Other statements with FOR UPDATE only
# hold locks, such as those of a session that looks at messages by hand.
_LIMITS: Final = frozenset({"fetch", "limit", "skip", "top"})


@dataclass(frozen=True, slots=True)
class ClientsSeen:
    """The connected producers or consumers of a queue.

    Attributes:
        waiting: how many of these sessions run no statement, or a statement that waits for a lock or for time to pass;
            ``None`` if statements are not visible.
        identified_by: how qmon identifies the sessions: by a ``pattern`` of the layout, by the ``routine`` or ``table``
            that they have used, or by the workers table of a ``library``.
        quietest: the session that has been quiet for the longest time.
        others: number of the other program sessions.
        left_s: seconds since a producer or consumer was last seen; ``None`` if none was ever seen.
        has_all_sessions: true if the list of sessions was complete, so that there are no more producers or consumers.
        quiet_s: seconds since any of these sessions last ran a statement; ``None`` while such a session runs one.
        sessions: these sessions; empty for the workers of a library.
    """

    connected: int
    waiting: int | None
    identified_by: str
    quietest: ProgramSessionSample | None = None
    others: int = 0
    left_s: float | None = None
    has_all_sessions: bool = True
    quiet_s: float | None = None
    sessions: tuple[ProgramSessionSample, ...] = ()

    @property
    def is_complete(self) -> bool:
        """True if no further session can be a producer or consumer.

        The last statement of an idle session may be ``COMMIT``. If neither a pattern nor a library names the clients,
        one of the other sessions may be a client that has done nothing since qmon connected.
        """
        known = self.identified_by in ("pattern", "library") or not self.others or self.left_s is not None
        return self.has_all_sessions and known


def identification_for(layout: Layout, side: Side) -> str:
    """Return how the clients of a side are identified: ``pattern``, ``routine`` or ``table``."""
    patterns = layout.producers if side is Side.PRODUCERS else layout.consumers
    if patterns != ClientPatterns():
        return "pattern"
    return "routine" if any(layout.routine_for(verb) for verb in _VERBS[side]) else "table"


def is_client(client: ProgramSessionSample, layout: Layout, side: Side) -> bool:
    """Return whether a session's properties and last statement identify a producer or consumer of the queue."""
    patterns = layout.producers if side is Side.PRODUCERS else layout.consumers
    if patterns != ClientPatterns():
        return _matches_clients(patterns, client)
    called = statement_words(client.statement)
    if not any(_is_called(parts, called) for parts in _identifying_names(layout, side)):
        return False
    if _routines(layout, side):
        return True
    pops = "delete" in called or ("update" in called and ("set" in called or not _LIMITS.isdisjoint(called)))
    return pops if side is Side.CONSUMERS else not pops and "insert" in called


def _routines(layout: Layout, side: Side) -> list[tuple[str, ...]]:
    return [name.parts for verb in _VERBS[side] if (name := layout.routine_for(verb)) is not None]


def _identifying_names(layout: Layout, side: Side) -> list[tuple[str, ...]]:
    """Return the names of the side's routines or, if it has none, of the queue's tables, each as a tuple of parts."""
    tables = (layout.table, layout.data_table)
    return _routines(layout, side) or [table.parts for table in tables if table is not None]


class SessionIndex:
    """The sessions of one poll, indexed by the names in their statements."""

    def __init__(self, sessions: Sequence[ProgramSessionSample]) -> None:
        self.all = sessions
        self.places = {client.key: place for place, client in enumerate(sessions)}
        # True if the statements of some sessions are hidden, because our role may not see the statements or the session
        # does not track them.
        self.hidden = any(not client.state for client in sessions)
        self._calling: dict[str, dict[tuple[int, float | None], ProgramSessionSample]] = {}
        for client in sessions:
            for name in statement_words(client.statement):
                self._calling.setdefault(name, {})[client.key] = client

    def find_clients(self, layout: Layout, side: Side) -> list[ProgramSessionSample]:
        """Return the producers or consumers of a queue, identified by their properties and last statements."""
        if not self.all:
            return []
        if identification_for(layout, side) == "pattern":
            maybe: Iterable[ProgramSessionSample] = self.all
        else:
            own = {parts[-1].lower() for parts in _identifying_names(layout, side)}
            maybe = [client for name in own for client in self._calling.get(name, {}).values()]
        return [client for client in maybe if is_client(client, layout, side)]


def summarize_clients(
    sessions: Iterable[ProgramSessionSample], client_keys: Collection[tuple[int, float | None]]
) -> tuple[int, int, ProgramSessionSample | None]:
    """Return how many of these clients are connected, how many of these wait, and the client that is quiet longest."""
    found = [client for client in sessions if client.key in client_keys]
    waiting = [client for client in found if is_idle_or_waiting(client)]
    return len(found), len(waiting), max(waiting or found, key=lambda client: client.quiet_s or 0.0, default=None)


def seconds_since_last_statement(
    sessions: Iterable[ProgramSessionSample], client_keys: Collection[tuple[int, float | None]]
) -> float | None:
    """Return the seconds since any of these clients last ran a statement, or ``None`` while a statement runs."""
    found = [client for client in sessions if client.key in client_keys]
    quiet = [client.quiet_s for client in found if client.state.startswith(("idle", "sleeping"))]
    return min((each or 0.0 for each in quiet), default=None) if len(quiet) == len(found) else None


def is_idle_or_waiting(client: ProgramSessionSample) -> bool:
    """Return whether a session runs no statement, or waits in a statement for a lock or for time to pass (a pop)."""
    return not client.state.startswith(("active", "running")) or client.wait_kind in ("Lock", "Timeout")


@lru_cache(maxsize=4096)
def statement_words(statement: str) -> frozenset[str]:
    """Return the names and words of a statement, lower case and unquoted, each with and without its schema."""
    found: set[str] = set()
    for name in _NAME.findall(statement):
        parts = [_unquote(part) for part in _PARTS.findall(name)]
        found.add(parts[-1])
        found.add(".".join(parts))
    return frozenset(found)


def _unquote(part: str) -> str:
    if part.startswith('"'):
        part = part[1:-1].replace('""', '"')
    elif part.startswith("["):
        part = part[1:-1].replace("]]", "]")
    return part.lower()


def _is_called(parts: tuple[str, ...], names: frozenset[str]) -> bool:
    """Return whether a statement contains a name, either with this schema or without a schema."""
    full = ".".join(parts).lower()
    own = parts[-1].lower()
    return full in names or (own in names and not any(name.endswith(f".{own}") for name in names))


def _matches_clients(patterns: ClientPatterns, client: ProgramSessionSample) -> bool:
    if patterns.application is not None and not _matches_pattern(patterns.application, client.application):
        return False
    if patterns.login is not None and not _matches_pattern(patterns.login, client.login):
        return False
    wanted = patterns.procedure
    return wanted is None or any(_matches_pattern(wanted, name) for name in statement_words(client.statement))


@lru_cache(maxsize=65536)
def _matches_pattern(pattern: str, text: str) -> bool:
    return fnmatchcase(text.lower(), pattern.lower().replace("[", "[[]"))
