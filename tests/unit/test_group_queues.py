"""Which queues of a group are known if it has more than are shown, and how often its states are read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from qmon.engines.postgres.postgres_engine import Postgres
from qmon.model.cost_budget import PollingCost, Throttled
from qmon.model.groups.conditions import ColumnRef, OneOf
from qmon.model.groups.group import MOST_QUEUES, Group, ResolvedGroup, State
from qmon.model.layout.layout import ObjectName
from qmon.model.samples.group_samples import GroupStateSample
from qmon.model.samples.polled_samples import ServerSample
from qmon.model.snapshot import Snapshot
from qmon.monitor.probes.group_probes import GroupProbes
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.state.stale_figures import max_fresh_age_s

GROUP = Group(
    "jobs",
    ObjectName("s", "jobs"),
    "id",
    (State("ready", "ready", OneOf(ColumnRef("state"), ("new",))),),
    ColumnRef("queue"),
)


def probes(group: Group = GROUP, cost_s: float = 0.0) -> GroupProbes:
    """Return the probes of a group that was never read. ``cost_s``: cost of each statement, in seconds."""
    costs = iter([cost_s])  # the cost is forgotten if a statement was not timed for long
    return GroupProbes(StatementCache(Postgres(), (18, 0)), ResolvedGroup(group, 1, 1), lambda _: next(costs, 0.0))


def read(probes: GroupProbes, queues: Iterable[str], now: float) -> None:
    """Record a poll that found these queues with a message each, those with most messages first."""
    rows = tuple(GroupStateSample("ready", queue, 1, 1.0, 0, 0) for queue in queues)
    probes.record_results({("jobs", "group_states:ready:ready"): rows}, now, now)


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
    found = {each.layout.queue: each for each in made.queue_samples({}, None)}
    assert len(found) == MOST_QUEUES
    assert found["jobs/q0"].head is None
    assert found["jobs/q1"].head is not None


@pytest.mark.parametrize(("cost_s", "late"), [(0.001, 10.0), (0.2, 100.0), (5.0, 2500.0)])
def test_a_state_that_is_dear_to_count_is_counted_seldom_and_what_is_ready_in_each_poll(
    cost_s: float, late: float
) -> None:
    dead = State("failed", "dead", OneOf(ColumnRef("state"), ("failed",)))
    made = probes(replace(GROUP, states=(*GROUP.states, dead)), cost_s)

    def asked(now: float) -> set[str]:
        return {each.probe for each in made.statements_for_poll(now, None, 50)} - {"group_strange"}

    assert asked(0.0) == {"group_states:ready:ready", "group_states:dead:failed"}
    made.record_results({("jobs", "group_states:dead:failed"): ()}, 0.0, 0.0)
    assert asked(late - 1.0) == {"group_states:ready:ready"}
    assert asked(late + 1.0) == {"group_states:ready:ready", "group_states:dead:failed"}


@pytest.mark.parametrize(("probe", "figure"), [("ready:ready", "ready"), ("in_progress:doing", "stuck")])
def test_a_figure_of_a_group_that_is_throttled_is_fresh_as_long_as_it_is_read_so_seldom(
    probe: str, figure: str
) -> None:
    throttled = Throttled("jobs", f"group_states:{probe}", 20.0, 1.0, 5.0)
    observing = PollingCost("1%", 10.0, 1.0, 10.0, (throttled,))
    server = ServerSample(100.0, 0.0, None, False, 1, 1, 1, 0)
    snapshot = Snapshot("t", "postgres", "18.6", 1, 100.0, 1.0, 0.0, 1.5, 10, 1.0, server, observing=observing)
    assert max_fresh_age_s(figure, snapshot, GROUP.queue_layout("mails")) == 20.0
    assert max_fresh_age_s(figure, snapshot, replace(GROUP, name="other").queue_layout("mails")) == 3.0
