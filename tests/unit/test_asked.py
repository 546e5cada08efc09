"""The lines that ``qmon init`` writes for the user's answers."""

from __future__ import annotations

from pathlib import Path

from qmon.cli.init_questions import Answers
from qmon.config.config_file import parse_config
from qmon.config.toml_writer import queue_to_toml
from qmon.model.groups.configured_queue import ConfiguredQueue
from qmon.model.groups.group import Group
from qmon.model.layout.layout import Layout, StateColumn


def read(answers: Answers) -> ConfiguredQueue:
    """Parse the lines that are written for these answers."""
    text = '[target.shop]\nconnect = "postgresql://h/d"\n' + queue_to_toml("shop", answers.to_toml())
    (queue,) = parse_config(text, Path("qmon.toml")).targets["shop"].queues
    return queue


def test_one_value_a_state_is_a_queue_that_can_be_acted_on() -> None:
    found = read(Answers("jobs", "app.jobs", "id", "status", {"ready": ["new"], "done": [7]}, "run_at", times="utc"))
    assert isinstance(found, Layout)
    assert found.state == StateColumn("status", "new", done=7)
    assert (found.due_at, found.times) == ("run_at", "utc")


def test_several_values_of_a_state_are_conditions() -> None:
    states: dict[str, list[str | int]] = {"ready": ["new", "again"], "in_progress": [3], "blocked": ["held", 'x"]']}
    found = read(Answers("jobs", "jobs", "id", "status", states, "run_at", "taken_at", "q", "unix_ms"))
    assert isinstance(found, Group)
    kinds = {state.name: state.kind for state in found.states}
    assert kinds == {"ready": "ready", "scheduled": "scheduled", "in_progress": "in_progress", "blocked": "blocked"}
    assert [state.since.name for state in found.states if state.since is not None] == ["run_at", "run_at", "taken_at"]
    assert found.zone.name == "unix_ms"


def test_without_a_state_each_row_is_ready() -> None:
    assert isinstance(read(Answers("jobs", "jobs", "id")), Layout)
    several = read(Answers("jobs", "jobs", "id", due_at="run_at", queue="q"))
    assert isinstance(several, Group)
    assert [state.name for state in several.states] == ["ready", "scheduled"]
