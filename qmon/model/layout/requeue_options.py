"""Settings of requeues in a layout: the order of pops, the written columns and the maximum number of attempts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, cast

from qmon.errors import BadInput
from qmon.model.config_reader import Keys
from qmon.model.layout.layout import MAX_MAX_ATTEMPTS, RequeueWrite, SortColumn
from qmon.texts import Text


class RequeueOptionText(Text):
    """Errors of the settings of a requeue."""

    ATTEMPTS_OUT_OF_RANGE = "{path}: must be from 1 to {limit:,}, not {value:,}"
    LISTED_TWICE = "{where}: {column} is listed twice"
    TWO_FRONTS = "{where}: only one column can be set to front: {columns}"
    NEEDS_NAME = "{where}: a column needs a name"
    NEEDS_VALUE = "{path}: needs value"
    NOT_A_WRITE = '{path}: must be {words}, a whole number, or {{ value = "…" }}, not {value!r}'
    NEEDS_A_VALUE = "{path}: needs a value"
    FRONT_OF_READY_ONLY = "{path}: front is only for ready messages"
    FRONT_NEEDS_ORDER = "{path}: front needs a column that is listed in order and ascending; add the column to order"


_WRITE_WORDS: Final = ("null", "now", "front", "keep")
_STATES: Final[tuple[Literal["ready", "dead"], ...]] = ("ready", "dead")


def parse_max_attempts(keys: Keys) -> int | str | None:
    """Read the maximum number of pops, or the name of the column that contains it. Raises ``BadInput``."""
    if isinstance(keys.raw.get("max_attempts"), str):
        return keys.text("max_attempts")
    most = keys.whole_number("max_attempts")
    if most is not None and not 1 <= most <= MAX_MAX_ATTEMPTS:
        raise BadInput(
            RequeueOptionText.ATTEMPTS_OUT_OF_RANGE.render(
                path=keys.path("max_attempts"), limit=MAX_MAX_ATTEMPTS, value=most
            )
        )
    return most


def parse_order(keys: Keys) -> tuple[SortColumn, ...]:
    """Read ``order``, a list of columns: ``"id"`` or ``{ column = …, descending = true }``. Raises ``BadInput``."""
    raw = keys.entries("order")
    out: dict[str, SortColumn] = {}
    for number, one in enumerate(raw, 1):
        where = f"{keys.path('order')}[{number}]"
        inner = Keys({"column": one} if isinstance(one, str) else cast("Mapping[str, object]", one), where)
        order = inner.record(SortColumn)
        if order.column in out:
            raise BadInput(RequeueOptionText.LISTED_TWICE.render(where=where, column=order.column))
        out[order.column] = order
    return tuple(out.values())


def order_to_list(order: Sequence[SortColumn]) -> list[object]:
    """Return the list that ``parse_order`` reads."""
    return [{"column": each.column, "descending": True} if each.descending else each.column for each in order]


def parse_writes(keys: Keys, order: Sequence[SortColumn]) -> tuple[RequeueWrite, ...]:
    """Read ``writes``: one table of columns and values for ``ready``, and one for ``dead``. Raises ``BadInput``."""
    states = keys.nested_keys("writes")
    if states is None:
        return ()
    out: list[RequeueWrite] = []
    for state in _STATES:
        inner = states.nested_keys(state)
        if inner is not None:
            out += [_parse_write(state, inner, column, order) for column in inner.raw]
    states.reject_unknown_keys()
    return _checked_writes(out, states.where)


def parse_ready_writes(keys: Keys) -> tuple[RequeueWrite, ...]:
    """Read ``ready``, a table of columns and values for messages that become ready. Raises ``BadInput``."""
    inner = keys.nested_keys("ready")
    if inner is None:
        return ()
    return _checked_writes([_parse_write("ready", inner, column, ()) for column in inner.raw], keys.where)


def _checked_writes(out: Sequence[RequeueWrite], where: str) -> tuple[RequeueWrite, ...]:
    fronts = [each.column for each in out if each.what == "front"]
    if len(fronts) > 1:
        raise BadInput(RequeueOptionText.TWO_FRONTS.render(where=where, columns=" or ".join(fronts)))
    return tuple(sorted(out, key=lambda each: (each.state != "ready", each.column)))


def writes_to_dict(writes: Sequence[RequeueWrite]) -> dict[str, object]:
    """Return the dictionary that ``parse_writes`` reads."""
    out: dict[str, dict[str, object]] = {}
    for each in writes:
        value = each.value if isinstance(each.value, int) else {"value": each.value}
        out.setdefault(each.state, {})[each.column] = value if each.what == "value" else each.what
    return dict(out)


def _parse_write(state: Literal["ready", "dead"], keys: Keys, column: str, order: Sequence[SortColumn]) -> RequeueWrite:
    path = keys.path(column)
    if not column:
        raise BadInput(RequeueOptionText.NEEDS_NAME.render(where=keys.where))
    raw = keys.raw[column]
    if isinstance(raw, Mapping):
        inner = Keys(raw, path)
        value = inner.scalar("value")
        inner.reject_unknown_keys()
        if value is None:
            raise BadInput(RequeueOptionText.NEEDS_VALUE.render(path=path))
        return RequeueWrite(state, column, "value", value)
    if isinstance(raw, str):
        if raw not in _WRITE_WORDS:
            raise BadInput(RequeueOptionText.NOT_A_WRITE.render(path=path, words=", ".join(_WRITE_WORDS), value=raw))
        if raw == "front":
            _check_front(state, column, order, path)
        return RequeueWrite(state, column, cast("Literal['null', 'now', 'front', 'keep']", raw))
    value = keys.scalar(column)
    if value is None:
        raise BadInput(RequeueOptionText.NEEDS_A_VALUE.render(path=path))
    return RequeueWrite(state, column, "value", value)


def _check_front(state: str, column: str, order: Sequence[SortColumn], path: str) -> None:
    if state != "ready":
        raise BadInput(RequeueOptionText.FRONT_OF_READY_ONLY.render(path=path))
    if not any(each.column == column and not each.descending for each in order):
        raise BadInput(RequeueOptionText.FRONT_NEEDS_ORDER.render(path=path))
