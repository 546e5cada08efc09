"""Lock chains: sessions that wait for each other, as trees with the head blockers on top.

A session that waits for several blockers is shown in full below one blocker and as a repetition below the other
blockers. A cycle of sessions that wait for each other has no head blocker. The session of the cycle that blocks most
sessions is shown on top.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from qmon.model.samples.polled_samples import BlockingSample
from qmon.model.waits.graph import find_cycles, reachable_nodes, set_bits

# The number of a session and an empty name. A prepared transaction has the number 0 and its own name.
SessionKey = tuple[int, str]


class LockRole(StrEnum):
    """The role of a session in a lock chain."""

    # A head blocker in an open transaction without a running statement.
    IDLE = "idle in transaction"
    PREPARED = "prepared"
    RUNNING = "running"
    WAITING = "waiting"
    # A session that waits for itself, directly or indirectly.
    CYCLE = "cycle"


@dataclass(frozen=True, slots=True)
class HeldQueueRows:
    """The number of rows near the first message of a queue that a session has locked or popped.

    ``at_least``: true if there may be more such rows, because qmon reads only a limited number of rows.
    """

    queue: str
    rows: int
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class LockChainLine:
    """One line of a lock chain.

    Attributes:
        rails: one flag per level, from the level below the head blocker to the level of this line. A flag is true if
            the same blocker has more lines further down on that level. Empty for a line at the top.
        blockers: the sessions that this session waits for.
        blocks: number of sessions that wait for this session, directly or through other sessions.
        directly: number of sessions that wait for this session directly.
        longest_s: the longest wait among the sessions counted in ``blocks``, in seconds.
        is_repeated: true if another line shows this session in full and this line only repeats it.
    """

    session: BlockingSample
    role: LockRole
    rails: tuple[bool, ...] = ()
    blockers: tuple[SessionKey, ...] = ()
    blocks: int = 0
    directly: int = 0
    longest_s: float | None = None
    is_repeated: bool = False
    held: tuple[HeldQueueRows, ...] = ()

    @property
    def key(self) -> SessionKey:
        """The key that identifies the session."""
        return self.session.session, self.session.gid

    @property
    def is_head(self) -> bool:
        """True for a line at the top."""
        return not self.rails


@dataclass(frozen=True, slots=True)
class LockChains:
    """The lock chains, in the order of their lines. ``waiters``: number of waiting sessions."""

    places: tuple[LockChainLine, ...] = ()
    waiters: int = 0

    @property
    def heads(self) -> tuple[LockChainLine, ...]:
        """The head blockers, sorted by the number of sessions that they block, largest first."""
        return tuple(place for place in self.places if place.is_head)

    def find_line(self, key: SessionKey) -> LockChainLine | None:
        """Return the line that shows a session in full, or ``None`` if there is no such line."""
        return next((place for place in self.places if place.key == key and not place.is_repeated), None)


def build_lock_chains(
    rows: Sequence[BlockingSample], held_rows: Mapping[int, tuple[HeldQueueRows, ...]] | None = None
) -> LockChains:
    """Return the lock chains of these rows.

    ``held_rows``: the queue rows that each session holds, keyed by session, if known.

    Every session of ``rows``, even if it is named only as a blocker, is shown in full exactly once.
    """
    people = _sessions_by_key(rows)
    waits_for = _blockers_by_session(rows, people)
    behind: dict[SessionKey, list[SessionKey]] = {key: [] for key in people}
    for waiter, blockers in waits_for.items():
        for blocker in blockers:
            behind[blocker].append(waiter)
    group = find_cycles(behind)
    reach = reachable_nodes(behind, group)
    order = list(people)
    circles = {key for key in people if len(group[key]) > 1}

    def rank(key: SessionKey) -> tuple[float, float, SessionKey]:
        return -reach[key].bit_count(), -(people[key].transaction_s or 0.0), key

    def place(key: SessionKey, rails: tuple[bool, ...], is_repeated: bool) -> LockChainLine:
        mine = {order[i] for i in set_bits(reach[key])}
        waits = [w for k in mine if (w := people[k].waiting_s) is not None]
        return LockChainLine(
            people[key],
            _role(people[key], waits_for[key], key in circles),
            rails,
            waits_for[key],
            len(mine),
            len(behind[key]),
            max(waits, default=None),
            is_repeated,
            (held_rows or {}).get(key[0], ()) if key[0] else (),
        )

    tops = [k for k in people if all(b in group[k] for one in group[k] for b in waits_for[one])]
    tops = sorted({min(group[k], key=rank) for k in tops}, key=rank)
    places: list[LockChainLine] = []
    seen: set[SessionKey] = set()
    stack: list[tuple[SessionKey, tuple[bool, ...]]] = [(top, ()) for top in reversed(tops)]
    while stack:
        key, rails = stack.pop()
        places.append(place(key, rails, key in seen))
        if key in seen:
            continue
        seen.add(key)
        below = sorted(behind[key], key=lambda session: (session in seen, *rank(session)))
        stack += [(k, (*rails, i < len(below) - 1)) for i, k in reversed(list(enumerate(below)))]
    return LockChains(tuple(places), sum(1 for blockers in waits_for.values() if blockers))


_UNSEEN_SESSION: Final = BlockingSample(
    0, "", None, "", False, 0, 0, None, "", "", None, None, "", "gone", None, None, "", "", "", "", ""
)


def _sessions_by_key(rows: Iterable[BlockingSample]) -> dict[SessionKey, BlockingSample]:
    people: dict[SessionKey, BlockingSample] = {}
    named: dict[SessionKey, BlockingSample] = {}
    for row in rows:
        people.setdefault((row.session, row.gid), row)
        if row.blocker is not None:
            named[row.blocker, row.blocker_gid] = replace(_UNSEEN_SESSION, session=row.blocker, gid=row.blocker_gid)
    return named | people


def _blockers_by_session(
    rows: Iterable[BlockingSample], people: Mapping[SessionKey, BlockingSample]
) -> dict[SessionKey, tuple[SessionKey, ...]]:
    found: dict[SessionKey, dict[SessionKey, None]] = {key: {} for key in people}
    for row in rows:
        key = (row.session, row.gid)
        if row.blocker is not None and (row.blocker, row.blocker_gid) != key:
            found[key][row.blocker, row.blocker_gid] = None
    return {key: tuple(blockers) for key, blockers in found.items()}


def _role(session: BlockingSample, blockers: Sequence[SessionKey], circle: bool) -> LockRole:
    if circle:
        return LockRole.CYCLE
    if blockers:
        return LockRole.WAITING
    if session.session == 0:
        return LockRole.PREPARED
    return LockRole.IDLE if session.state.startswith("idle") else LockRole.RUNNING
