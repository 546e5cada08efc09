"""Which queues of a group are known where it has more than are shown."""

from __future__ import annotations

from collections.abc import Iterable

from qmon.engines.postgres.engine import Postgres
from qmon.model.groups.conditions import Column, OneOf
from qmon.model.groups.group import FoundGroup, Group, State
from qmon.model.layout.layout import TableName
from qmon.model.samples.groups import GroupStateSample
from qmon.monitor.probes.groups import MOST_QUEUES, GroupProbes
from qmon.monitor.probes.statements import StatementCache

GROUP = Group(
    "jobs", TableName("s", "jobs"), "id", (State("ready", "ready", OneOf(Column("state"), ("new",))),), Column("queue")
)


def probes() -> GroupProbes:
    """The probes of a group that was never read."""
    return GroupProbes(StatementCache(Postgres(), (18, 0)), FoundGroup(GROUP, 1, 1))


def read(probes: GroupProbes, queues: Iterable[str], now: float) -> None:
    """A poll has found these with a message each, those with most messages first."""
    rows = tuple(GroupStateSample("ready", queue, 1, 1.0, 0) for queue in queues)
    probes.learn({("jobs", "group_states:ready"): rows}, now, now)


def named(numbers: Iterable[int]) -> list[str]:
    """Names of queues."""
    return [f"q{number}" for number in numbers]


def test_one_that_is_empty_stays() -> None:
    made = probes()
    read(made, named([1, 2]), 0.0)
    read(made, named([2]), 10_000.0)
    assert made.queues == {"jobs/q1", "jobs/q2"}


def test_those_that_were_there_first_stay_while_they_are_among_the_greatest() -> None:
    made = probes()
    read(made, named(range(MOST_QUEUES)), 0.0)
    read(made, named(range(50, MOST_QUEUES + 50)), 10.0)
    assert made.queues == {f"jobs/{name}" for name in named(range(MOST_QUEUES))}


def test_one_that_has_grown_takes_the_place_of_one_that_has_long_had_few() -> None:
    made = probes()
    read(made, named(range(MOST_QUEUES)), 0.0)
    read(made, named([10_000, *range(1, MOST_QUEUES)]), 1000.0)
    assert made.queues == {f"jobs/{name}" for name in named([10_000, *range(1, MOST_QUEUES)])}


def test_what_was_not_among_those_that_were_read_is_unknown_and_not_0() -> None:
    made = probes()
    read(made, named(range(MOST_QUEUES)), 0.0)
    read(made, named(range(1, MOST_QUEUES + 1)), 1.0)
    found = {each.layout.queue: each for each in made.samples({}, None)}
    assert len(found) == MOST_QUEUES
    assert found["jobs/q0"].head is None
    assert found["jobs/q1"].head is not None
