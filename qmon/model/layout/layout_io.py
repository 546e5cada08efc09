"""Convert layouts to and from configuration and registry JSON. Every error names the key."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Final, Literal, cast

from qmon.errors import BadInput
from qmon.model.config_reader import Keys
from qmon.model.formatting import format_duration
from qmon.model.layout.designs import TRAITS
from qmon.model.layout.layout import (
    DEFAULT_TIMEOUT_S,
    ClientPatterns,
    Layout,
    LayoutSource,
    ObjectName,
    OwnerColumn,
    PauseSwitch,
    Ring,
    StateColumn,
    StateValue,
)
from qmon.model.layout.requeue_options import (
    order_to_list,
    parse_max_attempts,
    parse_order,
    parse_writes,
    writes_to_dict,
)
from qmon.model.layout.time_zones import load_zone
from qmon.texts import Text


class LayoutText(Text):
    """Errors of layouts."""

    ID_OR_DESIGN = "an id, the column that numbers the messages, or a design"
    TOO_LONG = "{where}: a layout may have at most {limit:,} characters, but this layout has {length:,}"
    NOT_JSON = "{where}: not JSON: {problem}"
    NOT_A_TABLE_NAME = '{text!r} is not a table name: write table, schema.table, or [odd.schema].[odd "table"]'
    NOT_A_TIME_ZONE = '{path}: {zone!r} is neither {words} nor a time zone such as "Europe/Berlin"'
    NEEDS_READY = "{where}: needs ready, the value of ready messages"
    SAME_VALUE = (
        "{where}: {first} and {second} have the same value ({first_value} and {second_value}); "
        "give each state a different value"
    )
    RING_NEEDS_SIZE = "{where}.size: a ring needs its number of slots (at least 1)"


# The registry's `version`. Readers skip entries with a greater version.
JSON_FORMAT: Final = 1
_MAX_JSON_LENGTH: Final = 256 * 1024
_COLUMNS: Final = (
    "started_at",
    "enqueued_at",
    "due_at",
    "attempts",
    "priority",
    "payload",
    "error",
    "data_id",
)
_STATES: Final = ("ready", "in_progress", "done", "dead", "blocked")

# Default values for ready, in progress and done, as in the articles (Buschmann; Rusanu; Al Zabir).
_ARTICLE_STATES: Final[Mapping[str, tuple[StateValue, StateValue | None, StateValue | None]]] = {
    "status": (1, 2, None),
    "flag": (0, None, 1),
    "batch_single": (0, 1, None),
    "batch_split": (0, 1, None),
    "batch_fast": (0, 1, None),
}

_NAME_PART: Final = re.compile(r'\s*(?:\[((?:[^\]]|\]\])+)\]|"((?:[^"]|"")+)"|([^."\[\]\s][^."\[\]]*?))\s*(\.|$)')


def layout_to_dict(layout: Layout) -> dict[str, object]:
    """Return the dictionary from which ``layout_from_dict`` reads this layout.

    Missing values and ``source`` are omitted.
    """
    out: dict[str, object] = {"name": layout.queue, "table": table_to_text(layout.table), "design": layout.design}
    _put_if_set(out, "id", list(layout.key) or layout.id)
    for name in _COLUMNS:
        _put_if_set(out, name, getattr(layout, name))
    if layout.state is not None:
        state: dict[str, object] = {"column": layout.state.column}
        for name in _STATES:
            _put_if_set(state, name, getattr(layout.state, name))
        if layout.state.also_done:
            state["done"] = list(layout.state.all_done)
        out["state"] = state
    if (owner := layout.owner) is not None:
        out["owner"] = {"column": owner.column, "kind": owner.kind, "held_while_working": owner.held_while_working}
    for name in ("sequence", "data_table"):
        table: ObjectName | None = getattr(layout, name)
        _put_if_set(out, name, None if table is None else table_to_text(table))
    if layout.ring is not None:
        out["ring"] = _ring_to_dict(layout.ring)
    _put_if_set(out, "times", layout.times)
    out["timeout"] = format_duration(layout.timeout_s)
    _put_if_set(out, "max_attempts", layout.max_attempts)
    _put_if_set(out, "order", order_to_list(layout.order) or None)
    _put_if_set(out, "writes", writes_to_dict(layout.writes) or None)
    _put_if_set(out, "pop", layout.pop)
    for name in ("producers", "consumers"):
        clients: dict[str, object] = {}
        for field in fields(ClientPatterns):
            _put_if_set(clients, field.name, getattr(getattr(layout, name), field.name))
        _put_if_set(out, name, clients or None)
    if layout.routines:
        out["routines"] = {verb: table_to_text(name) for verb, name in layout.routines}
    if (switch := layout.switch) is not None:
        out["switch"] = {"producers": table_to_text(switch.producers), "consumers": table_to_text(switch.consumers)}
    return out


def layout_from_dict(
    raw: Mapping[str, object], *, where: str = "layout", source: LayoutSource = LayoutSource.CONFIGURATION
) -> Layout:
    """Read a layout of the configuration.

    ``name`` and ``table`` are required. ``id`` or ``design`` is also required. If only the state column is given, its
    values are those of the design's article. If no design is given, qmon uses a design that fits the given keys. Raises
    ``BadInput`` for an unknown key (with a suggestion), a wrong type, an unknown design or a bad duration. The message
    starts with ``where`` and the path of the key.
    """
    keys = Keys(raw, where)
    design = keys.choice("design", tuple(TRAITS))
    if design is None and not {"id", "ring"} & raw.keys():
        raise keys.missing_key_error("design", LayoutText.ID_OR_DESIGN)
    design = design or _guess_design(raw)
    ids = keys.names("id")
    layout = Layout(
        queue=keys.require_text("name"),
        design=design,
        table=parse_required_table(keys, "table"),
        id=ids[-1] if ids else None,
        key=ids if len(ids) > 1 else (),
        **{name: keys.text(name) for name in _COLUMNS},  # type: ignore[arg-type]
        state=keys.parse_nested("state", lambda state: _parse_state(state, design), "column"),
        owner=keys.parse_nested("owner", lambda owner: owner.record(OwnerColumn), "column"),
        sequence=_parse_optional_table(keys, "sequence"),
        data_table=_parse_optional_table(keys, "data_table"),
        ring=keys.parse_nested("ring", _parse_ring),
        times=parse_times(keys),
        timeout_s=keys.seconds("timeout") or DEFAULT_TIMEOUT_S,
        max_attempts=parse_max_attempts(keys),
        order=(order := parse_order(keys)),
        writes=parse_writes(keys, order),
        pop=cast(Literal["delete"] | None, keys.choice("pop", ("delete",))),
        producers=keys.parse_nested("producers", lambda clients: clients.record(ClientPatterns)) or ClientPatterns(),
        consumers=keys.parse_nested("consumers", lambda clients: clients.record(ClientPatterns)) or ClientPatterns(),
        routines=keys.parse_nested("routines", _parse_routines) or (),
        switch=keys.parse_nested("switch", lambda switch: switch.record(PauseSwitch, _READERS)),
        source=source,
    )
    keys.reject_unknown_keys()
    return layout


def layout_to_json(layout: Layout) -> str:
    """Return a layout as the line of JSON that is stored in the registry of a database."""
    return json.dumps(layout_to_dict(layout), ensure_ascii=False)


def layout_from_json(text: str, *, where: str = "layout") -> Layout:
    """Read the JSON of ``layout_to_json``.

    The source of the layout is the registry. Raises ``BadInput`` if the JSON is invalid.
    """
    if len(text) > _MAX_JSON_LENGTH:
        raise BadInput(LayoutText.TOO_LONG.render(where=where, limit=_MAX_JSON_LENGTH, length=len(text)))
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise BadInput(LayoutText.NOT_JSON.render(where=where, problem=problem)) from None
    return layout_from_dict(raw, where=where, source=LayoutSource.REGISTRY)


def table_to_text(table: ObjectName) -> str:
    """Return the table's name for ``table_from_text``. Parts are bracketed only if necessary."""
    plain = re.compile(r'[^."\[\]\s]+')
    return ".".join(p if plain.fullmatch(p) else "[" + p.replace("]", "]]") + "]" for p in table.parts)


def table_from_text(text: str) -> ObjectName:
    """Parse ``name`` or ``schema.name``. Parts with dots or spaces must be in brackets or double quotes.

    Raises ``BadInput`` for any other text.
    """
    parts: list[str] = []
    at, more = 0, True
    while more and (found := _NAME_PART.match(text, at)):
        bracketed, quoted, bare = found.group(1, 2, 3)
        parts.append(bracketed.replace("]]", "]") if bracketed else quoted.replace('""', '"') if quoted else bare)
        at, more = found.end(), found[4] == "."
    if more or at < len(text) or not 1 <= len(parts) <= 2:
        raise BadInput(LayoutText.NOT_A_TABLE_NAME.render(text=text))
    return ObjectName(parts[0] if len(parts) == 2 else "", parts[-1])


def _put_if_set(out: dict[str, object], name: str, value: object) -> None:
    if value is not None:
        out[name] = value


def _guess_design(raw: Mapping[str, object]) -> str:
    """Return a design for a table that is configured without a design."""
    if "ring" in raw:
        return "ring"
    if "data_table" in raw:
        return "batch_fast"
    if "state" in raw:
        state = raw["state"]
        taken = {"in_progress"} & state.keys() if isinstance(state, Mapping) else True
        return "status" if taken else "flag"
    return "pending" if "due_at" in raw else "fifo"


def parse_times(keys: Keys, further_words: Sequence[str] = ()) -> str | None:
    """Read ``times``, the meaning of times without a zone. Raises ``BadInput``.

    ``further_words``: words allowed in addition to ``utc``, ``local`` and time zones.
    """
    times = keys.text("times")
    if times is not None and times not in ("utc", "local", *further_words) and load_zone(times, time.time()) is None:
        wanted = " nor ".join(f'"{word}"' for word in ("utc", "local", *further_words))
        raise BadInput(LayoutText.NOT_A_TIME_ZONE.render(path=keys.path("times"), zone=times, words=wanted))
    return times


def _ring_to_dict(ring: Ring) -> dict[str, object]:
    out: dict[str, object] = {
        "size": ring.size,
        "push_sequence": table_to_text(ring.push_sequence),
        "pop_sequence": table_to_text(ring.pop_sequence),
        "slot": ring.slot,
        "turn": False if ring.turn is None else ring.turn,
        "message_id": ring.message_id,
        "reference_count": ring.reference_count,
    }
    _put_if_set(out, "subscribers", [table_to_text(each) for each in ring.subscribers] or None)
    _put_if_set(out, "unread", ring.unread)
    return out


def _parse_state(keys: Keys, design: str) -> StateColumn:
    ready, in_progress, done = _ARTICLE_STATES.get(design, (None, None, None))
    finished = keys.scalars("done")
    given = {name: keys.scalar(name) for name in _STATES if name != "done"}
    given["done"] = finished[0] if finished else None
    if all(value is None for value in given.values()):
        given |= {"ready": ready, "in_progress": in_progress, "done": done}
    if given["ready"] is None:
        raise BadInput(LayoutText.NEEDS_READY.render(where=keys.where))
    state = StateColumn(
        keys.require_text("column"),
        given["ready"],
        given["in_progress"],
        given["done"],
        given["dead"],
        given["blocked"],
        also_done=finished[1:],
    )
    values = [(name, (value,)) for name, value in given.items() if value is not None and name != "done"]
    check_distinct_values(keys.where, [*values, ("done", finished)])
    return state


def check_distinct_values(where: str, states: Sequence[tuple[str, Collection[StateValue]]]) -> None:
    """Raise ``BadInput`` (the message starts with ``where``) if two states share a value of the state column.

    ``states``: name and values of each state. The number 1 and the text "1" are the same value, because the column's
    type decides how the server compares them.
    """
    taken: dict[str, tuple[str, StateValue]] = {}
    for name, values in states:
        for value in values:
            other, as_other = taken.setdefault(str(value), (name, value))
            if other != name:
                # JSON shows whether a value is a text or a number.
                raise BadInput(
                    LayoutText.SAME_VALUE.render(
                        where=where,
                        first=other,
                        second=name,
                        first_value=json.dumps(as_other, ensure_ascii=False),
                        second_value=json.dumps(value, ensure_ascii=False),
                    )
                )


def _parse_ring(keys: Keys) -> Ring:
    size, no_turn = keys.whole_number("size"), keys.raw.get("turn") is False and not keys.is_set("turn")
    if size is None or size < 1:
        raise BadInput(LayoutText.RING_NEEDS_SIZE.render(where=keys.where))
    return keys.record(
        Ring,
        _READERS,
        size=size,
        turn=None if no_turn else keys.text("turn") or "turn",
        subscribers=tuple(_parse_table(each, keys, "subscribers") for each in keys.texts("subscribers")),
    )


def _parse_routines(keys: Keys) -> tuple[tuple[str, ObjectName], ...]:
    return tuple((verb, parse_required_table(keys, verb)) for verb in keys.raw)


def _parse_optional_table(keys: Keys, name: str) -> ObjectName | None:
    value = keys.text(name)
    return None if value is None else _parse_table(value, keys, name)


def _parse_table(value: str, keys: Keys, name: str) -> ObjectName:
    try:
        return table_from_text(value)
    except BadInput as problem:
        raise BadInput(f"{keys.where}.{name}: {problem}") from None


def parse_required_table(keys: Keys, name: str) -> ObjectName:
    """Read a required table name. Raises ``BadInput``."""
    table = _parse_optional_table(keys, name)
    if table is None:
        raise keys.missing_key_error(name)
    return table


_READERS: Final = {ObjectName: _parse_optional_table}
