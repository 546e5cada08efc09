"""The rings of both engines as small machines: each step is a statement of their routines, run in every order.

The proofs of holes and orphans are modelled by their meaning: no session has the number in hand. Now and then
(``doubts``) a proof is wrong; even then no message may be lost or doubled.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

# The side of the producers; subscriber k is side k.
PUSH: Final = 0


@dataclass(frozen=True)
class Slot:
    """One slot as committed. ``unread``: the subscribers that have to read its message."""

    turn: int
    message: str | None = None
    unread: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Session:
    """A producer or consumer.

    ``written``: the writes of its open transaction: place, new slot, message.
    """

    side: int
    number: int | None = None
    kept: int | None = None
    written: tuple[tuple[int, Slot, str], ...] = ()
    # Spare numbers taken by the open transaction.
    spent: frozenset[tuple[int, int]] = frozenset()
    # Spare numbers added by it.
    added: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Ring:
    """A ring with its sequences, its sessions and all committed data."""

    slots: tuple[Slot, ...]
    # The last number drawn, by side.
    drawn: tuple[int, ...]
    settled: tuple[int, ...]
    sessions: tuple[Session, ...]
    # SQL Server's ring keeps numbers that cannot be used. In PostgreSQL the sessions keep them.
    spares: bool
    spare: frozenset[tuple[int, int]] = frozenset()
    pushed: tuple[str, ...] = ()
    popped: tuple[tuple[int, str], ...] = ()
    # Messages that producers may still begin to push.
    left: int = 0
    faults: int = 0
    doubts: int = 0

    def proven(self, number: int, side: int) -> Ring | None:
        """Return the ring after a number is taken for ownerless, ``None`` if it has an owner and no mistake is left."""
        if not any(each.side == side and number in (each.number, each.kept) for each in self.sessions):
            return self
        return replace(self, doubts=self.doubts - 1) if self.doubts else None

    @property
    def size(self) -> int:
        return len(self.slots)

    @property
    def readers(self) -> range:
        return range(1, len(self.drawn))

    def at(self, number: int) -> Slot:
        return self.slots[number % self.size]

    def locked(self, number: int, by: int | None = None) -> bool:
        """Return whether another session has an uncommitted write to the slot of a number."""
        place = number % self.size
        return any(place == where for i, each in enumerate(self.sessions) if i != by for where, _, _ in each.written)

    def open_slot(self, number: int, by: int | None) -> Slot:
        """Return the slot as a session sees it, with its own transaction's writes."""
        seen = self.at(number)
        for place, slot, _ in self.sessions[by].written if by is not None else ():
            if place == number % self.size:
                seen = slot
        return seen

    def unsettled(self, side: int, number: int) -> bool:
        slot = self.at(number)
        return slot.turn <= number or (slot.turn == number + 1 and side in slot.unread)

    def having(self, by: int, **changes: object) -> Ring:
        sessions = list(self.sessions)
        sessions[by] = replace(sessions[by], **changes)  # type: ignore[arg-type]
        return replace(self, sessions=tuple(sessions))

    def drawing(self, side: int, count: int = 1) -> Ring:
        drawn = list(self.drawn)
        drawn[side] += count
        return replace(self, drawn=tuple(drawn))

    def with_slot(self, number: int, slot: Slot) -> Ring:
        slots = list(self.slots)
        slots[number % self.size] = slot
        return replace(self, slots=tuple(slots))


def new(
    *, spares: bool, size: int, readers: int, sessions: tuple[int, ...], left: int, faults: int, doubts: int = 1
) -> Ring:
    """Return an empty ring and idle sessions of these sides."""
    slots = tuple(Slot(place or size) for place in range(size))
    ends = (0,) * (readers + 1)
    return Ring(
        slots, ends, ends, tuple(Session(side) for side in sessions), spares, left=left, faults=faults, doubts=doubts
    )


# ------------------------------------------------------------------------------------------------ what the routines do


def choices(ring: Ring, by: int) -> Iterator[Ring]:
    """Yield the ways a session may get a number: its kept one, a spare one, a drawn one, with tidying up in between."""
    session = ring.sessions[by]
    side = session.side
    past = 0 if side == PUSH else 1
    if session.kept is not None:
        if ring.open_slot(session.kept, by).turn <= session.kept + past:
            yield ring.having(by, number=session.kept, kept=None)
            if side == PUSH:
                return
        else:
            ring = ring.having(by, kept=None)
    if ring.spares:
        yield from _spare_or_new(ring, by)
    else:
        slot_free = ring.at(ring.drawn[PUSH] + 1).turn >= ring.drawn[PUSH] + 1
        if slot_free if side == PUSH else ring.drawn[side] < ring.drawn[PUSH]:
            yield _draw(ring, by)
        yield from holes(ring)
    if side != PUSH:
        yield from settled(ring, by)


def _spare_or_new(ring: Ring, by: int) -> Iterator[Ring]:
    """SQL Server: take a spare number, and draw one if none is spare."""
    session = ring.sessions[by]
    side = session.side
    taken = {each for one in ring.sessions for each in one.spent}
    spare = sorted(number for where, number in (ring.spare | session.added) - taken if where == side)
    if not spare:
        yield _draw(ring, by)
        return
    fit = [n for n in spare if not ring.locked(n) and ring.at(n).turn >= n + (side != PUSH)]
    if fit:
        yield ring.having(by, number=fit[0], spent=session.spent | {(side, fit[0])})
        return
    yield from _holes_of_spare(ring, side, spare)
    slot_free = ring.at(spare[-1] + 1).turn > spare[-1]
    if slot_free if side == PUSH else ring.drawn[side] < ring.drawn[PUSH]:
        yield _draw(ring, by)


def _draw(ring: Ring, by: int) -> Ring:
    side = ring.sessions[by].side
    return ring.drawing(side).having(by, number=ring.drawn[side] + 1)


def holes(ring: Ring) -> Iterator[Ring]:
    """PostgreSQL: skip_hole."""
    for slot in ring.slots:
        if slot.turn <= ring.drawn[PUSH] and slot.message is None and not ring.locked(slot.turn):
            sure = ring.proven(slot.turn, PUSH)
            if sure is not None:
                yield sure.with_slot(slot.turn, Slot(slot.turn + ring.size))


def _holes_of_spare(ring: Ring, side: int, spare: list[int]) -> Iterator[Ring]:
    """SQL Server: skip holes in the way of a spare number, as take does."""
    for number in spare:
        slot = ring.at(number)
        behind = slot.turn < number if side == PUSH else slot.turn <= number < ring.drawn[PUSH]
        waited = any(
            where == PUSH and slot.turn <= n <= number - (side == PUSH) and n % ring.size == number % ring.size
            for where, n in ring.spare
        )
        sure = ring.proven(slot.turn, PUSH)
        if behind and not waited and slot.message is None and not ring.locked(number) and sure is not None:
            yield sure.with_slot(number, Slot(number if side == PUSH else number + ring.size))


def settled(ring: Ring, by: int) -> Iterator[Ring]:
    """Settle: PostgreSQL gives the consumer an orphan; SQL Server makes the numbers spare."""
    side = ring.sessions[by].side
    first = ring.settled[side] + 1
    while first <= ring.drawn[side] and not ring.unsettled(side, first) and not ring.locked(first):
        first += 1
    moved = tuple(first - 1 if k == side else each for k, each in enumerate(ring.settled))
    there = replace(ring, settled=moved)
    end = first + 4 * ring.size
    found = [n for n in range(first, min(ring.drawn[side] + 1, end)) if ring.unsettled(side, n) and not ring.locked(n)]
    if any(n in (s.number, s.kept) and s.side == side and i != by for n in found for i, s in enumerate(ring.sessions)):
        if not ring.doubts:
            return
        there = replace(there, doubts=ring.doubts - 1)
    if ring.spares:
        added = {(side, number) for number in found} - ring.spare - {a for one in ring.sessions for a in one.added}
        if added:
            yield replace(there, spare=ring.spare | added)
    else:
        found = [number for number in found if ring.at(number).turn == number + 1]
        if found:
            yield there.having(by, number=found[0])


def used(ring: Ring, by: int) -> Ring | None:
    """Move the session to its slot with its number.

    Return ``None`` if PostgreSQL's UPDATE waits for another session's lock.
    """
    session = ring.sessions[by]
    number, side = session.number, session.side
    assert number is not None
    slot = ring.open_slot(number, by)
    locked = ring.locked(number, by)
    if not locked and side == PUSH and slot.turn == number:
        message = f"m{len(ring.pushed) + ring.left}-{number}"
        after = Slot(number + 1, message, frozenset(ring.readers))
    elif not locked and side != PUSH and slot.turn == number + 1 and side in slot.unread:
        assert slot.message is not None
        message = slot.message
        unread = slot.unread - {side}
        after = replace(slot, unread=unread) if unread else Slot(number + ring.size)
    elif slot.turn > number + (side != PUSH) or (slot.turn == number + 1 and side not in slot.unread):
        return ring.having(by, number=None, kept=None)
    elif ring.spares:
        return ring.having(by, number=None, added=session.added | {(side, number)})
    else:
        return ring.having(by, number=None, kept=number)
    written = (*session.written, (number % ring.size, after, message))
    kept = None if ring.spares and side == PUSH else number
    if side == PUSH:
        ring = replace(ring, left=ring.left - 1)
    return ring.having(by, number=None, kept=kept, written=written)


def committed(ring: Ring, by: int) -> Ring:
    session = ring.sessions[by]
    for place, slot, message in session.written:
        ring = ring.with_slot(place, slot)
        if session.side == PUSH:
            ring = replace(ring, pushed=(*ring.pushed, message))
        else:
            ring = replace(ring, popped=(*ring.popped, (session.side, message)))
    ring = replace(ring, spare=(ring.spare - session.spent) | session.added)
    return ring.having(by, written=(), spent=frozenset(), added=frozenset())


def rolled_back(ring: Ring, by: int, *, ended: bool) -> Ring:
    """Roll the transaction back. If the session has ended, it forgets its number too."""
    session = ring.sessions[by]
    if session.side == PUSH:
        ring = replace(ring, left=ring.left + len(session.written))
    kept = None if ended else session.number if session.number is not None and not ring.spares else session.kept
    return ring.having(by, number=None, kept=kept, written=(), spent=frozenset(), added=frozenset())


def crashed(ring: Ring, jump: tuple[int, ...]) -> Ring:
    """Return the ring after a crash of the server: all sessions have ended, and the sequences are ahead of the drawn
    numbers."""
    for by in range(len(ring.sessions)):
        ring = rolled_back(ring, by, ended=True)
    return replace(ring, drawn=tuple(each + more for each, more in zip(ring.drawn, jump, strict=True)))


def steps(ring: Ring, jump: int, pops: int) -> Iterator[Ring]:
    """Yield all possible next states. ``pops``: maximum per transaction."""
    for by, session in enumerate(ring.sessions):
        if session.number is not None:
            after = used(ring, by)
            if after is not None:
                yield after
        elif len(session.written) < (1 if session.side == PUSH else pops) and (session.side != PUSH or ring.left):
            yield from choices(ring, by)
        if session.number is None and (session.written or session.added):
            yield committed(ring, by)
        if ring.faults and (session.written or session.number is not None):
            fewer = replace(ring, faults=ring.faults - 1)
            yield rolled_back(fewer, by, ended=False)
            yield rolled_back(fewer, by, ended=True)
    if ring.faults:
        fewer = replace(ring, faults=ring.faults - 1)
        ends = len(ring.drawn)
        for which in range(2**ends):
            yield crashed(fewer, tuple(jump * (which >> side & 1) for side in range(ends)))


# ------------------------------------------------------------------------------------------------ healing and repair


def all_ended(ring: Ring) -> Ring:
    """Return the ring after every session has ended, with a fresh session of each side."""
    for by in range(len(ring.sessions)):
        ring = rolled_back(ring, by, ended=True)
    return replace(ring, sessions=tuple(Session(side) for side in range(len(ring.drawn))), faults=0)


def called(ring: Ring, side: int, *, rounds: int = 60) -> tuple[Ring, bool]:
    """Run one call of push or pop that may wait, until its work is done or nothing more can be done."""
    for _ in range(rounds):
        if ring.sessions[side].number is None:
            found = next(iter(_in_order(ring, side)), None)
            if found is None:
                return ring, False
            ring = found
            continue
        after = used(ring, side)
        assert after is not None, "no other session is there to wait for"
        done = len(after.sessions[side].written) > 0
        ring = committed(after, side)
        if done:
            return ring, True
    return ring, False


def _in_order(ring: Ring, side: int) -> Iterator[Ring]:
    """Yield the choices of a session in the order in which pop makes them: orphans before new numbers."""
    kept = ring.sessions[side].kept
    if side != PUSH and not ring.spares:
        yield from settled(ring, side)
    for each in choices(ring, side):
        # It keeps waiting with a kept number that it cannot use yet, unless there is something to tidy up.
        if kept is None or each.sessions[side].number != kept or _usable(ring, side, kept):
            yield each


def _usable(ring: Ring, side: int, number: int) -> bool:
    return ring.at(number).turn == number + (side != PUSH)


def repaired(ring: Ring) -> Ring:
    """The routine repair, as each engine has it."""
    for side in ring.readers:
        orphans = [s.turn - 1 for s in ring.slots if s.message is not None and side in s.unread]
        for number in sorted(n for n in orphans if n <= ring.drawn[side] and (side, n) not in ring.spare):
            ring = _requeued(ring, side, number)
        if ring.spares:
            ring = next(settled(ring, side), ring)
        elif ring.drawn[side] > ring.drawn[PUSH]:
            ring = ring.drawing(side, ring.drawn[PUSH] - ring.drawn[side])
    for slot in ring.slots:
        if slot.message is None and slot.turn <= ring.drawn[PUSH] and (PUSH, slot.turn) not in ring.spare:
            laps = (ring.drawn[PUSH] - slot.turn) // ring.size + 1 if ring.spares else 1
            waits = [n for s, n in ring.spare if s == PUSH and n > slot.turn and n % ring.size == slot.turn % ring.size]
            ring = ring.with_slot(slot.turn, Slot(min(waits, default=slot.turn + ring.size * laps)))
    return ring


def _requeued(ring: Ring, side: int, number: int) -> Ring:
    slot = ring.at(number)
    unread = slot.unread - {side}
    freed = ring.with_slot(number, replace(slot, unread=unread) if unread else Slot(number + ring.size))
    freed = freed.having(PUSH, kept=None)
    there, done = called(replace(freed, left=1), PUSH)
    if done:
        drawn = next(s for s in there.slots if s.message == there.pushed[-1])
        place = drawn.turn - 1
        there = there.with_slot(place, Slot(drawn.turn, slot.message, frozenset({side})))
        return replace(there, pushed=ring.pushed, left=ring.left)
    if ring.spares:
        return replace(ring, spare=ring.spare | {(side, number)})
    drawn_back = tuple(min(each, number - 1) if k == side else each for k, each in enumerate(ring.drawn))
    return replace(ring, drawn=drawn_back)


def reached(start: Ring, jump: int, pops: int, most: int) -> set[Ring]:
    """Return every state that can be reached. Fail if there are more than ``most``."""
    seen = {start}
    todo = [start]
    while todo:
        for after in steps(todo.pop(), jump, pops):
            if after not in seen:
                assert len(seen) < most, "more states than expected"
                seen.add(after)
                todo.append(after)
    return seen


def walked(start: Ring, jump: int, pops: int, chance: random.Random, length: int) -> Ring:
    """Return the state after this number of random steps."""
    ring = start
    for _ in range(length):
        ahead = list(steps(ring, jump, pops))
        if not ahead:
            break
        ring = chance.choice(ahead)
    return ring
