"""The switch that pauses a queue.

The push and pop routines of an installed queue check the switch. On other tables, a gate checks it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final, Literal

from qmon.engines.base import Engine
from qmon.engines.control_schema import check_trusted
from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput, PermissionMissing
from qmon.model.layout.layout import Layout, ObjectName, PauseSwitch
from qmon.model.operation_records import Side
from qmon.model.samples.polled_samples import PauseSample
from qmon.operate.context import AccessText
from qmon.operate.install.install_queue import read_installed_layouts
from qmon.operate.sql import Sql
from qmon.texts import Text


class SwitchText(Text):
    """Texts about the switch of a pause."""

    NOT_WRITABLE = "your role may not write the pauses of this database; {advice}"
    ALTERED = "the {way} {object} is not as qmon created it; install it again"
    UNCHANGED = "{reason}; nothing was changed"


# Name (PostgreSQL) or prefix of the name of a gate's trigger.
GATE_NAME: Final = "qmon_gate"
PauseMethod = Literal["switch", "gate"]
_NOT_WRITABLE: Final = SwitchText.NOT_WRITABLE.render(advice=AccessText.SETUP_ADVICE)


@dataclass(frozen=True, slots=True)
class PauseMeans:
    """The object in the database that pauses one side of a queue.

    ``object``: a sequence (PostgreSQL), a table or a trigger (SQL Server).
    """

    way: PauseMethod
    object: ObjectName
    side: Side
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class SwitchState:
    """The state of a switch.

    ``*_ms``: milliseconds since the epoch on the server's clock. ``may_set``: our role may set the switch.
    """

    may_set: bool
    until_ms: int | None
    now_ms: int

    @property
    def is_paused(self) -> bool:
        """Whether the side is paused now."""
        return self.until_ms is not None and self.until_ms > self.now_ms


@dataclass(frozen=True, slots=True)
class PauseAccess:
    """Whether pauses can be read or written in this database."""

    recorded: bool
    readable: bool
    writable: bool
    can_create: bool


@dataclass(frozen=True, slots=True)
class _Gate:
    gate_schema: str
    gate_name: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class _Set:
    until_ms: int


def find_means(sql: Sql, layout: Layout, side: Side) -> PauseMeans | None:
    """Return the switch of an installed queue, or the gate of another table, or ``None`` if neither exists."""
    switch = layout.switch or _registered_switch(sql, layout)
    if switch is not None:
        return PauseMeans("switch", switch.producers if side is Side.PRODUCERS else switch.consumers, side)
    return find_gate(sql, layout) if side is Side.PRODUCERS else None


def _registered_switch(sql: Sql, layout: Layout) -> PauseSwitch | None:
    """Return the switch of a queue that qmon installed, if the queue's layout comes from the configuration."""
    found = read_installed_layouts(sql.connection, sql.engine).values()
    return next((each.switch for each in found if each.table == layout.table), None)


def find_gate(sql: Sql, layout: Layout) -> PauseMeans | None:
    """Return the gate of a table, or ``None``."""
    names: dict[str, Name] = {"table": layout.table.parts, "gate": gate_name(layout.table).parts}
    for found in sql.fetch(_Gate, "action/pause/gate", names, {"trigger": gate_trigger(layout)}):
        return PauseMeans("gate", ObjectName(found.gate_schema, found.gate_name), Side.PRODUCERS, found.enabled)
    return None


def gate_trigger(layout: Layout) -> str:
    """Return the name of a gate's trigger on PostgreSQL.

    If the table contains several queues, the name ends in a hash of the queue's name.
    """
    value = None if layout.part is None else layout.part.value
    return GATE_NAME if value is None else f"{GATE_NAME}_{hashlib.sha256(value.encode()).hexdigest()[:16]}"


def gate_name(table: ObjectName) -> ObjectName:
    """Return the name of a gate's trigger on SQL Server. The trigger is in the schema of its table."""
    return ObjectName(table.schema, f"{GATE_NAME}_{table.name}")


def read_switch(sql: Sql, means: PauseMeans) -> SwitchState:
    """Read the state of a switch. Raises ``BadInput`` if the switch does not exist."""
    found = sql.fetch(
        SwitchState, f"action/pause/{_statement_name(sql.engine, means, 'state')}", *_names_and_values(means)
    )
    if not found:
        raise BadInput(SwitchText.ALTERED.render(way=means.way, object=means.object))
    return found[0]


def set_until(sql: Sql, means: PauseMeans, until_ms: int) -> None:
    """Set a switch to a time, in milliseconds since the epoch. Raises ``BadInput`` if the switch does not exist."""
    names, values = _names_and_values(means)
    name = f"action/pause/{_statement_name(sql.engine, means, 'set')}"
    if not sql.fetch(_Set, name, names, {**values, "until_ms": until_ms}):
        raise BadInput(SwitchText.ALTERED.render(way=means.way, object=means.object))


def set_until_text(sql: Sql, means: PauseMeans) -> str:
    """Return the text of the statement that ``set_until`` runs."""
    return sql.statement(f"action/pause/{_statement_name(sql.engine, means, 'set')}", _names_and_values(means)[0]).text


def read_pauses(sql: Sql) -> tuple[PauseSample, ...]:
    """Return the recorded active pauses. Empty if the database records no pauses or our role may not read pauses."""
    if not read_pause_access(sql).readable:
        return ()
    try:
        return tuple(sql.fetch(PauseSample, "probe/pauses", {}))
    except PermissionMissing:
        return ()


def read_pause_access(sql: Sql) -> PauseAccess:
    """Read whether pauses can be read or written. Changes nothing."""
    return sql.fetch(PauseAccess, "control/pauses_access", {})[0]


def ensure_pause_tables(sql: Sql) -> None:
    """Create the table of pauses and the functions of gates if they are missing.

    Raises ``BadInput`` if our role may not create the table or the functions.
    """
    if read_pause_access(sql).writable:
        return
    if (refused := why_not_recorded(sql)) is not None:
        raise BadInput(SwitchText.UNCHANGED.render(reason=refused))
    try:
        with sql.connection.transaction():
            sql.execute("control/01_schema", {})
            check_trusted(sql.connection, sql.engine)
            sql.execute("control/04_pauses", {})
    except PermissionMissing as problem:
        raise BadInput(SwitchText.UNCHANGED.render(reason=_NOT_WRITABLE)) from problem


def why_not_recorded(sql: Sql) -> str | None:
    """Return why a pause cannot be recorded; ``None`` if it can, or if our role can create the tables. Only reads."""
    found = read_pause_access(sql)
    return None if found.writable or (found.can_create and not found.recorded) else _NOT_WRITABLE


def _statement_name(engine: Engine, means: PauseMeans, name: str) -> str:
    """Return the name of the statement file.

    On SQL Server, gates have their own file, because a gate stores the pause's end in another place.
    """
    return f"{name}_gate" if engine.name == "sqlserver" and means.way == "gate" else name


def _names_and_values(means: PauseMeans) -> tuple[dict[str, queries.Name], dict[str, str]]:
    return {"switch": means.object.parts, "gate": means.object.parts}, {"side": str(means.side)}
