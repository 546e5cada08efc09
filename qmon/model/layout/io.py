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
from qmon.model.layout.designs import TRAITS
from qmon.model.layout.layout import (
    DEFAULT_TIMEOUT_S,
    Clients,
    Layout,
    LayoutSource,
    OwnerColumn,
    Ring,
    StateColumn,
    StateValue,
    Switch,
    TableName,
)
from qmon.model.layout.writes import max_attempts_from, order_from, order_to_list, writes_from, writes_to_dict
from qmon.model.layout.zones import named_zone
from qmon.model.text import format_duration

# The registry's `version`. Readers skip greater ones.
JSON_FORMAT: Final = 1
_LONGEST: Final = 256 * 1024
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
_OWNERS: Final = ("session", "lease", "heartbeat", "name")

# Values for ready, in progress and done in the articles (Buschmann; Rusanu; Al Zabir), used if none are given.
_ARTICLE_STATES: Final[Mapping[str, tuple[StateValue, StateValue | None, StateValue | None]]] = {
    "status": (1, 2, None),
    "flag": (0, None, 1),
    "batch_single": (0, 1, None),
    "batch_split": (0, 1, None),
    "batch_fast": (0, 1, None),
}

_NAME_PART: Final = re.compile(r'\s*(?:\[((?:[^\]]|\]\])+)\]|"((?:[^"]|"")+)"|([^."\[\]\s][^."\[\]]*?))\s*(\.|$)')


def layout_to_dict(layout: Layout) -> dict[str, object]:
    """Return the dictionary that ``layout_from_dict`` reads as the same layout.

    Missing values and ``source`` are omitted.
    """
    out: dict[str, object] = {"name": layout.queue, "table": table_to_text(layout.table), "design": layout.design}
    _put(out, "id", list(layout.key) or layout.id)
    for name in _COLUMNS:
        _put(out, name, getattr(layout, name))
    if layout.state is not None:
        state: dict[str, object] = {"column": layout.state.column}
        for name in _STATES:
            _put(state, name, getattr(layout.state, name))
        out["state"] = state
    if (owner := layout.owner) is not None:
        out["owner"] = {"column": owner.column, "kind": owner.kind, "held_while_working": owner.held_while_working}
    for name in ("sequence", "data_table"):
        table: TableName | None = getattr(layout, name)
        _put(out, name, None if table is None else table_to_text(table))
    if layout.ring is not None:
        out["ring"] = _ring_to_dict(layout.ring)
    _put(out, "times", layout.times)
    out["timeout"] = format_duration(layout.timeout_s)
    _put(out, "max_attempts", layout.max_attempts)
    _put(out, "order", order_to_list(layout.order) or None)
    _put(out, "writes", writes_to_dict(layout.writes) or None)
    _put(out, "pop", layout.pop)
    for name in ("pushers", "poppers"):
        clients: dict[str, object] = {}
        for field in fields(Clients):
            _put(clients, field.name, getattr(getattr(layout, name), field.name))
        _put(out, name, clients or None)
    if layout.routines:
        out["routines"] = {verb: table_to_text(name) for verb, name in layout.routines}
    if (switch := layout.switch) is not None:
        out["switch"] = {"pushers": table_to_text(switch.pushers), "poppers": table_to_text(switch.poppers)}
    return out


def layout_from_dict(
    raw: Mapping[str, object], *, where: str = "layout", source: LayoutSource = LayoutSource.CONFIGURATION
) -> Layout:
    """Read a layout as the configuration writes it.

    ``name`` and ``table`` are required, and ``id`` or ``design``. If only the state column is given, the values are
    those of the design's article. Without a design, one that fits the given keys is used. Raises ``BadInput``, starting
    with ``where`` and the path of the key, for an unknown key (with a suggestion), a wrong type, an unknown design, or
    a bad duration.
    """
    keys = Keys(raw, where)
    design = keys.choice("design", tuple(TRAITS))
    if design is None and not {"id", "ring"} & raw.keys():
        raise keys.missing("design", "an id, the column that numbers the messages, or a design")
    design = design or _fitting(raw)
    ids = keys.names("id")
    layout = Layout(
        queue=keys.need_text("name"),
        design=design,
        table=need_table(keys, "table"),
        id=ids[-1] if ids else None,
        key=ids if len(ids) > 1 else (),
        **{name: keys.text(name) for name in _COLUMNS},  # type: ignore[arg-type]
        state=_state(keys, design),
        owner=_owner(keys),
        sequence=_table(keys, "sequence"),
        data_table=_table(keys, "data_table"),
        ring=_ring(keys),
        times=times_from(keys),
        timeout_s=keys.seconds("timeout") or DEFAULT_TIMEOUT_S,
        max_attempts=max_attempts_from(keys),
        order=(order := order_from(keys)),
        writes=writes_from(keys, order),
        pop=cast(Literal["delete"] | None, keys.choice("pop", ("delete",))),
        pushers=_clients(keys, "pushers"),
        poppers=_clients(keys, "poppers"),
        routines=_routines(keys),
        switch=_switch(keys),
        source=source,
    )
    keys.finish()
    return layout


def layout_to_json(layout: Layout) -> str:
    """Return a layout as one line of JSON, as the registry of a database stores it."""
    return json.dumps(layout_to_dict(layout), ensure_ascii=False)


def layout_from_json(text: str, *, where: str = "layout") -> Layout:
    """Read the JSON of ``layout_to_json``.

    The source of the layout is the registry. Raises ``BadInput`` if it is invalid.
    """
    if len(text) > _LONGEST:
        raise BadInput(f"{where}: a layout has {_LONGEST:,} characters at most, this one {len(text):,}")
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise BadInput(f"{where}: not JSON: {problem}") from None
    return layout_from_dict(raw, where=where, source=LayoutSource.REGISTRY)


def table_to_text(table: TableName) -> str:
    """Return the table's name for ``table_from_text``. Parts are bracketed only if necessary."""
    plain = re.compile(r'[^."\[\]\s]+')
    return ".".join(p if plain.fullmatch(p) else "[" + p.replace("]", "]]") + "]" for p in table.parts)


def table_from_text(text: str) -> TableName:
    """Parse ``name`` or ``schema.name``. Parts with dots, spaces or the like are in brackets or double quotes.

    Raises ``BadInput`` for anything else.
    """
    parts: list[str] = []
    at, more = 0, True
    while more and (found := _NAME_PART.match(text, at)):
        bracketed, quoted, bare = found.group(1, 2, 3)
        parts.append(bracketed.replace("]]", "]") if bracketed else quoted.replace('""', '"') if quoted else bare)
        at, more = found.end(), found[4] == "."
    if more or at < len(text) or not 1 <= len(parts) <= 2:
        raise BadInput(f'{text!r} is not a table: write table, schema.table, or [odd.schema].[odd "table"]')
    return TableName(parts[0] if len(parts) == 2 else "", parts[-1])


def _put(out: dict[str, object], name: str, value: object) -> None:
    if value is not None:
        out[name] = value


def _fitting(raw: Mapping[str, object]) -> str:
    """Return a design for a table configured without one."""
    if "ring" in raw:
        return "ring"
    if "data_table" in raw:
        return "batch_fast"
    if "state" in raw:
        state = raw["state"]
        taken = {"in_progress"} & state.keys() if isinstance(state, Mapping) else True
        return "status" if taken else "flag"
    return "pending" if "due_at" in raw else "fifo"


def times_from(keys: Keys, also: Sequence[str] = ()) -> str | None:
    """Read ``times``, the meaning of times without a zone. Raises ``BadInput``.

    ``further_words``: words allowed in addition to ``utc``, ``local`` and time zones.
    """
    times = keys.text("times")
    if times is not None and times not in ("utc", "local", *also) and named_zone(times, time.time()) is None:
        wanted = " nor ".join(f'"{word}"' for word in ("utc", "local", *also))
        raise BadInput(f'{keys.path("times")}: {times!r} is neither {wanted} nor a time zone such as "Europe/Berlin"')
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
    _put(out, "subscribers", [table_to_text(each) for each in ring.subscribers] or None)
    _put(out, "unread", ring.unread)
    return out


def _state(keys: Keys, design: str) -> StateColumn | None:
    inner = keys.inner("state", alone="column")
    if inner is None:
        return None
    ready, in_progress, done = _ARTICLE_STATES.get(design, (None, None, None))
    given = {name: inner.scalar(name) for name in _STATES}
    if all(value is None for value in given.values()):
        given |= {"ready": ready, "in_progress": in_progress, "done": done}
    if given["ready"] is None:
        raise BadInput(f"{inner.where}: needs ready, the value of a message that waits")
    state = StateColumn(
        inner.need_text("column"), given["ready"], given["in_progress"], given["done"], given["dead"], given["blocked"]
    )
    check_distinct(inner.where, [(name, (value,)) for name, value in given.items() if value is not None])
    inner.finish()
    return state


def check_distinct(where: str, states: Sequence[tuple[str, Collection[StateValue]]]) -> None:
    """Raise ``BadInput`` starting with ``where`` if two states share a value of the state column.

    ``states``: name and values of each state. The number 1 and the text "1" count as the same value, because the
    column's type decides what the server compares.
    """
    taken: dict[str, tuple[str, StateValue]] = {}
    for name, values in states:
        for value in values:
            other, as_other = taken.setdefault(str(value), (name, value))
            if other != name:
                # As JSON the values show whether they are text or numbers.
                shown = f"{json.dumps(as_other, ensure_ascii=False)} and {json.dumps(value, ensure_ascii=False)}"
                raise BadInput(
                    f"{where}: {other} and {name} have the same value ({shown}); give each state a value of its own"
                )


def _owner(keys: Keys) -> OwnerColumn | None:
    inner = keys.inner("owner", alone="column")
    if inner is None:
        return None
    kind = cast(Literal["session", "lease", "heartbeat", "name"], inner.choice("kind", _OWNERS) or "name")
    owner = OwnerColumn(inner.need_text("column"), kind, inner.flag("held_while_working"))
    inner.finish()
    return owner


def _ring(keys: Keys) -> Ring | None:
    inner = keys.inner("ring")
    if inner is None:
        return None
    size = inner.whole("size")
    if size is None or size < 1:
        raise BadInput(f"{inner.where}.size: a ring needs its number of slots, 1 or more")
    no_turn = inner.raw.get("turn") is False
    ring = Ring(
        size,
        need_table(inner, "push_sequence"),
        need_table(inner, "pop_sequence"),
        slot=inner.text("slot") or "slot",
        turn=None if no_turn else inner.text("turn") or "turn",
        message_id=inner.text("message_id") or "message_id",
        reference_count=inner.text("reference_count") or "reference_count",
        subscribers=tuple(_named(each, inner, "subscribers") for each in inner.texts("subscribers")),
        unread=inner.text("unread"),
    )
    inner.finish(also=("turn",))
    return ring


def _clients(keys: Keys, name: str) -> Clients:
    inner = keys.inner(name)
    if inner is None:
        return Clients()
    clients = Clients(**{field.name: inner.text(field.name) for field in fields(Clients)})
    inner.finish()
    return clients


def _routines(keys: Keys) -> tuple[tuple[str, TableName], ...]:
    inner = keys.inner("routines")
    return () if inner is None else tuple((verb, need_table(inner, verb)) for verb in inner.raw)


def _switch(keys: Keys) -> Switch | None:
    inner = keys.inner("switch")
    if inner is None:
        return None
    switch = Switch(need_table(inner, "pushers"), need_table(inner, "poppers"))
    inner.finish()
    return switch


def _table(keys: Keys, name: str) -> TableName | None:
    value = keys.text(name)
    return None if value is None else _named(value, keys, name)


def _named(value: str, keys: Keys, name: str) -> TableName:
    try:
        return table_from_text(value)
    except BadInput as problem:
        raise BadInput(f"{keys.where}.{name}: {problem}") from None


def need_table(keys: Keys, name: str) -> TableName:
    """Read a required table name. Raises ``BadInput``."""
    table = _table(keys, name)
    if table is None:
        raise keys.missing(name)
    return table
