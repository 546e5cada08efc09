"""Rows become records only if columns and types match the fields."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.engines.base import Rows
from qmon.engines.result_records import ResultText, to_records
from qmon.errors import QueryFailed
from qmon.model.samples import polled_samples
from tests.wordings import pattern


@dataclass(frozen=True, slots=True)
class Reading:
    id: str
    rows: int
    age_s: float | None
    on: bool


COLUMNS = ("id", "rows", "age_s", "on")


def test_rows_become_records() -> None:
    rows = Rows(COLUMNS, (("a", 1, 0.5, True), ("b", 2**60, None, False)))
    assert to_records(Reading, rows) == [Reading("a", 1, 0.5, True), Reading("b", 2**60, None, False)]


def test_no_rows_are_no_records_but_columns_are_still_checked() -> None:
    assert to_records(Reading, Rows(COLUMNS, ())) == []
    with pytest.raises(QueryFailed, match=pattern(ResultText.MISSING_COLUMNS, columns="id")):
        to_records(Reading, Rows(COLUMNS[1:], ()))


def test_the_order_of_columns_does_not_matter() -> None:
    assert to_records(Reading, Rows(("on", "age_s", "id", "rows"), ((True, 1.0, "a", 3),))) == [
        Reading("a", 3, 1.0, True)
    ]


def test_what_is_safe_is_converted_and_types_may_differ_from_row_to_row() -> None:
    rows = Rows(COLUMNS, (("a", 1, 2, True), ("b", Decimal(3), Decimal("0.25"), True), ("c", 4, 5.5, True)))
    assert to_records(Reading, rows) == [
        Reading("a", 1, 2.0, True),
        Reading("b", 3, 0.25, True),
        Reading("c", 4, 5.5, True),
    ]
    assert [type(record.age_s) for record in to_records(Reading, rows)] == [float] * 3


@pytest.mark.parametrize(
    ("row", "column", "given", "wanted"),
    [
        (("a", "1", None, True), "rows", "str '1'", "int"),
        (("a", 1.0, None, True), "rows", "float 1.0", "int"),
        (("a", True, None, True), "rows", "bool True", "int"),
        (("a", Decimal("1.5"), None, True), "rows", "Decimal Decimal('1.5')", "int"),
        (("a", None, None, True), "rows", "NULL", "int"),
        ((1, 1, None, True), "id", "int 1", "str"),
        (("a", 1, "2", True), "age_s", "str '2'", "float or NULL"),
        (("a", 1, None, 1), "on", "int 1", "bool"),
        (("a", 1, None, "1"), "on", "str '1'", "bool"),
        (("a", 1, None, None), "on", "NULL", "bool"),
    ],
)
def test_another_type_is_refused_by_column(row: tuple[object, ...], column: str, given: str, wanted: str) -> None:
    for _ in range(2):  # a refused row is not remembered as good
        with pytest.raises(
            QueryFailed,
            match=pattern(ResultText.WRONG_TYPE, query="Reading", column=column, given=given, wanted=wanted),
        ):
            to_records(Reading, Rows(COLUMNS, (("a", 1, 1.0, True), row)))


def test_a_whole_decimal_does_not_vouch_for_the_next() -> None:
    with pytest.raises(QueryFailed, match=pattern(ResultText.WRONG_TYPE, column="rows")):
        to_records(Reading, Rows(COLUMNS, (("a", Decimal(1), None, True), ("a", Decimal("1.5"), None, True))))


def test_a_superfluous_or_doubled_column_is_refused() -> None:
    with pytest.raises(QueryFailed, match=pattern(ResultText.EXTRA_COLUMNS, columns="colour")):
        to_records(Reading, Rows((*COLUMNS, "colour"), ()))
    with pytest.raises(QueryFailed, match=pattern(ResultText.COLUMN_TWICE)):
        to_records(Reading, Rows((*COLUMNS, "on"), ()))


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_a_float_that_is_no_finite_number_is_null(number: float) -> None:
    rows = (("a", 1, 1.0, True), ("b", 2, number, True), ("c", 3, 3.0, True))
    assert [each.age_s for each in to_records(Reading, Rows(COLUMNS, rows))] == [1.0, None, 3.0]
    with pytest.raises(
        QueryFailed, match=pattern(ResultText.WRONG_TYPE, column="now_at", given="NULL", wanted="float")
    ):
        to_records(polled_samples.ClockSample, Rows(("now_at",), ((number,),)))


FINITE: Final = st.floats(allow_infinity=False, allow_nan=False) | st.none()


@given(st.lists(st.builds(polled_samples.WriterSample, transaction_s=FINITE)), st.randoms())
def test_any_record_comes_back(expected: list[polled_samples.WriterSample], random: object) -> None:
    columns = [field.name for field in dataclasses.fields(polled_samples.WriterSample)]
    random.shuffle(columns)  # type: ignore[attr-defined]
    rows = Rows(tuple(columns), tuple(tuple(getattr(record, name) for name in columns) for record in expected))
    found = to_records(polled_samples.WriterSample, rows)
    assert found == expected


@pytest.mark.parametrize("kind", [kind for kind in vars(polled_samples).values() if dataclasses.is_dataclass(kind)])
def test_every_sample_can_be_read_from_a_row_of_one_column_order(kind: type[object]) -> None:
    with pytest.raises(QueryFailed, match=pattern(ResultText.MISSING_COLUMNS)):
        to_records(kind, Rows((), ()))
