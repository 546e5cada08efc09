"""Blocked messages: the verdict and its proof; a queue with blocked messages is never empty."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from qmon.libraries.library import Library, group_for, queue_for, with_prefix
from qmon.libraries.library_catalog import all_libraries
from qmon.model.figure import Figure, Severity
from qmon.model.groups.group import STATE_KINDS, Group
from qmon.model.layout.layout import Layout, ObjectName, SharedTableQueue
from qmon.model.samples.group_samples import BlockedMessages, GroupBlockerSample
from qmon.model.snapshot import QueueSamples
from qmon.model.verdicts import RuleInput, judge_queue
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.model.verdicts.judge import JudgeText

PART: Final = SharedTableQueue("jobs", "mails", kinds=("ready", "in_progress", "blocked"))
LAYOUT: Final = Layout("jobs/mails", "states", ObjectName("s", "jobs"), id="id", part=PART)
STILL: Final = RuleInput(
    ready=Figure(0),
    in_progress=Figure(0),
    stuck=Figure(0),
    push_rate=Figure(0.0),
    pop_rate=Figure(0.0),
    blocked=Figure(3),
    blocked_oldest=Figure(12.0),
    timeout_s=300,
    layout=LAYOUT,
)
# The values of the state columns of libraries that do not run in tests/libraries; see there for the others.
KNOWN: Final = {
    "river": "available cancelled completed discarded pending retryable running scheduled",
}


def verdict(given: RuleInput) -> tuple[str, str]:
    """Return the code and the proof of the worst verdict."""
    found = judge_queue(given, 1000.0, {})[0][0]
    return found.code, found.proof


def test_blocked_messages_of_a_queue_that_stands_still_are_a_warning_at_once() -> None:
    found = judge_queue(STILL, 1000.0, {})[0][0]
    assert (found.code, found.severity) == ("blocked", Severity.WARNING)
    assert found.proof == FlowText.BLOCKED.render(
        more="", count=3, oldest=FlowText.OLDEST_FOR.render(age="12 s"), why="", waits=""
    )
    assert verdict(replace(STILL, blocked_oldest=Figure.unknown("no time")))[1] == FlowText.BLOCKED.render(
        more="", count=3, oldest="", why="", waits=""
    )


def test_it_names_what_blocks_and_who_holds_that() -> None:
    blockers = tuple(GroupBlockerSample(None, f"lock {n}", "worker" if n else None, 60.0, 9 - n) for n in range(4))
    samples = QueueSamples(LAYOUT, blocked=BlockedMessages(3, 12.0, blockers, ("their lock is taken",)))
    assert verdict(replace(STILL, samples=samples))[1] == (
        FlowText.BLOCKED.render(
            more="",
            count=3,
            oldest=FlowText.OLDEST_FOR.render(age="12 s"),
            why=": their lock is taken",
            waits=FlowText.WAIT_FOR.render(
                blockers="lock 0"
                + FlowText.FOR.render(age="1 m 00 s")
                + ", lock 1"
                + FlowText.HELD_BY.render(holder="worker")
                + FlowText.FOR.render(age="1 m 00 s"),
                more=FlowText.MORE_BLOCKERS.render(count=2),
            ),
        )
    )


@pytest.mark.parametrize("moves", [{"in_progress": Figure(1)}, {"pop_rate": Figure(3.0)}], ids=["works on one", "pops"])
def test_while_others_move_messages_may_be_blocked_for_as_long_as_work_may_take(moves: dict[str, Figure]) -> None:
    moving = replace(STILL, **moves)  # type: ignore[arg-type]
    assert verdict(moving)[0] == "healthy"
    assert verdict(moving)[1].endswith(JudgeText.AND_BLOCKED.render(flow="", blocked="3"))
    assert verdict(replace(moving, blocked_oldest=Figure(301.0)))[0] == "blocked"
    assert verdict(replace(moving, blocked_oldest=Figure.unknown("no time")))[0] == "blocked"


def test_an_unknown_number_of_blocked_messages_is_not_none() -> None:
    unknown = replace(STILL, blocked=Figure.unknown("no index leads to them"))
    assert verdict(unknown) == (
        "cannot tell",
        JudgeText.IS.render(figures="blocked", why=JudgeText.UNKNOWN.render(reason="no index leads to them")),
    )
    assert verdict(replace(STILL, blocked=Figure(0)))[0] == "empty"
    without = replace(LAYOUT, part=replace(PART, kinds=("ready", "in_progress")))
    assert verdict(replace(unknown, layout=without))[0] == "empty"


def groups(library: Library) -> list[Group]:
    """The groups of a library, by its file."""
    found: list[Layout | Group] = [
        group_for(
            library, n, library.prefixes[0], ObjectName("s", with_prefix(str(raw["table"]), library.prefixes[0])), "x"
        )
        for n, raw in enumerate(library.groups, 1)
    ]
    found += [queue_for(library, n, ObjectName("s", "t"), "x") for n in range(1, len(library.queues) + 1)]
    return [each for each in found if isinstance(each, Group)]


@pytest.mark.parametrize("library", all_libraries(), ids=lambda library: f"{library.name}-{library.engine}")
def test_every_state_of_every_library_is_classified(library: Library) -> None:
    for group in groups(library):
        kinds = {state.name: state.kind for state in group.states}
        assert set(kinds.values()) <= set(STATE_KINDS)
        assert "other" not in STATE_KINDS
        blocked = [state for state in group.states if state.kind == "blocked"]
        assert all(state.since is not None and state.why for state in blocked), "a count, an age, and the blocker"
        if library.name in KNOWN:
            named = {"ready": "available", "in_progress": "running"}
            assert {named.get(name, name) for name in kinds} == set(KNOWN[library.name].split())
