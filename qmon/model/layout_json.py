"""A layout as JSON, as the registry of a database keeps it. Tables are written as lists of their parts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from qmon.errors import BadInput
from qmon.model.designs import TRAITS
from qmon.model.layout import Clients, Layout, OwnerColumn, Ring, Source, StateColumn, TableName

FORMAT: Final = 1
"""Written as the registry's ``version``; a reader refuses a greater one."""

_COLUMNS: Final = ("id", "started_at", "enqueued_at", "due_at", "attempts", "priority", "payload", "data_id")


def to_json(layout: Layout) -> str:
    """The layout as one line of JSON, without what it lacks; ``source`` is not kept."""
    out: dict[str, object] = {"queue": layout.queue, "design": layout.design, "table": list(layout.table.parts)}
    out.update({name: value for name in _COLUMNS if (value := getattr(layout, name)) is not None})
    if layout.state is not None:
        out["state"] = _present(layout.state)
    if layout.owner is not None:
        out["owner"] = _present(layout.owner)
    if layout.ring is not None:
        out["ring"] = _present(layout.ring)
    out.update({n: list(t.parts) for n in ("sequence", "data_table") if (t := getattr(layout, n)) is not None})
    out["timeout_s"] = layout.timeout_s
    out.update({n: who for n in ("pushers", "poppers") if (who := _present(getattr(layout, n)))})
    if layout.routines:
        out["routines"] = {verb: list(name.parts) for verb, name in layout.routines}
    return json.dumps(out, ensure_ascii=False, sort_keys=False)


def from_json(text: str, source: Source = Source.REGISTRY) -> Layout:
    """The layout written by ``to_json``; keys it does not know are passed over.

    Raises ``BadInput`` where the text is no layout, with what is wrong.
    """
    try:
        raw = json.loads(text)
        return _layout(raw, source)
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise BadInput(f"not a layout: {type(problem).__name__} {problem}") from None


def _layout(raw: Mapping[str, Any], source: Source) -> Layout:
    if raw["design"] not in TRAITS:
        raise ValueError(f"unknown design {raw['design']!r}")
    ring = raw.get("ring")
    return Layout(
        queue=str(raw["queue"]),
        design=str(raw["design"]),
        table=_table(raw["table"]),
        **{name: str(raw[name]) for name in _COLUMNS if raw.get(name) is not None},
        state=_record(StateColumn, raw["state"]) if raw.get("state") else None,
        owner=_record(OwnerColumn, raw["owner"]) if raw.get("owner") else None,
        sequence=_table(raw["sequence"]) if raw.get("sequence") else None,
        data_table=_table(raw["data_table"]) if raw.get("data_table") else None,
        ring=_ring(ring) if ring else None,
        timeout_s=float(raw.get("timeout_s", 300.0)),
        pushers=_record(Clients, raw.get("pushers", {})),
        poppers=_record(Clients, raw.get("poppers", {})),
        routines=tuple((str(verb), _table(parts)) for verb, parts in raw.get("routines", {}).items()),
        source=source,
    )


def _ring(raw: Mapping[str, Any]) -> Ring:
    tables = {name: _table(raw[name]) for name in ("push_sequence", "pop_sequence")}
    ring: Ring = _record(Ring, {**raw, **tables, "size": int(raw["size"])})
    return ring


def _table(parts: Any) -> TableName:
    if not isinstance(parts, list) or not 1 <= len(parts) <= 2 or not all(isinstance(p, str) for p in parts):
        raise ValueError(f"a table is a list of schema and name, not {parts!r}")
    return TableName(parts[0] if len(parts) == 2 else "", parts[-1])


def _record(kind: Any, raw: Mapping[str, Any]) -> Any:
    known = {field.name for field in fields(kind)}
    return kind(**{name: value for name, value in raw.items() if name in known})


def _present(record: Any) -> dict[str, object]:
    pairs = ((field.name, getattr(record, field.name)) for field in fields(record))
    return {n: list(v.parts) if isinstance(v, TableName) else v for n, v in pairs if v is not None}
