"""Find messages that fail repeatedly, messages delivered twice, and starved priorities, by comparing polls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from qmon.model.evidence import Crashes, DoubleDelivery, Repeated, Starved
from qmon.model.layout.layout import Layout
from qmon.model.samples.client_samples import ProgramSessionSample
from qmon.model.samples.message_samples import MessageDiagnostics, OwnerSample, TriedSample
from qmon.model.samples.polled_samples import HeadSample
from qmon.model.snapshot import Snapshot


@dataclass(slots=True)
class _Level:
    head_id: str
    since_at: float
    # The number of head moves, of any priority, when this head appeared.
    moves: int


class PriorityTrack:
    """The priorities of one queue. Not thread-safe."""

    def __init__(self) -> None:
        self._levels: dict[int, _Level] = {}
        self._moves = 0

    def record_poll(self, messages: MessageDiagnostics, at: float) -> Starved | None:
        """Record one poll; return the priority whose head has waited longest while heads of other priorities moved.

        ``at``: server clock, seconds.
        """
        if messages.priorities is None:
            return None
        now = {sample.priority: sample for sample in messages.priorities}
        self._moves += sum(1 for p, level in self._levels.items() if p not in now or now[p].head_id != level.head_id)
        for priority, sample in now.items():
            level = self._levels.get(priority)
            if level is None or level.head_id != sample.head_id:
                self._levels[priority] = _Level(sample.head_id, at, self._moves)
        self._levels = {p: level for p, level in self._levels.items() if p in now}
        waiting = [(level.since_at, p) for p, level in self._levels.items() if self._moves > level.moves]
        if not waiting:
            return None
        since_at, priority = min(waiting)
        level = self._levels[priority]
        return Starved(priority, level.head_id, at - since_at, now[priority].oldest_s, self._moves - level.moves)


# Number of polls after which a missing message is forgotten.
_MISSED: Final = 2

# A message that is hidden while it is popped is remembered for this many seconds, because it may be given back.
_AWAY_S: Final = 30.0

# Tolerance for times of one poll. All are times of the server's clock, but different statements read the clock.
_JITTER_S: Final = 0.05


@dataclass(slots=True)
class _Case:
    first_at: float
    attempts: int | None
    mark: str
    error: str | None = None
    failures: int = 0
    missed: int = 0
    away: bool = False
    seen_at: float = 0.0


class TriesTrack:
    """The messages of one queue that were popped before. Not thread-safe."""

    def __init__(self) -> None:
        self._cases: dict[str, _Case] = {}

    def record_poll(
        self, messages: MessageDiagnostics, at: float, *, head: HeadSample | None = None, none_held: bool = True
    ) -> Repeated | None:
        """Record one poll at ``at`` (server clock, seconds); return the message that has failed most often.

        ``head``: the head, if the server hides rows that are being popped. If a message with an id before the head
        disappears and returns later, it was popped and given back. ``none_held``: no transaction holds rows, so a
        missing message will not return.
        """
        for case in self._cases.values():
            case.missed += 1
        if messages.tried is not None:
            self._record_attempt(messages.tried, messages.tried.mark, at)
        for owner in messages.owners or ():
            if owner.attempts is not None and (owner.attempts > 1 or owner.id in self._cases):
                self._record_attempt(owner, "", at)
        for id, case in self._cases.items():
            gone = head is not None and case.attempts is None and _is_before_head(id, head.head_id)
            case.away = case.missed > 0 and (case.away or gone)
        self._cases = {
            id: case
            for id, case in self._cases.items()
            if case.missed < _MISSED or (case.away and not none_held and at - case.seen_at <= _AWAY_S)
        }
        worst = max(self._cases, key=lambda id: self._cases[id].failures, default=None)
        if worst is None or not self._cases[worst].failures:
            return None
        case = self._cases[worst]
        return Repeated(worst, case.failures, at - case.first_at, case.attempts, case.error)

    def _record_attempt(self, row: TriedSample | OwnerSample, mark: str, at: float) -> None:
        attempts, case = row.attempts, self._cases.get(row.id)
        if case is None:
            self._cases[row.id] = _Case(at, attempts, mark, row.error, seen_at=at)
            return
        case.missed, case.seen_at = 0, at
        case.error = row.error or case.error
        if attempts is not None:
            case.failures += max(0, attempts - (case.attempts or 0))
            case.attempts = attempts
        elif case.away:
            case.failures += 1
            case.mark = mark or case.mark
        elif mark and mark != case.mark:
            # The first mark may be from a session that did not change the row. A new mark proves another pop.
            case.failures += case.mark not in ("", "0")
            case.mark = mark


def _is_before_head(id: str, head_id: str | None) -> bool:
    """Return whether a missing message would be the head if it were visible. Only whole-number ids can be compared."""
    return head_id is None or (id.isdecimal() and head_id.isdecimal() and int(id) < int(head_id))


# Deaths of consumers are remembered for this many seconds: a service manager waits longer after each crash.
_DEATHS_S: Final = 300.0

# Minimum number of consumers that die one after the other. A deployment or an operator ends each consumer once, so one
# or two deaths are no loop.
_MIN_DEATHS: Final = 3

# Maximum seconds since the last death.
CRASHED_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class _Death:
    started_at: float
    popped_at: float
    seen_at: float
    owner: str
    message: str


class CrashTrack:
    """The consumers of one queue that died with a message in progress. Not thread-safe."""

    def __init__(self) -> None:
        self._deaths: dict[str, _Death] = {}

    def record_poll(self, layout: Layout, messages: MessageDiagnostics, at: float) -> Crashes | None:
        """Record one poll at ``at`` (server clock, seconds); return the consumers that died one after the other.

        Only a session that is gone proves a death: a consumer whose lease or heartbeat has expired may just be slow.
        Consumers that a deployment ends do not count: the session of each consumer must have started after the consumer
        before popped its message. An owner without its session's start is ignored.
        """
        if layout.owner is None or layout.owner.kind != "session":
            return None
        self._deaths = {owner: death for owner, death in self._deaths.items() if at - death.seen_at <= _DEATHS_S}
        for row in messages.owners or ():
            started = (row.owner or "").partition("/")[2]
            if row.owner_state != "dead" or not row.owner or not started.isdecimal():
                continue
            if row.age_s is not None and row.age_s <= _DEATHS_S:
                death = _Death(float(started), at - row.age_s, at, row.owner, row.id)
                self._deaths.setdefault(row.owner, death)
        chain: list[_Death] = []
        for death in sorted(self._deaths.values(), key=lambda death: death.popped_at):
            if not chain or death.started_at > chain[-1].popped_at:
                chain.append(death)
        if len(chain) < _MIN_DEATHS or at - chain[-1].seen_at > CRASHED_S:
            return None
        first, last = chain[0], chain[-1]
        different = len({death.message for death in chain})
        return Crashes(len(chain), different, last.seen_at - first.popped_at, last.owner, last.message)


@dataclass(frozen=True, slots=True)
class _Delivery:
    owner: str
    popped_at: float


class DoubleDeliveryTrack:
    """Find messages of one queue that were delivered twice. Not thread-safe."""

    def __init__(self) -> None:
        self._deliveries: dict[str, _Delivery] = {}
        self._twice: dict[str, tuple[_Delivery, str]] = {}

    def record_poll(
        self, snapshot: Snapshot, layout: Layout, messages: MessageDiagnostics
    ) -> tuple[DoubleDelivery, ...]:
        """Record one poll and return the messages delivered twice.

        A second pop alone proves nothing, because the first owner may have given the message back. An owner has not
        given the message back if it is alive, keeps its session while it works, and has run no statement since its pop.
        """
        owner = layout.owner
        if owner is None or owner.kind != "session" or not owner.held_while_working:
            return ()
        if messages.owners is None or snapshot.clients is None:
            return ()
        at = snapshot.sampled_at
        sessions = {client.session: client for client in snapshot.clients}
        seen: dict[str, _Delivery] = {}
        for row in messages.owners:
            if row.owner is not None and row.age_s is not None:
                before = self._deliveries.get(row.id)
                # A slow poll makes a message appear older than it is, never younger.
                known = before.popped_at if before is not None and before.owner == row.owner else float("-inf")
                seen[row.id] = _Delivery(row.owner, max(known, at - row.age_s))
                self._compare_owners(row.id, seen[row.id], sessions, at)
        still_held = {
            id: hand for id, hand in self._deliveries.items() if id not in seen and _is_still_held(hand, sessions, at)
        }
        self._deliveries = still_held | seen
        self._twice = {
            id: (first, second)
            for id, (first, second) in self._twice.items()
            if id in seen and seen[id].owner == second and _is_still_held(first, sessions, at)
        }
        return tuple(
            DoubleDelivery(id, first.owner, second, at - first.popped_at) for id, (first, second) in self._twice.items()
        )

    def _compare_owners(self, id: str, now: _Delivery, sessions: dict[int, ProgramSessionSample], at: float) -> None:
        before = self._deliveries.get(id)
        if before is not None and before.owner != now.owner and _is_still_held(before, sessions, at):
            self._twice.setdefault(id, (before, now.owner))


def _is_still_held(hand: _Delivery, sessions: dict[int, ProgramSessionSample], at: float) -> bool:
    """Return whether an owner is connected, and its last statement has popped the message."""
    number, _, started = hand.owner.partition("/")
    client = sessions.get(int(number)) if number.isdigit() else None
    if client is None or client.begun_s is None:
        return False
    if started and (client.started_at is None or int(client.started_at) != int(started)):
        return False
    return at - client.begun_s <= hand.popped_at + _JITTER_S
