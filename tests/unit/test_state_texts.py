"""A state's value with characters that the code page of its column lacks is refused (SQL Server)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.monitor.catalog.catalog import Catalog, ColumnRow, Index, SequenceRows, TableDetails, TableRow
from qmon.monitor.catalog.newest_times import compare_with_clock
from qmon.monitor.catalog.resolve import _Resolver
from qmon.monitor.catalog.state_values import StateValueText, check_state, known_values
from tests.replayed import Driver, connection

ROW = TableRow(12, "dbo", "Orders", True, True, 1000, 30)


class Keeping(Driver):
    """Reports whether the column can hold a value, and keeps the requested values."""

    def __init__(self, kept: bool) -> None:
        super().__init__()
        self.kept = kept
        self.asked_about: list[object] = []

    def answer(self, text: str) -> tuple[tuple[str, ...], Sequence[tuple[object, ...]]]:
        if not text.startswith("/* qmon catalog/state_kept */"):
            return super().answer(text)
        assert "q.[State]" in text
        assert "FROM [dbo].[Orders]" in text
        self.asked_about.append(self.values[0])
        return ("kept",), [(self.kept,)]


def layout(state: StateColumn) -> Layout:
    return Layout("orders", "status", ObjectName("dbo", "Orders"), id="Id", state=state)


def details(type_name: str) -> TableDetails:
    return TableDetails(ROW, (ColumnRow(12, "State", type_name, True, None, None, None, False),))


def resolved(driver: Driver, type_name: str, state: StateColumn) -> _Resolver:
    work = _Resolver(Catalog(connection(driver, (16, 0)), SqlServer()), [ROW], SequenceRows(), ())
    with work._record_problems("layout", layout(state)):
        work._add_layout(layout(state), details(type_name), ())
    return work


WORDS = StateColumn("State", "готово", "in work", None, "dead")


def test_a_value_that_the_column_cannot_hold_is_refused_in_one_line() -> None:
    driver = Keeping(False)
    work = resolved(driver, "varchar", WORDS)
    assert driver.asked_about == ["готово"]
    assert not work.layouts
    (problem,) = work.problems
    assert problem.queue == "orders"
    assert problem.reason == StateValueText.NOT_STORABLE.render(column="dbo.Orders.State", value="готово")
    assert "\n" not in problem.reason


def test_values_that_it_can_hold_are_watched() -> None:
    driver = Keeping(True)
    state = StateColumn("State", "ready", "готовится", "готово")
    assert resolved(driver, "char", state).layouts == {"orders": layout(state)}
    assert driver.asked_about == ["готовится", "готово"]


@pytest.mark.parametrize(
    ("type_name", "state"),
    [
        ("nvarchar", WORDS),
        ("nchar", WORDS),
        ("varchar", StateColumn("State", "READY", "WORK")),
        ("int", StateColumn("State", 0, 1)),
    ],
)
def test_nobody_is_asked_where_every_character_fits(type_name: str, state: StateColumn) -> None:
    driver = Keeping(False)
    assert resolved(driver, type_name, state).layouts == {"orders": layout(state)}
    assert driver.asked_about == []


def test_another_engine_has_no_such_question() -> None:
    check_state(layout(WORDS), details("varchar"), Catalog(connection(Keeping(False), (18, 0)), Postgres()))


class Partitioned(Keeping):
    """Divides the table by a column."""

    def answer(self, text: str) -> tuple[tuple[str, ...], Sequence[tuple[object, ...]]]:
        if "catalog/divided" in text:
            return ("table_id", "column_name"), [(12, "Made"), (13, "Other")]
        return super().answer(text)


def test_the_facts_of_a_table_have_the_column_that_divides_its_new_indexes() -> None:
    facts = resolved(Partitioned(True), "varchar", WORDS).facts["orders"]
    assert facts.divided_by == {"Made"}
    assert "rates" not in facts.unknown


class Masking(Driver):
    """Masks the column ``State``, and shows ``xxxx`` and the first day of a datetime instead of its values."""

    def answer(self, text: str) -> tuple[tuple[str, ...], Sequence[tuple[object, ...]]]:
        if "probe/partial" in text:
            return ("table_id", "column_name", "why", "helps"), [(12, "State", "masked", "GRANT UNMASK")]
        if "catalog/peek_times" in text:
            return ("newest", "utc", "local"), [("1950-01-01 00:00:00",) * 3]
        return ("value",), [("xxxx",)]


def test_masked_values_are_neither_states_nor_times() -> None:
    catalog = Catalog(connection(Masking(), (16, 0)), SqlServer())
    assert known_values(details("varchar"), "State", catalog).values == ()
    assert known_values(details("varchar"), "Other", catalog).values == ("xxxx",)
    index = Index("pk", unique=True, primary=True, keys=("Id",))
    table = replace(details("datetime"), indexes=(index,))
    for column, lines in (("State", 0), ("Other", 1)):
        assert len(compare_with_clock(catalog, Layout("orders", "fifo", ROW.name, id="Id"), table, [column])) == lines
