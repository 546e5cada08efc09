"""The statements of libraries: acting uses each of them, and its library comes with qmon."""

from __future__ import annotations

from dataclasses import fields
from typing import get_args

import pytest

from qmon.engines.sql import queries
from qmon.libraries.library import group_for, with_prefix
from qmon.libraries.library_catalog import built_in_libraries
from qmon.libraries.recognition import find_group
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.operation_records import Choice, OperationKind, Side
from qmon.operate.libraries import chosen_messages, library_pause
from qmon.operate.plan import allowed_actions
from qmon.operate.plan.library_queue import Verb, library_queue_for
from qmon.operate.run.batches import _Locked
from qmon.tui.actions.request import ActionRequest, options_for

FILES = [file for file in queries.all_files() if file.kind == "library" and file.name.count("/") == 2]


def queues() -> list[Layout]:
    """A queue of each library, for each prefix of its tables."""
    out = []
    for library in (each for each in built_in_libraries() if each.groups):
        for prefix in library.prefixes:
            name = with_prefix(str(library.groups[0]["table"]), prefix).replace("*", "mails")
            group = group_for(library, 1, prefix, ObjectName("app", name), f"{library.name}/mails")
            out.append(group.queue_layout("mails"))
    return out


QUEUES = queues()
# Their messages are only read.
READ_ONLY = {
    *("db-scheduler", "django-q2", "hangfire", "jobrunr", "kombu", "masstransit", "odoo-queue-job", "pg-boss 10"),
    *("pg-boss 9", "quartz", "quartz.net", "que", "spring-integration"),
}
# Their queues cannot have a gate.
NO_GATE = {
    *("graphile-worker", "kombu", "masstransit", "pg-boss 10", "pg-boss 9", "quartz", "quartz.net"),
    *("symfony-messenger",),
}
PAUSED = {"good_job", "river", "solid-queue"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.path)
def test_each_takes_what_acting_gives_and_returns_what_it_asks_for(file: queries.SqlFile) -> None:
    query = queries.load_query("postgres", file.name, (13, 0))
    of_rows = not file.name.endswith(("pause", "resume", "paused"))
    assert query.columns == (("id",) if of_rows else ("paused",) if file.name.endswith("paused") else ("queue",))
    assert set(query.parameters) - {"queue"} == ({"ids"} if of_rows else set())
    assert query.purpose


def test_each_is_found_by_some_queue() -> None:
    known = [library_queue_for(layout) for layout in QUEUES]
    found = {queue.statement_name(verb) for queue in known if queue is not None for verb in get_args(Verb)} - {None}
    assert found == {file.name for file in FILES}


@pytest.mark.parametrize("layout", QUEUES, ids=str)
def test_each_queue_is_requeued_where_that_is_known_and_what_else_is_known_is_done_to_it(
    layout: Layout,
) -> None:
    assert layout.part is not None
    assert (allowed_actions.why_not_allowed(layout, OperationKind.REQUEUE) is None) == (
        f"{layout.part.library} {layout.part.version}".rstrip() not in READ_ONLY
    )
    assert (allowed_actions.why_not_allowed(layout, OperationKind.PURGE) is None) == (
        f"{layout.part.library} {layout.part.version}".rstrip() not in READ_ONLY
    )
    assert allowed_actions.why_not_allowed(layout, OperationKind.REPAIR) == allowed_actions.NotAllowed.LIBRARY.render(
        verb="repair", library=layout.part.library, file=""
    )
    assert (allowed_actions.why_not_allowed(layout, OperationKind.PAUSE, Side.CONSUMERS) is None) == (
        layout.part.library in PAUSED
    )
    for kind in (OperationKind.PAUSE, OperationKind.INSTALL_GATE):
        assert (allowed_actions.why_not_allowed(layout, kind, Side.PRODUCERS) is None) == (
            f"{layout.part.library} {layout.part.version}".rstrip() not in NO_GATE
        )


@pytest.mark.parametrize("layout", QUEUES, ids=str)
def test_the_dialog_offers_owners_and_dead_messages_and_no_length_of_a_pause(layout: Layout) -> None:
    (offered,) = options_for(ActionRequest(OperationKind.REQUEUE, layout.queue, layout))
    assert offered.name == "messages"
    part = layout.part
    assert part is not None
    assert ("dead messages" in [words for words, _ in offered.values]) is ("dead" in part.kinds)
    marked = ActionRequest(OperationKind.REQUEUE, layout.queue, layout, Choice(ids=("1",), state="dead"))
    assert options_for(marked) == (), "marked dead messages are not stuck, and have no owner"
    assert options_for(ActionRequest(OperationKind.PAUSE, layout.queue, layout, side=Side.CONSUMERS)) == ()


@pytest.mark.parametrize("layout", QUEUES, ids=str)
def test_the_group_of_a_queue_is_found_anew(layout: Layout) -> None:
    found = find_group(built_in_libraries(), layout)
    assert found is not None
    assert found[0].queue_layout("mails") == layout


def test_columns_are_fields() -> None:
    for name, kind in (("choose", chosen_messages.ChosenRow), ("lock", _Locked)):
        columns = queries.load_query("postgres", f"library/{name}", (13, 0)).columns
        assert set(columns) == {field.name for field in fields(kind)}
    assert {field.name for field in fields(library_pause._ChangedQueueRow)} == {"queue"}
    assert {field.name for field in fields(library_pause._PauseState)} == {"paused"}
