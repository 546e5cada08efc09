"""Shapes, completions and seeks of tables from SQL Server's catalog, without a server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.errors import BadInput
from qmon.model.layout.designs import TRAITS
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.reasons import Reason
from qmon.monitor.catalog.access_paths import IndexText, table_facts
from qmon.monitor.catalog.catalog import Activity, ColumnRow, Index, SequenceRows, TableDetails, TableRow, ValuesRow
from qmon.monitor.catalog.column_names import (
    column_for_role,
    normalize_name,
    queue_name_score,
    split_words,
    state_for_value,
)
from qmon.monitor.catalog.complete_layout import CompletionText, complete_layout
from qmon.monitor.catalog.discovery.listed_states import OtherQueues, find_other_queues, steps_by_time
from qmon.monitor.catalog.discovery.shape import score_shape
from qmon.monitor.catalog.predicate import parse_index_condition
from qmon.monitor.catalog.state_values import (
    KnownValues,
    StateValueText,
    fill_gaps,
    find_queue_state_column,
    known_values,
    needs_list_of_states,
    state_meanings,
    words_by_state,
)
from tests.wordings import has, pattern


def table(
    name: str, *columns: str, indexes: tuple[Index, ...] = (), values: tuple[ValuesRow, ...] = ()
) -> TableDetails:
    """A table of columns written as ``Name type``, with ``!`` for an identity."""
    rows = []
    for column in columns:
        spelled, kind = column.rstrip("!").split(" ", 1)
        rows.append(ColumnRow(1, spelled, kind, True, None, None, None, column.endswith("!")))
    return TableDetails(TableRow(1, "dbo", name, True, True, 100, 1), tuple(rows), indexes, values)


def look(details: TableDetails) -> float:
    state = find_queue_state_column(details, "status")
    known = known_values(details, state[0].column_name) if state else KnownValues()
    return score_shape(details, state, known).score


QUEUES = [
    table("HeapQueue", "Payload varbinary"),
    table("FifoQueue", "Id bigint!", "Payload varbinary"),
    table("PendingQueue", "DueTime datetime", "Payload varbinary"),
    table("Queue", "Id int!", "Status tinyint", "Message varbinary"),
    table("QueueSlow", "QueueID int!", "QueueDateTime datetime", "Title nvarchar", "Status int", "TextData nvarchar"),
    table(
        "TABLE",
        "ID int",
        "COMMAND nvarchar",
        "PROCESSED bit",
        indexes=(Index("cdxTable", False, False, ("PROCESSED", "ID")),),
    ),
    table("Work", "Id int!", "LockedAt datetime2", "Attempts int", "State nvarchar", "Body nvarchar"),
]


@pytest.mark.parametrize("details", QUEUES, ids=lambda details: details.table.table_name)
def test_queues_of_sql_server_are_told(details: TableDetails) -> None:
    assert look(details) >= 0.6


ORDINARY = [
    table("Users", "Id int!", "Status int", "LockedAt datetime2"),
    table("Orders", "Id int!", "CustomerId int", "Status nvarchar", "Total decimal"),
    table("EventLog", "Id int!", "Message nvarchar", "CreatedAt datetime2"),
    table("Articles", "Id int!", "Body nvarchar", "Published bit"),
    table("Queries", "Id int!", "Text nvarchar"),
]


@pytest.mark.parametrize("details", ORDINARY, ids=lambda details: details.table.table_name)
def test_ordinary_tables_are_not(details: TableDetails) -> None:
    assert look(details) < 0.6


def test_rows_that_only_pile_up_speak_against_a_queue() -> None:
    busy = table("Events", "Id int!", "Payload varbinary", "SentAt datetime2", "Attempts int")
    logged = replace(busy, activity=Activity(1, 100_000, 0, 0, 100_000))
    drained = replace(busy, activity=Activity(1, 100_000, 0, 99_000, 1_000))
    assert look(logged) < look(busy) < look(drained)


def test_an_identity_is_the_id_and_a_filtered_index_serves_its_state() -> None:
    where = parse_index_condition("([Status]=(1))", brackets=True)
    busy = parse_index_condition("([Status]=(2))", brackets=True)
    details = table(
        "Queue",
        "Id int!",
        "Status tinyint",
        "StartedAt datetime2",
        indexes=(
            Index("PK", True, True, ("Id",)),
            Index("IX_ready", False, False, ("Id",), where),
            Index("IX_busy", False, False, ("StartedAt", "Id"), busy),
        ),
    )
    layout, _ = complete_layout(
        Layout("q", "status", ObjectName("dbo", "Queue")), details, SequenceRows(), lambda _: KnownValues(("1", "2"))
    )
    assert layout.id == "Id"
    assert layout.state == StateColumn("Status", 1, 2)
    facts = table_facts(layout, details, None, SequenceRows())
    assert dict(facts.indexes) == {"ready": "IX_ready", "head": "IX_ready", "stuck": "IX_busy", "progress": "IX_busy"}
    assert "gap" not in facts.unknown


@pytest.mark.parametrize(
    ("ready_index", "served"),
    [
        (Index("a", False, False, ("Status", "Id")), True),
        (Index("b", False, False, ("Id", "Status")), False),
        (Index("c", False, False, ("Id",), parse_index_condition("([Status] IN ((0), (1)))", brackets=True)), False),
        (
            Index("d", False, False, ("Id",), parse_index_condition("([Status]=(0) AND [Kind]=(1))", brackets=True)),
            False,
        ),
        (Index("e", False, False, ("Id",), parse_index_condition("([Status]=(0))", brackets=True)), True),
        (Index("f", False, False, ("Status",)), False),
        (Index("g", False, False, ("Kind", "Status", "Id")), False),
    ],
    ids=lambda value: value.name if isinstance(value, Index) else str(value),
)
def test_only_an_index_that_keeps_ready_rows_apart_and_in_order_serves_the_head(
    ready_index: Index, served: bool
) -> None:
    details = table("Jobs", "Id int!", "Status int", "Kind int", indexes=(ready_index,))
    state = StateColumn("Status", 0, 1, 2)
    facts = table_facts(
        Layout("q", "status", ObjectName("dbo", "Jobs"), id="Id", state=state), details, None, SequenceRows()
    )
    assert ("ready" in facts.indexes) is served
    assert ("head" in facts.indexes) is served
    assert ("ready" in facts.slow) is not served


def test_an_index_that_partitions_divide_is_not_called_missing_and_no_other_would_help() -> None:
    aligned = Index("PK", True, True, ("Id", "Made"), ordered=False)
    details = table("Jobs", "Id int!", "Made datetime2!", indexes=(aligned,))
    layout = Layout("q", "fifo", ObjectName("dbo", "Jobs"), id="Id")
    facts = table_facts(layout, details, None, SequenceRows(), frozenset({"Made"}))
    assert facts.divided_by == {"Made"}
    assert facts.slow["ready"] == (
        Reason.NO_INDEX_FOR_READY.render(
            why=IndexText.NOT_IN_ORDER.render(column="Id"),
            index=IndexText.PARTITIONED.render(columns="`Made`", column="Id"),
        )
    )


def test_random_ids_have_no_order_and_no_gap() -> None:
    details = table("Jobs", "Id uniqueidentifier", "Status int", indexes=(Index("PK", True, True, ("Id",)),))
    layout = Layout("q", "status", ObjectName("dbo", "Jobs"), id="Id", state=StateColumn("Status", 0, 1))
    facts = table_facts(layout, details, None, SequenceRows())
    assert facts.order_by is None
    assert has(facts.unknown["oldest"], Reason.IDS_IN_NO_ORDER)
    assert has(facts.unknown["gap"], Reason.IDS_NOT_NUMBERS)
    timed = table(
        "Jobs",
        "Id uniqueidentifier",
        "Status int",
        "CreatedAt datetime2",
        indexes=(Index("IX", False, False, ("Status", "CreatedAt")),),
    )
    facts = table_facts(replace(layout, enqueued_at="CreatedAt"), timed, None, SequenceRows())
    assert (facts.order_by, facts.order_by_number, "head" in facts.indexes) == ("CreatedAt", False, True)


def test_a_due_time_that_may_be_null_is_not_sought() -> None:
    details = table("Jobs", "Id int!", "RunAt datetime2", indexes=(Index("IX", False, False, ("RunAt",)),))
    layout = Layout("q", "pending", ObjectName("dbo", "Jobs"), id="Id", due_at="RunAt")
    assert "due" in table_facts(layout, details, None, SequenceRows()).indexes
    nullable = replace(details, columns=tuple(replace(c, not_null=False) for c in details.columns))
    facts = table_facts(layout, nullable, None, SequenceRows())
    assert "due" not in facts.indexes
    assert has(facts.slow["ready"], Reason.DUE_MAY_BE_NULL)


@pytest.mark.parametrize(
    ("kind", "known", "flag", "wanted"),
    [
        ("int", KnownValues(), False, None),
        ("int", KnownValues((), default="1"), False, StateColumn("s", 1)),
        ("int", KnownValues(("1",)), False, None),
        ("int", KnownValues(("1", "2", "3")), False, StateColumn("s", 1, 2)),
        ("bigint", KnownValues(("1003", "1006")), False, None),
        ("bigint", KnownValues(("1003",), default="7"), False, None),
        ("int", KnownValues(("0", "1")), False, StateColumn("s", 0, 1)),
        ("int", KnownValues(("0", "1", "2")), False, StateColumn("s", 0, 1, 2)),
        ("int", KnownValues(("2",), default="0"), False, StateColumn("s", 0, None, 2)),
        ("int", KnownValues(), True, None),
        ("int", KnownValues(("0",)), True, StateColumn("s", 0)),
        ("int", KnownValues(("0", "1")), True, StateColumn("s", 0, None, 1)),
        ("bit", KnownValues(), True, StateColumn("s", 0, None, 1)),
        ("boolean", KnownValues(), True, StateColumn("s", "false", None, "true")),
        ("text", KnownValues(("IN PROGRESS", "Ready")), False, StateColumn("s", "Ready", "IN PROGRESS")),
        (
            "text",
            KnownValues(("new", "pending", "failed"), default="pending"),
            False,
            StateColumn("s", "pending", dead="failed"),
        ),
        ("text", KnownValues((), default="queued"), False, StateColumn("s", "queued")),
        ("text", KnownValues(("zig",)), False, None),
    ],
)
def test_what_the_values_of_a_state_column_say(
    kind: str, known: KnownValues, flag: bool, wanted: StateColumn | None
) -> None:
    column = ColumnRow(1, "s", kind, True, None, None, None, False)
    found, why = state_meanings(column, known, "status", flag=flag)
    assert found == wanted
    assert why


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("ready", "new pending queued waiting available"),
        ("scheduled", "scheduled retry retrying retryable sleeping delayed"),
        ("in_progress", "processing running active claimed locked picked taken aborting cancelling stopping"),
        ("blocked", "blocked suspended awaiting on_hold paused"),
        ("dead", "dead failed error expired killed abandoned discarded crashed Timed-Out"),
        ("done", "done completed succeeded consumed cancelled canceled archived skipped"),
    ],
)
def test_each_common_word_belongs_to_one_state(state: str, words: str) -> None:
    assert {state_for_value(word) for word in words.split()} == {state}


def test_one_column_has_several_words_only_for_done_messages() -> None:
    def words(*values: str) -> dict[str, tuple[str, ...]]:
        return words_by_state(KnownValues(values))

    assert words("new", "zig", "cancelled", "done") == {"ready": ("new",), "done": ("done", "cancelled")}
    assert not needs_list_of_states(words("new", "running", "done", "cancelled", "failed"))
    assert needs_list_of_states(words("new", "pending"))
    assert needs_list_of_states(words("new", "retry"))
    assert needs_list_of_states(words("new", "failed", "expired"))
    assert not needs_list_of_states(words("failed", "expired")), "no value means ready"


def test_consumed_means_in_progress_or_done_by_the_other_words_and_is_unknown_without_them() -> None:
    def meaning(*values: str, closed: bool = False) -> str | None:
        words = words_by_state(KnownValues(values, closed=closed))
        return next((state for state, found in words.items() if "consumed" in found), None)

    assert meaning("queued", "consumed", "done") == "in_progress"
    assert meaning("queued", "running", "consumed") == "done"
    assert meaning("queued", "running", "consumed", "done") == "done"
    assert meaning("queued", "consumed", closed=True) == "done"
    assert meaning("queued", "consumed") is None


def test_queues_named_after_another_queue_have_its_scheduled_or_dead_messages() -> None:
    found = find_other_queues("q", ["mails", "mails.DQ", "mails.XQ", "orders", "orders_dead", "a.b", "lost.DQ"])
    assert found == OtherQueues("q", {"dead": (".XQ", "_dead"), "scheduled": (".DQ",)})
    assert find_other_queues("q", ["mails", "orders", "mails2"]) is None


def test_times_of_rows_show_the_steps_of_each_queue_if_done_messages_stay() -> None:
    zoned = ("created_at", "started_at", "finished_at")
    details = table("jobs", "id uuid!", "q text", *(f"{name} timestamp with time zone" for name in zoned))
    states: list[dict[str, object]] = [
        {"name": "ready", "when": {"s": ["new"]}},
        {"name": "in_progress", "when": {"s": ["busy"]}},
        {"name": "done", "when": {"s": ["done"]}},
    ]
    steps = steps_by_time(details, states, "q")
    assert [(step["at"], step["queue"]) for step in steps] == [(name, "q") for name in zoned]
    assert [next(iter(step.keys() - {"at", "table", "queue"})) for step in steps] == ["pushed", "popped", "completed"]
    assert steps_by_time(details, states[:2], "q") == []
    local = table("jobs", "id uuid!", "q text", "created_at timestamp without time zone")
    assert steps_by_time(local, states, "q") == []


def test_a_value_that_appears_later_for_done_messages_is_added() -> None:
    before, now = StateColumn("s", "new", "busy"), StateColumn("s", "new", "busy", "done", also_done=("cancelled",))
    assert fill_gaps(before, now) == now
    assert fill_gaps(now, before) == now
    assert fill_gaps(now, replace(now, done="skipped", also_done=("done",))) == replace(
        now, also_done=("cancelled", "skipped")
    )


def test_sources_of_values_come_in_a_fixed_order_and_the_first_closed_one_wins() -> None:
    def known(*values: tuple[str, str], where: str | None = None) -> KnownValues:
        indexes = () if where is None else (Index("IX", False, False, ("Id",), parse_index_condition(where)),)
        rows = tuple(ValuesRow(1, "status", origin, text) for origin, text in values)
        return known_values(table("jobs", "Id int!", "status text", indexes=indexes, values=rows), "status")

    check = ("check", "(status = ANY (ARRAY['new'::text, 'done'::text]))")
    enum, default = ("enum", '["new", "held", "done"]'), ("default", "'new'::text")
    statistics = ("statistics", '["done", "busy"]')
    assert known(check, enum, default, statistics) == KnownValues(("done", "new"), "check", "new", closed=True)
    assert known(enum, default, statistics) == KnownValues(
        ("new", "held", "done"), StateValueText.ENUM_LABELS, "new", closed=True
    )
    assert known(default, statistics, where="(status = 'new'::text)") == KnownValues(
        ("busy", "done", "new"), f"{StateValueText.PARTIAL_INDEXES} and {StateValueText.STATISTICS}", "new"
    )
    assert known(("statistics", '["new", "busy", "done"]'), where="(status = 'new'::text)").values == (
        known(("statistics", '["done", "new", "busy"]'), where="(status = 'new'::text)").values
    )
    assert known(default) == KnownValues((), "", "new")


def test_a_foreign_key_is_no_state_and_words_are_taken_before_numbers() -> None:
    def state_column(details: TableDetails) -> str | None:
        found = find_queue_state_column(details, "status")
        return None if found is None else found[0].column_name

    hangfire = table("job", "id bigint!", "stateid bigint", "statename text", "arguments jsonb")
    assert state_column(hangfire) == "statename"
    lone = table("job", "id bigint!", "stateid bigint", "arguments jsonb")
    assert state_column(lone) == "stateid"
    assert state_column(replace(lone, foreign_columns=frozenset({"stateid"}))) is None
    named = table("job", "id bigint!", "status text", "arguments jsonb")
    assert state_column(replace(named, foreign_columns=frozenset({"status"}))) == "status"


def test_of_two_words_for_one_state_the_same_is_taken_whatever_the_order() -> None:
    column = ColumnRow(1, "s", "text", True, None, None, None, False)
    words = ("new", "pending", "failed", "error")
    found = {
        state_meanings(column, KnownValues(each), "status")[0] for each in (words, words[::-1], tuple(sorted(words)))
    }
    assert found == {StateColumn("s", "new", dead="failed")}


def test_names_of_any_spelling() -> None:
    assert {normalize_name("Queue_Date-Time"), normalize_name("queueDateTime")} == {"queuedatetime"}
    assert split_words("dbo.MyHTTPQueue_2") == ("dbo", "my", "http", "queue")
    assert column_for_role("started_at", [("locked_at", "text"), ("LockedAt", "datetime2")]) == "LockedAt"
    assert state_for_value("In-Progress") == "in_progress"
    assert queue_name_score("order_queue") > queue_name_score("tasks") > queue_name_score("orders")
    assert queue_name_score("queue_history") < 0
    assert all(design in TRAITS for design in ("status", "flag", "fifo"))


def test_many_columns_speak_against_a_queue_and_few_for_it() -> None:
    def wide(count: int) -> float:
        return look(table("Queue", "Id int!", "Message varbinary", *(f"c{n} int" for n in range(count - 2))))

    assert wide(6) > wide(7) == wide(15) > wide(16) == wide(25) > wide(26)


@pytest.mark.parametrize("kind", ["float", "timestamp", "varbinary", "sql_variant", "hierarchyid"])
def test_a_column_without_an_exact_text_is_no_id_on_sql_server(kind: str) -> None:
    textless = SqlServer().types_without_text
    layout = Layout("q", "fifo", ObjectName("dbo", "Queue"))
    primary = Index("PK", True, True, ("Id",))
    details = table("Queue", f"Id {kind}", "Payload nvarchar", indexes=(primary,))
    found, why = complete_layout(layout, details, SequenceRows(), lambda _: KnownValues(), textless)
    assert found.id is None
    column = CompletionText.TEXTLESS.render(column="Id", type=kind)
    assert CompletionText.NO_ID.render(column=column) in why
    with pytest.raises(BadInput, match=pattern(CompletionText.OTHER_ID, column=column)):
        complete_layout(replace(layout, id="Id"), details, SequenceRows(), lambda _: KnownValues(), textless)
    with pytest.raises(BadInput, match=pattern(CompletionText.OTHER_ID, column=column)):
        complete_layout(
            replace(layout, id="No", key=("Id", "No")),
            table("Queue", f"Id {kind}", "No int"),
            SequenceRows(),
            lambda _: KnownValues(),
            textless,
        )
    assert (
        complete_layout(
            replace(layout, id="Id"), details, SequenceRows(), lambda _: KnownValues(), Postgres().types_without_text
        )[0].id
        == "Id"
    )


def test_a_key_with_a_column_without_an_exact_text_is_not_what_messages_are_named_by() -> None:
    details = table("Queue", "Part float!", "Id int!", indexes=(Index("PK", True, True, ("Part", "Id"), whole=True),))
    layout = Layout("q", "fifo", ObjectName("dbo", "Queue"), id="Id")
    assert (
        complete_layout(layout, details, SequenceRows(), lambda _: KnownValues(), SqlServer().types_without_text)[0].key
        == ()
    )
    assert complete_layout(layout, details, SequenceRows(), lambda _: KnownValues())[0].key == ("Part", "Id")
