"""Queues of ``qmon.toml`` that are a group: by a column, a part of a table, or states with conditions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qmon.cli.library_page import _ACTIONS, LibraryPageText, library_lines
from qmon.config.config_file import parse_config
from qmon.errors import BadInput
from qmon.libraries.library import group_for, library_from_dict
from qmon.model.config_reader import KeyText
from qmon.model.groups.conditions import AllOf, AnyOf, ColumnRef, IsNull, OneOf, Timed
from qmon.model.groups.configured_queue import ConfiguredQueue, NamedLibrary, QueueKeyText, configured_name
from qmon.model.groups.group import STATE_KINDS, Group
from qmon.model.groups.group_parser import GroupText
from qmon.model.layout.layout import Layout, LayoutSource, ObjectName
from qmon.model.layout.layout_io import LayoutText
from qmon.model.layout.requeue_options import RequeueOptionText
from qmon.model.operation_records import OperationKind
from qmon.operate.plan.allowed_actions import why_not_allowed
from qmon.operate.plan.library_queue import library_queue_for
from qmon.texts import Text
from tests.wordings import pattern

HEAD = '[target.shop]\nconnect = "postgresql://h/d"\n'
QUEUE = "[[target.shop.queue]]\n"
JOBS = 'name = "jobs"\ntable = "app.jobs"\nid = "id"\n'
STATE = 'state = { column = "status", ready = 1, in_progress = 2, dead = 3 }\n'


def read(*queues: str) -> tuple[ConfiguredQueue, ...]:
    """Parse the queues in this text."""
    return parse_config(HEAD + "".join(QUEUE + queue for queue in queues), Path("qmon.toml")).targets["shop"].queues


def group(text: str) -> Group:
    """Parse the only group in this text."""
    (found,) = read(text)
    assert isinstance(found, Group)
    assert found.source is LayoutSource.CONFIGURATION
    return found


def test_a_queue_with_a_column_that_tells_queues_apart_is_a_group_with_the_same_states() -> None:
    found = group(JOBS + STATE + 'due_at = "run_at"\nstarted_at = "taken_at"\nqueue = "queue_name"\ntimeout = "1m"\n')
    due, is_ready = ColumnRef("run_at"), OneOf(ColumnRef("status"), (1,))
    assert (found.table, found.queue, found.timeout_s) == (ObjectName("app", "jobs"), ColumnRef("queue_name"), 60.0)
    assert {state.name: state.when for state in found.states} == {
        "ready": AllOf((is_ready, AnyOf((IsNull(due), Timed(due, "<="))))),
        "scheduled": AllOf((is_ready, Timed(due, ">"))),
        "in_progress": OneOf(ColumnRef("status"), (2,)),
        "dead": OneOf(ColumnRef("status"), (3,)),
    }
    assert found.states[2].since == ColumnRef("taken_at")
    assert found.queue_layout("mails").queue == "jobs/mails"


def test_where_narrows_each_state() -> None:
    found = group(JOBS + 'where = { tenant = "a" }\n')
    assert found.queue is None
    assert [state.when for state in found.states] == [AllOf((OneOf(ColumnRef("tenant"), ("a",)), AllOf(())))]


def test_states_may_be_written_as_libraries_write_them() -> None:
    text = JOBS + 'queue = { column = "queue_name" }\nwhere = { kind = ["a", "b"] }\n'
    text += '[[target.shop.queue.state]]\nname = "ready"\nwhen = { locked_at = { null = true } }\n'
    text += '[[target.shop.queue.state]]\nname = "cancelled"\n'
    with pytest.raises(
        BadInput, match=pattern(GroupText.NEEDS_KIND, where="state[2]", kinds=", ".join(STATE_KINDS[:-1]), last="done")
    ):
        group(text + "when = { cancelled_at = { null = false } }\n")
    found = group(text + 'kind = "done"\nwhen = { cancelled_at = { null = false } }\n')
    assert [(state.name, state.kind) for state in found.states] == [("ready", "ready"), ("cancelled", "done")]
    part = OneOf(ColumnRef("kind"), ("a", "b"))
    assert found.states[0].when == AllOf((part, IsNull(ColumnRef("locked_at"))))


@pytest.mark.parametrize(
    ("owner", "conditions"),
    [
        ('owner = "worker"', (None, None, ColumnRef("worker"))),
        ('owner = { column = "until", kind = "lease" }', (Timed(ColumnRef("until"), "<="), None, None)),
        ('owner = { column = "beat", kind = "heartbeat" }', (None, Timed(ColumnRef("beat"), "<=", 300.0), None)),
    ],
)
def test_owners_prove_what_they_prove_in_other_queues(owner: str, conditions: tuple[object, ...]) -> None:
    found = group(JOBS + STATE + 'queue = "q"\n' + owner + "\n")
    assert (found.overdue, found.gone, found.owner) == conditions


def test_a_library_is_named_beside_other_queues() -> None:
    found = read(JOBS, 'library = "oban"\n')
    assert isinstance(found[0], Layout)
    assert found[1] == NamedLibrary("oban")
    assert [configured_name(each) for each in found] == ["jobs", "oban"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            'library = "obn"\n',
            pattern(
                KeyText.UNKNOWN_VALUE,
                path="target.shop.queue[1].library",
                value="obn",
                hint=KeyText.DID_YOU_MEAN.render(word="oban"),
            ),
        ),
        ('library = "oban"\nname = "x"\n', pattern(KeyText.UNKNOWN_KEY, path="target.shop.queue[1].name")),
        (
            JOBS + "queue = 3\n",
            pattern(KeyText.NOT_A_TABLE, path="target.shop.queue[1].queue", kind=KeyText.WHOLE_NUMBER),
        ),
        (
            JOBS + "queue = { colum = 1 }\n",
            pattern(
                KeyText.UNKNOWN_KEY,
                path="target.shop.queue[1].queue.colum",
                hint=KeyText.DID_YOU_MEAN.render(word="column"),
            ),
        ),
        (JOBS + "where = {}\n", pattern(GroupText.EMPTY_CONDITION, where="target.shop.queue[1].where")),
        (
            JOBS + "where = { a = { pasd = true } }\n",
            pattern(GroupText.NEEDS_TEST, where="target.shop.queue[1].where.a", tests="null, not, past"),
        ),
        (
            JOBS + 'queue = "q"\norder = ["id"]\n',
            pattern(QueueKeyText.NOT_WITH_GROUP, path="target.shop.queue[1].order", keys="queue or where"),
        ),
        (
            'name = "jobs"\ntable = "jobs"\ndesign = "fifo"\nqueue = "q"\n',
            pattern(QueueKeyText.NEEDS_ID, where="target.shop.queue[1]"),
        ),
        (
            JOBS + 'queue = "q"\ntimes = "unx"\n',
            pattern(LayoutText.NOT_A_TIME_ZONE, path="target.shop.queue[1].times", zone="unx"),
        ),
        (JOBS + "state = [{ name = 'ready' }]\n", pattern(GroupText.NEEDS_WHEN, where="target.shop.queue[1].state[1]")),
        (
            JOBS + "state = [{ name = 'ready', when = { a = 1 } }]\nowners = 1\n",
            pattern(KeyText.UNKNOWN_KEY, path="target.shop.queue[1].owners"),
        ),
    ],
)
def test_each_fault_is_one_line_with_the_path_of_its_key(text: str, fault: str) -> None:
    with pytest.raises(BadInput) as found:
        read(text)
    assert re.match(f"qmon.toml: {fault}", str(found.value))
    assert "\n" not in str(found.value)


LISTED = """
state = [
    { name = "ready", when = { status = "new" } },
    { name = "busy", kind = "in_progress", when = { status = "busy" }, since = "taken_at" },
    { name = "failed", kind = "dead", when = { status = "failed" } },
]
"""


def test_declared_writes_allow_the_same_actions_after_they_were_stored_with_the_layout() -> None:
    found = group(
        JOBS + LISTED + 'queue = "q"\nwrites = { ready = { status = { value = "new" }, taken_at = "null" } }\n'
    )
    assert found.writes is not None
    layout = found.queue_layout("mails")
    queue = library_queue_for(layout)
    assert queue is not None
    assert queue.group.writes == found.writes
    assert queue.group.states == found.states
    assert [queue.allows(verb) for verb in ("requeue", "retry", "discard")] == [True, True, False]
    assert why_not_allowed(layout, OperationKind.REQUEUE) is None
    assert why_not_allowed(layout, OperationKind.PURGE) is not None
    assert why_not_allowed(layout, OperationKind.INSTALL_GATE) is not None
    only_watched = group(JOBS + LISTED).queue_layout(None)
    assert library_queue_for(only_watched) is None
    purged = group(JOBS + LISTED + 'writes = { purge = "delete" }\n').queue_layout(None)
    assert [why_not_allowed(purged, kind) is None for kind in (OperationKind.PURGE, OperationKind.REDRIVE)] == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("writes", "text"),
    [
        ("{ }", GroupText.NO_WRITES),
        ('{ ready = { taken_at = "now" } }', GroupText.NEEDS_SET_VALUE),
        ('{ ready = { taken_at = "front" } }', RequeueOptionText.FRONT_NEEDS_ORDER),
        ("{ dead = { status = 4 } }", KeyText.UNKNOWN_KEY),
        ('{ purge = "archive" }', KeyText.UNKNOWN_VALUE),
    ],
)
def test_writes_that_declare_nothing_useful_are_errors(writes: str, text: Text) -> None:
    with pytest.raises(BadInput, match=pattern(text)):
        group(f"{JOBS}{LISTED}writes = {writes}\n")


def test_the_page_of_a_library_names_the_declared_actions() -> None:
    raw = {
        "name": "our-jobs",
        "tables": {"jobs": ["id", "status"]},
        "group": [
            {
                "table": "jobs",
                "id": "id",
                "state": [{"name": "ready", "when": {"status": "new"}}],
                "writes": {"ready": {"status": {"value": "new"}}},
            }
        ],
    }
    library = library_from_dict(raw, "file", own=True)
    actions = ", ".join((_ACTIONS["requeue"], _ACTIONS["retry"]))
    assert LibraryPageText.ACTIONS.render(actions=actions) in library_lines(library)
    layout = group_for(library, 1, "", ObjectName("app", "jobs"), "our-jobs").queue_layout(None)
    assert why_not_allowed(layout, OperationKind.REQUEUE) is None
