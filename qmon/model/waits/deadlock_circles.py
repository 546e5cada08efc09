"""Deadlocks: the recent number of deadlocks, and the sessions that waited for each other just before a deadlock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qmon.model.samples.deadlock_samples import Circle, CircleSample
from qmon.model.waits.graph import find_cycles


@dataclass(frozen=True, slots=True)
class Deadlocks:
    """The deadlocks of the last minute.

    ``count``: number of deadlocks according to the server. ``last_s``: seconds since the last deadlock was counted.
    ``circles``: the circles that were seen just before the deadlocks, newest last.
    """

    count: int
    last_s: float | None
    circles: tuple[Circle, ...]


def find_circles(rows: Sequence[CircleSample]) -> tuple[Circle, ...]:
    """Return the circles that these pairs form. A circle contains each of its sessions once."""
    after: dict[int, list[int]] = {row.session: [] for row in rows}
    for row in rows:
        after.setdefault(row.blocker, [])
        after[row.session].append(row.blocker)
    groups = {group for group in find_cycles(after).values() if len(group) > 1}
    found = []
    for group in sorted(groups, key=min):
        members = {row.session: row for row in rows if row.session in group and row.blocker in group}
        found.append(Circle(tuple(members[session] for session in sorted(members))))
    return tuple(found)
