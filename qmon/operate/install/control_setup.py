"""Plans, prints and creates qmon's own schema and its two roles, monitor and operator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from qmon.engines.base import Bound, Connection, Engine, Statement
from qmon.engines.control_schema import check_trusted
from qmon.engines.result_records import to_records
from qmon.engines.sql import queries
from qmon.errors import BadInput, QueryFailed
from qmon.model.layout.layout import Layout, ObjectName
from qmon.operate.install.install_script import SCRIPT_HEADERS
from qmon.operate.install.object_names import table_name
from qmon.texts import Text


class RoleText(Text):
    """Why a script for roles cannot be printed."""

    LINE_GO = "a name that contains a line GO cannot be written to a script for SQL Server; run setup without --print"


ControlRole = Literal["monitor", "operator"]


@dataclass(frozen=True, slots=True)
class SetupStep:
    """One statement of a setup.

    ``purpose``: why it is needed. ``text``: the exact SQL. ``object_suffix``: the object, as text after the purpose.
    """

    purpose: str
    text: str
    object_suffix: str = ""


@dataclass(frozen=True, slots=True)
class SetupResult:
    """The result of one step. ``problem`` is empty if the step succeeded."""

    step: SetupStep
    problem: str = ""


@dataclass(frozen=True, slots=True)
class _ExistingSetup:
    qmon_schema: bool
    registry: bool
    monitor_role: bool
    operator_role: bool
    monitor_statistics: bool
    monitor_registry: bool
    operator_monitor: bool
    operator_signal: bool
    operations: bool
    operator_operations: bool
    monitor_operations: bool
    pauses: bool
    monitor_pauses: bool
    operator_pauses: bool
    operator_stores: bool


@dataclass(frozen=True, slots=True)
class _QueueObject:
    object_schema: str
    object_name: str
    is_sequence: bool
    monitor_schema: bool
    monitor_object: bool
    operator_object: bool

    @property
    def name(self) -> ObjectName:
        return ObjectName(self.object_schema, self.object_name)


def plan_control_setup(
    connection: Connection,
    engine: Engine,
    role: ControlRole,
    object_ids: Iterable[int] = (),
    layouts: Iterable[Layout] = (),
    watched_ids: Iterable[int] = (),
) -> tuple[SetupStep, ...]:
    """Return the missing steps for this role, in order. Only reads.

    ``role``: ``operator`` includes ``monitor``. ``object_ids``: tables and sequences of the queues. ``layouts``: the
    layouts of the queues, which name further objects that actions use. ``watched_ids``: tables that qmon only reads.
    Raises the errors of ``Connection.fetch``. Raises ``BadInput`` if qmon's own schema cannot be trusted.
    """
    check_trusted(connection, engine)
    work = _SetupPlan(connection, engine)
    existing = work.read_existing()
    written = set(object_ids)
    objects = work.read_objects(written)
    steps = list(work.monitor_setup_steps(existing, work.read_objects(written.union(watched_ids))))
    if role == "operator":
        steps += work.operator_setup_steps(existing, objects, layouts)
    return tuple(steps)


def read_object_ids(connection: Connection, engine: Engine, tables: Iterable[ObjectName]) -> list[int]:
    """Return the ids of library tables, and of the sequences that number their rows."""
    query = queries.load_query(engine.name, "catalog/setup_table", connection.version)
    statements = (queries.render(query, {"table": table.parts}, engine) for table in sorted(tables, key=str))
    return [row.object_id for each in statements for row in to_records(_Id, connection.fetch(Bound(each)))]


def plan_missing_grants(
    connection: Connection, engine: Engine, object_ids: Iterable[int], layouts: Iterable[Layout] = ()
) -> tuple[SetupStep, ...]:
    """Return the grants that qmon's existing roles lack on these tables, sequences and queues."""
    work = _SetupPlan(connection, engine)
    existing = work.read_existing()
    objects = work.read_objects(object_ids)
    steps = list(work.monitor_grant_steps(objects)) if existing.monitor_role else []
    return (
        (*steps, *work.operator_grant_steps(objects), *work.extra_object_grant_steps(layouts))
        if existing.operator_role
        else tuple(steps)
    )


def setup_script(engine: Engine, steps: Sequence[SetupStep]) -> str:
    """Return the steps as a readable SQL script with the purpose above each step. On SQL Server each step is a batch.

    Raises ``BadInput`` on SQL Server for a name that contains a line ``GO``, because this line would end a batch.
    """
    if engine.name != "sqlserver":
        return "\n".join((SCRIPT_HEADERS[engine.name], *(f"-- {step.purpose}\n{step.text};\n" for step in steps)))
    if any(line.strip().upper() == "GO" for step in steps for line in step.text.splitlines()):
        raise BadInput(RoleText.LINE_GO)
    return "\n".join((SCRIPT_HEADERS[engine.name], *(f"-- {step.purpose}\n{step.text}\nGO\n" for step in steps)))


def run_setup(connection: Connection, steps: Sequence[SetupStep]) -> tuple[SetupResult, ...]:
    """Run each step separately.

    If the server refuses a step, the other steps still run. The result of the refused step contains the problem.
    """
    return tuple(_run_step(connection, step) for step in steps)


def _run_step(connection: Connection, step: SetupStep) -> SetupResult:
    try:
        connection.execute(Bound(Statement("control/setup", step.text, (), ())))
    except QueryFailed as problem:
        return SetupResult(step, str(problem))
    return SetupResult(step)


@dataclass(frozen=True, slots=True)
class _Right:
    """Whether the operator role may use one object. ``present``: the object exists."""

    present: bool
    allowed: bool


@dataclass(frozen=True, slots=True)
class _Id:
    object_id: int


class _SetupPlan:
    """Render the statements of a setup for one engine."""

    def __init__(self, connection: Connection, engine: Engine) -> None:
        self.connection = connection
        self.engine = engine

    def read_existing(self) -> _ExistingSetup:
        statement = self._render("catalog/setup")
        return to_records(_ExistingSetup, self.connection.fetch(Bound(statement)))[0]

    def read_objects(self, ids: Iterable[int]) -> list[_QueueObject]:
        wanted = ",".join(str(each) for each in sorted(set(ids)))
        if not wanted:
            return []
        statement = self._render("catalog/setup_objects")
        return to_records(_QueueObject, self.connection.fetch(Bound(statement, {"objects": wanted})))

    def monitor_setup_steps(self, existing: _ExistingSetup, objects: Sequence[_QueueObject]) -> Iterator[SetupStep]:
        for missing, name in (
            (not existing.qmon_schema, "01_schema"),
            (not existing.registry, "02_queues"),
            (not existing.monitor_role, "role_monitor"),
            (not existing.monitor_statistics, "monitor_statistics"),
            (not existing.monitor_registry, "monitor_registry"),
            (not existing.monitor_operations, "monitor_operations"),
            (not existing.monitor_pauses, "monitor_pauses"),
        ):
            if missing:
                yield self._step(name)
        yield from self.monitor_grant_steps(objects)

    def operator_setup_steps(
        self, existing: _ExistingSetup, objects: Sequence[_QueueObject], layouts: Iterable[Layout]
    ) -> Iterator[SetupStep]:
        for missing, name in (
            (not existing.operator_role, "role_operator"),
            (not existing.operator_monitor, "operator_monitor"),
            (not existing.operator_signal, "operator_signal"),
            (not (existing.operations and existing.operator_operations), "03_operations"),
            (not existing.operator_operations, "operator_operations"),
            (not (existing.pauses and existing.operator_pauses), "04_pauses"),
            (not existing.operator_pauses, "operator_pauses"),
            (not existing.operator_stores, "05_store"),
            (not existing.operator_stores, "06_make_store"),
            (not existing.operator_stores, "07_put_back"),
            (not existing.operator_stores, "operator_stores"),
        ):
            if missing and queries.has_query(self.engine.name, f"control/{name}", self.connection.version):
                yield self._step(name)
        yield from self.operator_grant_steps(objects)
        yield from self.extra_object_grant_steps(layouts)

    def monitor_grant_steps(self, objects: Sequence[_QueueObject]) -> Iterator[SetupStep]:
        for schema in dict.fromkeys(each.object_schema for each in objects if not each.monitor_schema):
            yield replace(self._step("monitor_schema", schema=(schema,)), object_suffix=f": {schema}")
        for each in objects:
            if not each.monitor_object:
                yield self._grant_step("monitor", each)

    def operator_grant_steps(self, objects: Sequence[_QueueObject]) -> Iterator[SetupStep]:
        for each in objects:
            if not each.operator_object:
                yield self._grant_step("operator", each)

    def extra_object_grant_steps(self, layouts: Iterable[Layout]) -> Iterator[SetupStep]:
        """Yield grants on objects that actions use in addition to tables: switches, archives and routines."""
        for layout in layouts:
            for kind, name in _used_objects(layout):
                statement = self._render("catalog/setup_right", object=name.parts)
                right = to_records(_Right, self.connection.fetch(Bound(statement, {"kind": kind})))[0]
                if right.present and not right.allowed:
                    yield replace(self._step(f"operator_{kind}", object=name.parts), object_suffix=f": {name}")

    def _grant_step(self, role: ControlRole, each: _QueueObject) -> SetupStep:
        kind = "sequence" if each.is_sequence else "table"
        return replace(self._step(f"{role}_{kind}", **{kind: each.name.parts}), object_suffix=f": {each.name}")

    def _step(self, name: str, **names: queries.Name) -> SetupStep:
        query = queries.load_query(self.engine.name, f"control/{name}", self.connection.version)
        return SetupStep(query.purpose, queries.render(query, names, self.engine).text)

    def _render(self, name: str, **names: queries.Name) -> Statement:
        return queries.render(queries.load_query(self.engine.name, name, self.connection.version), names, self.engine)


def _used_objects(layout: Layout) -> Iterator[tuple[str, ObjectName]]:
    """Yield the objects that actions use in addition to tables and sequences, each with the kind of right it needs."""
    if layout.switch is not None:
        for switch in dict.fromkeys((layout.switch.producers, layout.switch.consumers)):
            yield "switch", switch
    if layout.routine_for("archive") is not None:
        yield "archive", table_name(layout.table.schema, layout.table.name, "archive_log")
    for verb in ("archive", "fill_hole", "requeue_orphan", "repair"):
        if (routine := layout.routine_for(verb)) is not None:
            yield "routine", routine
