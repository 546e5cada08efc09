"""Group files: how they are parsed, and one line for each error."""

from __future__ import annotations

import re
import tomllib

import pytest

from qmon.errors import BadInput
from qmon.model.config_reader import KeyText
from qmon.model.groups.conditions import AdvisoryLock, AllOf, AnyOf, ColumnRef, Compared, Exists, IsNull, OneOf, Timed
from qmon.model.groups.group import Group
from qmon.model.groups.group_parser import GroupText, group_from_dict
from qmon.model.layout.layout import ObjectName
from qmon.model.layout.layout_io import LayoutText
from tests.wordings import pattern

READY = '[[state]]\nname = "ready"\nwhen = { status = "new" }\n'


def state(name: str, when: str) -> str:
    """Return a state as written in a file."""
    return f'[[state]]\nname = "{name}"\nwhen = {when}\n'


def group(text: str) -> Group:
    """Parse this group."""
    return group_from_dict(tomllib.loads(text), ObjectName("s", "jobs"), where="file")


def when(text: str) -> object:
    """Parse this condition."""
    return group(f'name = "jobs"\nid = "id"\n[[state]]\nname = "ready"\nwhen = {text}\n').states[0].when


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ('{ a = "x" }', OneOf(ColumnRef("a"), ("x",))),
        ('{ a = ["x", 1] }', OneOf(ColumnRef("a"), ("x", 1))),
        ("{ a = true }", OneOf(ColumnRef("a"), ("true",))),
        ('{ a = { not = "x" } }', OneOf(ColumnRef("a"), ("x",), negated=True)),
        ("{ a = { null = true } }", IsNull(ColumnRef("a"))),
        ("{ a = { null = false } }", IsNull(ColumnRef("a"), negated=True)),
        ("{ a = { advisory_lock = false } }", AdvisoryLock(ColumnRef("a"), negated=True)),
        ("{ a = { past = true } }", Timed(ColumnRef("a"), "<=")),
        ('{ a = { future = true, plus = "30s" } }', Timed(ColumnRef("a"), ">", 30.0)),
        ('{ a = { past = true, plus = "lease" } }', Timed(ColumnRef("a"), "<=", ColumnRef("lease"))),
        ('{ a = { below = "most" } }', Compared(ColumnRef("a"), "<", ColumnRef("most"))),
        ("{ a = { at_least = 3 } }", Compared(ColumnRef("a"), ">=", 3)),
        ("{ a = 1, b = 2 }", AllOf((OneOf(ColumnRef("a"), (1,)), OneOf(ColumnRef("b"), (2,))))),
        ("{ any = [{ a = 1 }, { b = 2 }] }", AnyOf((OneOf(ColumnRef("a"), (1,)), OneOf(ColumnRef("b"), (2,))))),
        ('{ exists = { table = "t", key = "job" } }', Exists("t", "job", ColumnRef("id"))),
        (
            '{ missing = { table = "t", by = "w", when = { a = 1 } } }',
            Exists("t", "id", ColumnRef("w"), OneOf(ColumnRef("a"), (1,)), negated=True),
        ),
    ],
)
def test_a_condition_is_read(text: str, condition: object) -> None:
    assert when(text) == condition


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('name = "jobs"\n' + READY, pattern(KeyText.MISSING, path="file", name="id")),
        ('name = "jobs"\nid = "id"\n', pattern(GroupText.NEEDS_READY, where="file")),
        ('name = "jobs"\nid = "id"\n' + READY + READY, pattern(GroupText.SAME_NAME, where="file", name="ready")),
        (
            'name = "jobs"\nid = "id"\nqueeu = "q"\n' + READY,
            pattern(KeyText.UNKNOWN_KEY, path="file.queeu", hint=KeyText.DID_YOU_MEAN.render(word="queue")),
        ),
        ('name = "jobs"\nid = "id"\n[[state]]\nname = "ready"\n', pattern(GroupText.NEEDS_WHEN, where="file.state[1]")),
        (
            'name = "jobs"\nid = "id"\n[[state]]\nname = "ready"\nwhen = {}\n',
            pattern(GroupText.EMPTY_CONDITION, where="file.state[1].when"),
        ),
        (
            'name = "jobs"\nid = "id"\n[[state]]\nname = "ready"\nwhen = { a = { pasd = true } }\n',
            pattern(GroupText.NEEDS_TEST, where="file.state[1].when.a", tests="null, not, past"),
        ),
        (
            'name = "jobs"\nid = "id"\n[[state]]\nname = "ready"\nkind = "redy"\nwhen = { a = 1 }\n',
            pattern(
                KeyText.UNKNOWN_VALUE,
                path="file.state[1].kind",
                value="redy",
                hint=KeyText.DID_YOU_MEAN.render(word="ready"),
            ),
        ),
        (
            'name = "jobs"\nid = "id"\n'
            + state("ready", "{ s = ['new', 'again'] }")
            + state("done", "{ s = 'again' }"),
            pattern(
                LayoutText.SAME_VALUE,
                where="file",
                first="ready",
                second="done",
                first_value='"again"',
                second_value='"again"',
            ),
        ),
        (
            'name = "jobs"\nid = "id"\n' + state("ready", "{ s = 1 }") + state("dead", "{ s = [4, '1'] }"),
            pattern(
                LayoutText.SAME_VALUE, where="file", first="ready", second="dead", first_value="1", second_value='"1"'
            ),
        ),
        (
            'name = "jobs"\nid = "id"\n'
            + state("ready", "{ taken = { null = true } }")
            + state("in_progress", "{ taken = { null = true } }"),
            pattern(GroupText.SAME_CONDITION, where="file", first="ready", second="in_progress"),
        ),
        (
            'name = "jobs"\nid = "id"\n' + READY + '[[steps]]\ntable = "t"\nid = "id"\n',
            pattern(GroupText.NEEDS_STEP, where="file.steps[1]"),
        ),
    ],
)
def test_each_fault_is_named(text: str, fault: str) -> None:
    with pytest.raises(BadInput) as found:
        group(text)
    assert re.match(fault, str(found.value))


def test_the_values_of_two_states_may_be_told_apart_by_another_column() -> None:
    text = 'name = "jobs"\nid = "id"\n'
    text += state("ready", "{ s = 1, due = { past = true } }") + state(
        "scheduled", "{ s = 1, due = { future = true } }"
    )
    assert [each.name for each in group(text).states] == ["ready", "scheduled"]


def test_a_queue_of_a_group_has_the_figures_of_its_states() -> None:
    layout = group('name = "jobs"\nid = "id"\n' + READY).queue_layout("mails")
    assert layout.queue == "jobs/mails"
    assert layout.has_figure("ready")
    assert not any(
        map(layout.has_figure, ("in_progress", "stuck", "scheduled", "dead", "done", "complete_rate", "gap"))
    )
