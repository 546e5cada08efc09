"""Find the time zone of columns whose type has no time zone: from the configuration, or from the column's default."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from qmon.errors import BadInput, QueryFailed
from qmon.model.groups.group import Group
from qmon.model.layout.layout import Layout, LayoutSource
from qmon.model.layout.time_zones import (
    LOCAL_ZONE,
    NUMBER_TYPES,
    NUMBER_ZONES,
    TIME_TYPES,
    UNKNOWN_ZONE,
    UTC_ZONE,
    ZONELESS_TYPES,
    Zone,
    load_zone,
)
from qmon.monitor.catalog.catalog import Catalog, ColumnRow, TableDetails
from qmon.texts import Text


class ZoneText(Text):
    """The meaning of a column's times, and the remedy if their time zone is unknown."""

    ZONE_IS = "`{column}` has no time zone: {zone}, {why}"
    ZONE_UNKNOWN = (
        "`{column}` has no time zone{session}, so {effect}; specify the time zone: "
        'times = "utc", "local" (the server\'s local time) or a zone such as "Europe/Berlin"'
    )
    SESSION_TIME = " and gets the local time of the inserting session by default"
    NOTHING_COUNTED = "nothing can be counted"
    OWNERS_ALIVE = "owners never count as dead"
    AGES_UNKNOWN = "ages are unknown"
    OF_TABLE = "{table}: {problem}"
    NUMBERS = "`{column}` is {type}; say what its numbers are: times = {units}"
    NOT_A_TIME = "`{column}` is {type}, which is not a time"
    BY_DEFAULT = "because of its default"
    SERVER_TIME = "the server's local time"
    NO_SUCH_ZONE = 'times = "{zone}": there is no such time zone'


# PostgreSQL's type of times without a zone.
_SESSION_TIME_TYPE: Final = "timestamp without time zone"
_ROLES: Final = ("started_at", "enqueued_at", "due_at")
_WITHOUT: Final = {"due_at": ZoneText.NOTHING_COUNTED, "owner": ZoneText.OWNERS_ALIVE}
_UTC: Final = re.compile(r"\b(?:getutcdate|sysutcdatetime)\s*\(", re.I)
_LOCAL: Final = re.compile(
    r"\b(?:getdate|sysdatetime|sysdatetimeoffset|now|clock_timestamp|statement_timestamp|transaction_timestamp)\s*\("
    r"|\b(?:current_timestamp|localtimestamp)\b",
    re.I,
)
_MADE: Final = re.compile(r"\bat time zone\s+N?'([^']+)'|\btimezone\s*\(\s*'([^']+)'", re.I)


@dataclass(frozen=True, slots=True)
class ZoneRow:
    """The time zone of the server's local time; ``None``: the server does not report it."""

    zone: str | None


@dataclass(frozen=True, slots=True)
class ClockChangeRow:
    """An offset of the server's local time to UTC in ``minutes``, and when it began (seconds since the epoch)."""

    since_at: float
    minutes: int


def server_zone(catalog: Catalog) -> Zone:
    """Return the server's local time zone, with its clock changes if they are known."""
    try:
        name = catalog.read_records(ZoneRow, "catalog/zone")[0].zone
        if catalog.engine.name == "postgres":
            return UTC_ZONE if name is None or _is_utc(name) else Zone(name)
        if name is None:
            return LOCAL_ZONE
        changes = catalog.read_records(ClockChangeRow, "catalog/clock_changes")
    except QueryFailed:
        return LOCAL_ZONE
    return replace(LOCAL_ZONE, changes=tuple((round(row.since_at), row.minutes) for row in changes))


def with_zones(layout: Layout, details: TableDetails, local: Callable[[], Zone]) -> tuple[Layout, tuple[str, ...]]:
    """Return the layout with the time zones of its zoneless columns, and a line for each such column.

    ``local``: returns the server's local time zone; called only if needed.
    """
    zones: list[tuple[str, Zone]] = []
    reasons: list[str] = []
    owner = layout.owner.column if layout.owner is not None and layout.owner.kind in ("lease", "heartbeat") else None
    for role, name in (*((role, getattr(layout, role)) for role in _ROLES), ("owner", owner)):
        column = details.column(name)
        if column is None or column.type_name not in ZONELESS_TYPES:
            continue
        meaning, why = _zone_meaning(layout, details, column)
        zone = _to_zone(meaning, local)
        zones.append((column.column_name, zone))
        if meaning == "unknown":
            of_session = _why_session_zone(details, column)
            reasons.append(_ask_for_zone(column.column_name, _WITHOUT.get(role, ZoneText.AGES_UNKNOWN), of_session))
        elif why:
            reasons.append(ZoneText.ZONE_IS.render(column=column.column_name, zone=_meaning_text(meaning), why=why))
    return replace(layout, zones=tuple(zones)), tuple(reasons)


def require_due_zone(layout: Layout) -> None:
    """Raise ``BadInput`` if the time zone of due times is unknown, because no message can be counted without it."""
    if layout.due_at is not None and not layout.has_known_time(layout.due_at):
        raise BadInput(
            ZoneText.OF_TABLE.render(table=layout.table, problem=_ask_for_zone(layout.due_at, ZoneText.NOTHING_COUNTED))
        )


def zone_in_default(default: str | None) -> str:
    """Return the time zone in the default of a column: ``utc``, ``local``, a zone's name, or ``unknown``."""
    if default is None:
        return "unknown"
    if made := _MADE.findall(default):
        name = next(filter(None, made[-1]))
        return "utc" if _is_utc(name) else name if load_zone(name, time.time()) else "unknown"
    utc, local = _UTC.search(default) is not None, _LOCAL.search(default) is not None
    return "unknown" if utc == local else "utc" if utc else "local"


def zone_in_group(group: Group, details: TableDetails, column: ColumnRow, local: Callable[[], Zone]) -> Zone:
    """Return the time zone of a time column in one of a group's tables; see ``with_zones``.

    Raises ``BadInput`` if the time zone is unknown, or if the column does not contain times.
    """
    name, kind = column.column_name, column.type_name
    if kind in NUMBER_TYPES:
        if group.zone.count is None:
            units = ", ".join(f'"{zone.name}" ({zone.description})' for zone in NUMBER_ZONES.values())
            raise BadInput(ZoneText.NUMBERS.render(column=name, type=kind, units=units))
        return group.zone
    if kind not in TIME_TYPES:
        raise BadInput(ZoneText.NOT_A_TIME.render(column=name, type=kind))
    if kind not in ZONELESS_TYPES:
        return UTC_ZONE
    said = None if group.times in NUMBER_ZONES else group.times
    meaning = said or ("utc" if group.library else zone_in_column_default(details, column))
    if meaning == "unknown":
        raise BadInput(_ask_for_zone(name, ZoneText.NOTHING_COUNTED, _why_session_zone(details, column)))
    return _to_zone(meaning, local)


def _zone_meaning(layout: Layout, details: TableDetails, column: ColumnRow) -> tuple[str, str]:
    """Return the time zone of the column's times, and the source of this zone."""
    if layout.times is not None:
        return layout.times, ""
    if layout.source is LayoutSource.REGISTRY or layout.routines:
        return "utc", ""
    found = zone_in_column_default(details, column)
    return found, "" if found == "unknown" else ZoneText.BY_DEFAULT


def zone_in_column_default(details: TableDetails, column: ColumnRow) -> str:
    """Return the time zone in the default of a column; see ``zone_in_default``.

    In PostgreSQL, ``now()`` in such a column is the time in the time zone of the inserting session. Each session may
    have a different time zone, so this default gives no time zone.
    """
    found = zone_in_default(_default_expression(details, column))
    return "unknown" if found == "local" and column.type_name == _SESSION_TIME_TYPE else found


def _default_expression(details: TableDetails, column: ColumnRow) -> str | None:
    defaults = (v.known for v in details.values if v.origin == "default" and v.column_name == column.column_name)
    return next(defaults, None)


def _why_session_zone(details: TableDetails, column: ColumnRow) -> str:
    """Return why the default of a column gives no time zone; empty if the default is not the session's local time."""
    if column.type_name != _SESSION_TIME_TYPE or zone_in_default(_default_expression(details, column)) != "local":
        return ""
    return ZoneText.SESSION_TIME


def _to_zone(meaning: str, local: Callable[[], Zone]) -> Zone:
    if meaning == "local":
        return local()
    known = {"utc": UTC_ZONE, "unknown": UNKNOWN_ZONE}.get(meaning) or load_zone(meaning, time.time())
    if known is None:  # not from a configuration, which accepts only known zones
        raise BadInput(ZoneText.NO_SUCH_ZONE.render(zone=meaning))
    return known


def _ask_for_zone(column: str, effect: str, of_session: str = "") -> str:
    return ZoneText.ZONE_UNKNOWN.render(column=column, session=of_session, effect=effect)


def _meaning_text(meaning: str) -> str:
    return {"utc": "UTC", "local": ZoneText.SERVER_TIME}.get(meaning, meaning)


def _is_utc(name: str) -> bool:
    return name.lower() in ("utc", "etc/utc", "gmt", "etc/gmt", "zulu", "universal", "+00", "+00:00")
