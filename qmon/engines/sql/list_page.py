"""SQL for a page of a list: the rows to read, the rows of the page, and the order of the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from qmon.engines.base import Engine, Value
from qmon.engines.sql.condition_sql import ROW_ALIAS, RowCondition, row_sql
from qmon.model.layout.table_facts import Column
from qmon.model.layout.time_zones import TimeColumn
from qmon.model.samples.listing_samples import PagePosition

CompareOperator = Literal["=", "<", ">", "<=", ">="]
Bind = Callable[[Value], str]


@dataclass(frozen=True, slots=True)
class ColumnTest:
    """A condition that compares a column with a value."""

    column: Column
    how: CompareOperator
    value: Value


@dataclass(frozen=True, slots=True)
class TimeTest:
    """A condition that compares a time column with the current time minus ``less_s`` seconds.

    ``null``: true if NULL also satisfies the condition.
    """

    column: TimeColumn
    how: CompareOperator
    less_s: int = 0
    null: bool = False


@dataclass(frozen=True, slots=True)
class NotNullTest:
    """A condition that a column is not NULL."""

    column: str


RowTest = ColumnTest | TimeTest | NotNullTest | RowCondition


@dataclass(frozen=True, slots=True)
class PageRows:
    """The rows of a page.

    Args:
        order: the column by which an index sorts the rows that are read; ``None`` if the index has no usable order.
        led: conditions that the index satisfies.
        more: the other conditions of the list.
        called: the columns that form a message's id.
        descending: true if the largest value is first.
        after: where the page begins.
        then: the id column, if the index sorts rows with the same value by the id.
    """

    order: Column | None
    led: tuple[RowTest, ...]
    more: tuple[RowTest, ...]
    called: tuple[str, ...]
    descending: bool = False
    after: PagePosition | None = None
    then: Column | None = None


@dataclass(frozen=True, slots=True)
class PagePart:
    """A name for statements: one part of the statement that reads a page.

    ``look``: the rows to read, in reading order. ``empty``: the rows without a value to sort by. ``list``: the rows
    read from the beginning of the page on, in the order of the list.
    """

    page: PageRows
    kind: Literal["look", "empty", "list"]

    def condition(self, engine: Engine, name: str) -> tuple[str, dict[str, Value]]:
        """Return the condition for these rows, and its values in the order of the question marks.

        ``name``: prefix of the value names.
        """
        values: dict[str, Value] = {}

        def bound(value: Value) -> str:
            values[f"{name}_{len(values) + 1}"] = value
            return "?"

        page = self.page
        texts = [_test_text(each, engine, bound) for each in (page.more if self.kind == "list" else page.led)]
        texts += {"look": self._look_conditions, "empty": self._empty_conditions, "list": self._list_conditions}[
            self.kind
        ](engine, bound)
        return " AND ".join(texts) or "1 = 1", values

    def sort_order(self, engine: Engine) -> str:
        """Return the sort order."""
        page, down = self.page, " DESC" if self.page.descending else ""
        if page.then is not None and page.after is not None and page.after.within:
            return f"{_column_text(engine, page.then)}{down}"
        if self.kind != "list":
            return (
                f"{_column_text(engine, page.order)}{down}"
                if page.order is not None
                else _constant_column(engine, page.led)
            )
        by = f"{_id_text(engine, page) if page.then is None else _column_text(engine, page.then)}{down}"
        if page.order is None:
            return by
        column = _column_text(engine, page.order)
        last = "" if page.order.not_null else f"CASE WHEN {column} IS NULL THEN 1 ELSE 0 END, "
        return f"{last}{column}{down}, {by}"

    def _look_conditions(self, engine: Engine, bound: Bind) -> list[str]:
        order, after = self.page.order, self.page.after
        if order is None:
            return []
        column = _column_text(engine, order)
        if after is None:
            return [] if order.not_null else [f"{column} IS NOT NULL"]
        if after.value is None:
            return ["1 = 0"]
        how = "<" if self.page.descending else ">"
        mark = bound(after.value)
        if self.page.then is not None and after.within:
            same = engine.compare_condition(column, "=", order.type, mark)
            return [same] if after.id is None else [same, self._after_id(engine, bound, after.id)]
        return [engine.compare_condition(column, how if after.past else f"{how}=", order.type, mark)]

    def _empty_conditions(self, engine: Engine, bound: Bind) -> list[str]:
        order = self.page.order
        if order is None or order.not_null or (self.page.after is not None and self.page.after.within):
            return ["1 = 0"]
        return [f"{_column_text(engine, order)} IS NULL"]

    def _list_conditions(self, engine: Engine, bound: Bind) -> list[str]:
        after, order, how = self.page.after, self.page.order, "<" if self.page.descending else ">"
        if after is None or after.id is None or after.within:
            return []
        if after.value is None or order is None:
            return [self._after_id(engine, bound, after.id)]
        column = _column_text(engine, order)
        beyond = engine.compare_condition(column, how, order.type, bound(after.value))
        same = engine.compare_condition(column, "=", order.type, bound(after.value))
        return [f"({column} IS NULL OR {beyond} OR ({same} AND {self._after_id(engine, bound, after.id)}))"]

    def _after_id(self, engine: Engine, bound: Bind, id: str) -> str:
        """Return the condition for rows with the same value and a later id."""
        page, how = self.page, "<" if self.page.descending else ">"
        if page.then is not None:
            return engine.compare_condition(_column_text(engine, page.then), how, page.then.type, bound(id))
        return engine.byte_order_expression(_id_text(engine, page, plain=True), how, bound(id))


def _test_text(test: RowTest, engine: Engine, bound: Bind) -> str:
    if isinstance(test, ColumnTest):
        return engine.compare_condition(
            _column_text(engine, test.column), test.how, test.column.type, bound(test.value)
        )
    if isinstance(test, NotNullTest):
        return f"{ROW_ALIAS}.{engine.quote((test.column,))} IS NOT NULL"
    if isinstance(test, RowCondition):
        text, values = row_sql(engine, test, "")
        for value in values.values():
            bound(value)
        return text
    column = f"{ROW_ALIAS}.{engine.quote((test.column.name,))}"
    less = f"CAST({bound(test.less_s)} AS int)" if test.less_s else ""
    text = f"{column} {test.how} {engine.now_minus(test.column.zone, less)}"
    return f"({column} IS NULL OR {text})" if test.null else text


def _column_text(engine: Engine, column: Column) -> str:
    return f"{ROW_ALIAS}.{engine.quote((column.name,))}"


def _id_text(engine: Engine, page: PageRows, *, plain: bool = False) -> str:
    text = engine.text_expression([f"{ROW_ALIAS}.{engine.quote((each,))}" for each in page.called])
    return text if plain else engine.byte_order_expression(text)


def _constant_column(engine: Engine, led: tuple[RowTest, ...]) -> str:
    """Return a column that has the same value in all rows of the page, so that the server need not sort."""
    return next(_column_text(engine, each.column) for each in led if isinstance(each, ColumnTest) and each.how == "=")
