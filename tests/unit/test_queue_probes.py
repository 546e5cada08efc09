"""The probes of a queue, and the polls after which an empty queue is read less often."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from qmon.engines.postgres.postgres_engine import Postgres
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.layout.table_facts import TableFacts
from qmon.model.probe_table import PROBES
from qmon.model.samples.polled_samples import HeadSample, ProgressSample, WalkSample
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueProbes, QueueSpec

LINE = Layout("q", "fifo", ObjectName("s", "q"), id="id")
STATES = Layout("q", "status", ObjectName("s", "q"), id="id", state=StateColumn("status", 1, 2))
NONE_READY = HeadSample(None, None, 0)


@pytest.mark.parametrize(
    ("layout", "index", "found", "idle"),
    [
        (LINE, "head", {}, False),
        (LINE, "head", {"head": NONE_READY}, True),
        (LINE, "head", {"head": HeadSample("7", 1.0, 1)}, False),
        (LINE, "walk", {"head_walk": WalkSample("9", None, None, 0, whole=True)}, True),
        (LINE, "walk", {"head_walk": WalkSample("9", None, None, 0, whole=False)}, False),
        (STATES, "head", {"head_state": NONE_READY}, False),
        (STATES, "head", {"head_state": NONE_READY, "progress": ProgressSample(0, 0, None, None)}, True),
        (STATES, "head", {"head_state": NONE_READY, "progress": ProgressSample(1, 1, 0, 2.0)}, False),
    ],
)
def test_a_queue_is_idle_where_all_of_it_was_seen_and_nothing_was_there(
    layout: Layout, index: str, found: dict[str, Any], idle: bool
) -> None:
    facts = TableFacts(1, order_by="id", indexes={index: "ix", "progress": "ix_progress"})
    probes = QueueProbes(StatementCache(Postgres(), (18, 0)), QueueSpec(layout, facts))
    assert probes.is_idle({("q", probe): (sample,) for probe, sample in found.items()}) is idle


def asked_for_states(
    *, learnt: bool, only_presence: bool = False, every_s: float = 1.0, unreached: str = ""
) -> list[bool]:
    """Return whether each of three polls reads state values that qmon does not know.

    ``unreached``: a probe that no poll reaches.
    """
    layout = replace(STATES, state=StateColumn("status", 1, None, 3, learnt=learnt))
    facts = TableFacts(1, order_by="id", indexes={"states": "ix"})
    probes = QueueProbes(StatementCache(Postgres(), (18, 0)), QueueSpec(layout, facts))
    polls = []
    for number in range(3):
        asked = {
            each.probe for each in probes.statements_for_poll(every_s * number, 1, None, only_presence=only_presence)
        }
        polls.append("states" in asked)
        probes.record_unreached(unreached)
    return polls


def test_states_are_checked_in_each_poll_if_their_values_were_guessed_from_rows() -> None:
    assert asked_for_states(learnt=True) == [True, True, True]


def test_states_are_checked_seldom_if_their_values_are_certain_or_the_queue_is_read_in_brief() -> None:
    assert asked_for_states(learnt=False) == [True, False, False]
    assert asked_for_states(learnt=True, only_presence=True) == [True, False, False]
    assert asked_for_states(learnt=False, every_s=PROBES["in_state"].every_s) == [True, True, True]


def test_a_probe_that_a_late_poll_did_not_reach_is_read_in_the_next_poll() -> None:
    assert asked_for_states(learnt=False, unreached="states") == [True, True, True]
    assert asked_for_states(learnt=False, unreached="head") == [True, False, False]
