"""Conditions as printed by PostgreSQL and SQL Server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.monitor.catalog.predicate import UNKNOWN, parse_index_condition

PRINTED = [
    ("(status = 1)", "status", {"1"}),
    ("(status = '1'::smallint)", "status", {"1"}),
    ("(status = 'ready'::text)", "status", {"ready"}),
    ("((status)::text = 'ready'::text)", "status", {"ready"}),
    ('("Status" = \'ready\'::"Weird Type")', "Status", {"ready"}),
    ("(state = 'ready'::app.job_state)", "state", {"ready"}),
    ("((x)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))", "x", {"a", "b"}),
    ("((x)::text = ANY (ARRAY[('a'::character varying)::text, ('b'::character varying)::text]))", "x", {"a", "b"}),
    ("(x = ANY ('{1,2}'::integer[]))", "x", {"1", "2"}),
    ("(x = ANY (ARRAY['in progress'::text, 'it''s'::text]))", "x", {"in progress", "it's"}),
    ("(NOT processed)", "processed", {"false"}),
    ("processed", "processed", {"true"}),
    ("(processed = false)", "processed", {"false"}),
    ("(processed IS NULL)", "processed", {None}),
    ("((a = 1) OR (a = 2))", "a", {"1", "2"}),
    ("((a = 1) AND (a = ANY (ARRAY[1, 2])))", "a", {"1"}),
    ('("we""ird" = 1)', 'we"ird', {"1"}),
    ("(a = '-1'::integer)", "a", {"-1"}),
]
PRINTED_WITH_BRACKETS = [
    ("([Status]=(1))", "Status", {"1"}),
    ("([Status] IN ((0), (1)))", "Status", {"0", "1"}),
    ("([Status]=(1) OR [Status]=(0))", "Status", {"0", "1"}),
    ("([St]]at us]=N'it''s ready')", "St]at us", {"it's ready"}),
    ("([Processed] IS NULL)", "Processed", {None}),
]


@pytest.mark.parametrize(("text", "column", "values"), PRINTED)
def test_postgres_conditions(text: str, column: str, values: set[str | None]) -> None:
    assert parse_index_condition(text).values_if_only(column) == frozenset(values)


@pytest.mark.parametrize(("text", "column", "values"), PRINTED_WITH_BRACKETS)
def test_sqlserver_conditions(text: str, column: str, values: set[str | None]) -> None:
    assert parse_index_condition(text, brackets=True).values_if_only(column) == frozenset(values)


def test_a_second_column_is_not_overlooked() -> None:
    both = parse_index_condition("((status = 1) AND (locked_at IS NULL))")
    assert both.values_if_only("status") is None
    assert both.allowed == {"status": {"1"}, "locked_at": {None}}
    partly = parse_index_condition("((status = 1) AND (due_at > '2020-01-01 00:00:00+00'::timestamp with time zone))")
    assert partly.values_if_only("status") is None


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "(a > 1)",
        "((a = 1) OR (b = 2))",
        "(lower(a) = 'x'::text)",
        "(a <> 1)",
        "(a IS NOT NULL)",
        "((a + b) = 2)",
        "('x'::text = a)",
        "(a = 1",
        "a = 1)",
        "(a ~~ 'x%'::text)",
        "(" * 5000,
    ],
)
def test_what_is_not_understood_is_said_to_be_unknown(text: str | None) -> None:
    assert parse_index_condition(text).values_if_only("a") is None
    assert parse_index_condition(text).more


@given(st.text())
def test_no_text_makes_it_raise(text: str) -> None:
    assert parse_index_condition(text) is not None
    assert parse_index_condition(text, brackets=True) is not None


def test_unknown_allows_nothing_to_be_concluded() -> None:
    assert UNKNOWN.values_if_only("a") is None
