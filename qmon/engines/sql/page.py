"""SQL for a page of a list: the rows to read, the rows of the page, and their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from qmon.engines.base import Engine, Value
from qmon.engines.sql.conditions import ROW
from qmon.model.layout.table_facts import Column
from qmon.model.layout.zones import TimeColumn
from qmon.model.samples.listing import Place

How = Literal["=", "<", ">", "<=", ">="]
Bind = Callable[[Value], str]


@dataclass(frozen=True, slots=True)
class Holds:
    """A condition that compares a column with a value."""

    column: Column
    how: How
    value: Value


@dataclass(frozen=True, slots=True)
class Since:
    """A condition that compares a time column with the current time, or some seconds before it.

    ``null``: NULL also satisfies the condition.
    """

    column: TimeColumn
    how: How
    less_s: int = 0
    null: bool = False


Test = Holds | Since


@dataclass(frozen=True, slots=True)
class PageRows:
    """The rows of a page.

    Args:
        order: the column by which they are read, through an index; ``None``: the index gives no order.
        led: conditions that the index satisfies.
        more: the other conditions of the list.
        called: the columns that make up a message's id.
        descending: largest first.
        after: where the page begins.
        then: the id column, if the index orders rows with the same value by it.
    """

    order: Column | None
    led: tuple[Test, ...]
    more: tuple[Test, ...]
    called: tuple[str, ...]
    descending: bool = False
    after: Place | None = None
    then: Column | None = None


@dataclass(frozen=True, slots=True)
class PagePart:
    """A part of the statement of a page, as a name for the statement.

    ``look``: the rows to read, in reading order. ``empty``: the rows without a value to sort by. ``list``: of these,
    the rows from the beginning of the page on, in the order of the list.
    """

    page: PageRows
    what: Literal["look", "empty", "list"]

    def condition(self, engine: Engine, name: str) -> tuple[str, dict[str, Value]]:
        """Return the condition for these rows, and its values in the order of their question marks.

        ``name``: prefix of the value names.
        """
        values: dict[str, Value] = {}

        def bound(value: Value) -> str:
            values[f"{name}_{len(values) + 1}"] = value
            return "?"

        page = self.page
        texts = [_text(each, engine, bound) for each in (page.more if self.what == "list" else page.led)]
        texts += {"look": self._from, "empty": self._without, "list": self._behind}[self.what](engine, bound)
        return " AND ".join(texts) or "1 = 1", values

    def order(self, engine: Engine) -> str:
        """Return the sort order."""
        page, down = self.page, " DESC" if self.page.descending else ""
        if page.then is not None and page.after is not None and page.after.within:
            return f"{_column(engine, page.then)}{down}"
        if self.what != "list":
            return f"{_column(engine, page.order)}{down}" if page.order is not None else _constant(engine, page.led)
        by = f"{_id(engine, page) if page.then is None else _column(engine, page.then)}{down}"
        if page.order is None:
            return by
        column = _column(engine, page.order)
        last = "" if page.order.not_null else f"CASE WHEN {column} IS NULL THEN 1 ELSE 0 END, "
        return f"{last}{column}{down}, {by}"

    def _from(self, engine: Engine, bound: Bind) -> list[str]:
        order, after = self.page.order, self.page.after
        if order is None:
            return []
        column = _column(engine, order)
        if after is None:
            return [] if order.not_null else [f"{column} IS NOT NULL"]
        if after.value is None:
            return ["1 = 0"]
        how = "<" if self.page.descending else ">"
        mark = bound(after.value)
        if self.page.then is not None and after.within:
            same = engine.compared(column, "=", order.type, mark)
            return [same] if after.id is None else [same, self._later(engine, bound, after.id)]
        return [engine.compared(column, how if after.past else f"{how}=", order.type, mark)]

    def _without(self, engine: Engine, bound: Bind) -> list[str]:
        order = self.page.order
        if order is None or order.not_null or (self.page.after is not None and self.page.after.within):
            return ["1 = 0"]
        return [f"{_column(engine, order)} IS NULL"]

    def _behind(self, engine: Engine, bound: Bind) -> list[str]:
        after, order, how = self.page.after, self.page.order, "<" if self.page.descending else ">"
        if after is None or after.id is None or after.within:
            return []
        if after.value is None or order is None:
            return [self._later(engine, bound, after.id)]
        column = _column(engine, order)
        beyond = engine.compared(column, how, order.type, bound(after.value))
        same = engine.compared(column, "=", order.type, bound(after.value))
        return [f"({column} IS NULL OR {beyond} OR ({same} AND {self._later(engine, bound, after.id)}))"]

    def _later(self, engine: Engine, bound: Bind, id: str) -> str:
        """Return the condition that a row with the same value comes after this id."""
        page, how = self.page, "<" if self.page.descending else ">"
        if page.then is not None:
            return engine.compared(_column(engine, page.then), how, page.then.type, bound(id))
        return engine.in_byte_order(_id(engine, page, plain=True), how, bound(id))


def _text(test: Test, engine: Engine, bound: Bind) -> str:
    if isinstance(test, Holds):
        return engine.compared(_column(engine, test.column), test.how, test.column.type, bound(test.value))
    column = f"{ROW}.{engine.quote((test.column.name,))}"
    less = f"CAST({bound(test.less_s)} AS int)" if test.less_s else ""
    text = f"{column} {test.how} {engine.now_less(test.column.zone, less)}"
    return f"({column} IS NULL OR {text})" if test.null else text


def _column(engine: Engine, column: Column) -> str:
    return f"{ROW}.{engine.quote((column.name,))}"


def _id(engine: Engine, page: PageRows, *, plain: bool = False) -> str:
    text = engine.text_of([f"{ROW}.{engine.quote((each,))}" for each in page.called])
    return text if plain else engine.in_byte_order(text)


def _constant(engine: Engine, led: tuple[Test, ...]) -> str:
    """Return a column with the same value in all of these rows, so that nothing is sorted."""
    return next(_column(engine, each.column) for each in led if isinstance(each, Holds) and each.how == "=")
