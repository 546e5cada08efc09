"""Installs and uninstalls queues of a design, each in one transaction. Installing never replaces existing objects."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, TypedDict, Unpack

from qmon.engines.base import Bound, Connection, Engine, Query, Value
from qmon.engines.control_schema import check_trusted
from qmon.engines.sql import queries
from qmon.errors import BadInput, QueryFailed
from qmon.model.layout.layout import DEFAULT_MAX_ATTEMPTS, DEFAULT_TIMEOUT_S, MAX_MAX_ATTEMPTS, Layout, ObjectName
from qmon.model.layout.layout_io import layout_from_json, layout_to_json
from qmon.operate.install import object_names
from qmon.operate.install.design_layouts import SHAPES, layout_for
from qmon.operate.sql import Sql
from qmon.texts import Text


class InstallText(Text):
    """Why a queue cannot be installed or uninstalled."""

    NO_DESIGN = "{engine} has no design {design!r} to install; choose one of: {designs}"
    RING_SIZE = "a ring has 2 to {limit:,} slots, not {size:,}"
    FAILED = "cannot install {queue!r}: {problem}; nothing was changed"
    NOT_INSTALLED = "qmon has not installed a queue {queue!r} in this database; nothing was changed"
    DEPENDENT = "cannot uninstall {queue!r}: {problem}; first drop the dependent object"
    ONE_SUBSCRIBER = "only a ring can have several subscribers; {design} has one subscriber"
    SUBSCRIBERS = "a ring has 1 to {limit} subscribers, not {subscribers:,}"
    NO_ATTEMPTS = "the design {design} does not count attempts, so its messages never become dead"
    ATTEMPTS = "a message is dead after 1 to {limit:,} attempts, not {attempts:,}"
    NO_SCHEMA = "the schema {schema!r} does not exist; create this schema first, or name another one"
    MORE = " (and {count:,} more)"
    EXISTS = "cannot install {queue!r}: {object} already exists{more}; nothing was changed"
    OTHER_TABLE = "a queue {queue!r} on another table is already installed; choose another name or uninstall that queue"


DEFAULT_RING_SIZE: Final = 10_000
MAX_RING_SIZE: Final = 10_000_000
MAX_SUBSCRIBERS: Final = 16

# The design of a ring with several subscribers.
SUBSCRIBED_DESIGN: Final = "ring_subscribers"

# The files that create qmon's schema and registry, in order.
CONTROL_FILES: Final = ("control/01_schema", "control/02_queues")

# The file that adds a queue to the registry.
REGISTER_FILE: Final = "control/register"

# SQLSTATEs for a name that is in use: by a table, object or function (PostgreSQL), or by any object (SQL Server).
_TAKEN_STATES: Final = frozenset({"42P07", "42710", "42723", "42S01"})

# SQL Server's errors: a type, an index or another object of that name exists. Source: Microsoft's list of errors.
_TAKEN_NUMBERS: Final = frozenset({219, 1913, 2714})
_DEPENDED_ON_STATE: Final = "2BP01"

# SQL Server's errors: a foreign key refers to the table, or an object refers to the object or the type.
_DEPENDED_ON_NUMBERS: Final = frozenset({3726, 3729, 3732})


@dataclass(frozen=True, slots=True)
class DatabaseObject:
    """A database object: its kind (``table``, ``index``, ``sequence``, ``function`` …) and its name."""

    kind: str
    name: ObjectName

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class PreparedInstall:
    """A checked installation: the design's files in order, the placeholders of the created objects, and the layout."""

    files: tuple[Query, ...]
    objects: tuple[str, ...]
    layout: Layout
    numbers: dict[str, int]

    def names_for(self, file: Query) -> dict[str, queries.Name]:
        """Return the names for one of the files."""
        return object_names.names_for(file, self.layout.table.schema, self.layout.table.name, self.numbers)


@dataclass(frozen=True, slots=True)
class Installed:
    """The result of ``install_queue``: the layout and the created objects."""

    layout: Layout
    created: tuple[DatabaseObject, ...]


@dataclass(frozen=True, slots=True)
class Uninstalled:
    """The result of ``uninstall_queue``: the layout and the removed objects."""

    layout: Layout
    removed: tuple[DatabaseObject, ...]


class InstallOptions(TypedDict, total=False):
    """Options of a new queue; see ``install_queue``."""

    ring_size: int
    subscribers: int | None
    timeout_s: float
    owner_held_while_working: bool
    max_attempts: int | None


def available_designs(engine: Engine) -> tuple[str, ...]:
    """Return the names of the designs that can be installed on this engine."""
    return tuple(design for design in queries.designs(engine.name) if design in SHAPES)


def prepare_install(
    engine: Engine,
    version: tuple[int, int],
    design: str,
    *,
    schema: str,
    queue: str,
    ring_size: int = DEFAULT_RING_SIZE,
    subscribers: int | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    owner_held_while_working: bool = False,
    max_attempts: int | None = None,
) -> PreparedInstall:
    """Check the options of an installation. Does not connect to a server. ``version``: version of the intended server.

    Raises ``BadInput`` if the design or a name is not possible.
    """
    if design == "ring" and subscribers is not None and subscribers > 1:
        design = SUBSCRIBED_DESIGN
    if design not in available_designs(engine):
        raise BadInput(InstallText.NO_DESIGN.render(engine=engine.name, design=design, designs=_designs_text(engine)))
    if not 2 <= ring_size <= MAX_RING_SIZE:
        raise BadInput(InstallText.RING_SIZE.render(limit=MAX_RING_SIZE, size=ring_size))
    readers = _subscriber_count(design, subscribers)
    files = queries.design_files(engine.name, design, version)
    if max_attempts is not None:
        _check_attempts(design, files, max_attempts)
    objects = object_names.object_slots(files)
    if readers:
        objects += object_names.subscriber_sequences(readers)
    object_names.check_names(engine.name, design, schema, queue, objects)
    layout = layout_for(
        design,
        schema,
        queue,
        objects=objects,
        size=ring_size,
        subscribers=readers,
        timeout_s=timeout_s,
        owner_held_while_working=owner_held_while_working,
        max_attempts=max_attempts,
    )
    return PreparedInstall(files, objects, layout, number_placeholders(ring_size, readers, max_attempts))


def install_queue(
    connection: Connection,
    engine: Engine,
    design: str,
    *,
    schema: str,
    queue: str,
    **options: Unpack[InstallOptions],
) -> Installed:
    """Install a queue of a design and add it to the registry, in one transaction.

    - ``ring_size``: slots of a ring.
    - ``subscribers``: how many programs read each message of a ring. With more than one program, the design ``ring``
      becomes ``ring_subscribers``. The default of ``ring_subscribers`` is 2.
    - ``timeout_s``: seconds in progress after which a message is stuck.
    - ``owner_held_while_working``: consumers keep their session open while they work. A consumer whose session has
      ended is dead.
    - ``max_attempts``: number of pops after which a failed message is dead, if the design counts pops.

    Raises ``BadInput``, with nothing changed, if the design or a name is not possible, or if one of the objects or a
    queue of that name exists. Raises ``PermissionMissing`` or ``QueryFailed`` if the server refuses.
    """
    ready = prepare_install(engine, connection.version, design, schema=schema, queue=queue, **options)
    objects, sql = ready.objects, Sql(connection, engine)
    try:
        with connection.transaction():
            check_trusted(connection, engine)
            for name in CONTROL_FILES:  # also serializes concurrent installs until they commit
                sql.execute(name, {})
            check_trusted(connection, engine)
            _check_can_create(_read_objects(sql, schema, queue, objects), schema, queue)
            for file in ready.files:
                _run_file(sql, file, ready.names_for(file))
            _register_queue(sql, ready.layout)
            created = _read_objects(sql, schema, queue, objects)
    except QueryFailed as problem:
        if problem.sqlstate in _TAKEN_STATES or _TAKEN_NUMBERS.intersection(problem.numbers):
            raise BadInput(InstallText.FAILED.render(queue=queue, problem=problem)) from problem
        raise
    return Installed(ready.layout, tuple(each for each in created if each.kind != "schema"))


def uninstall_queue(connection: Connection, engine: Engine, queue: str) -> Uninstalled:
    """Remove an installed queue with its messages and its registry entry, in one transaction.

    Raises ``BadInput``, with nothing changed, if the queue is not in the registry, or if a view, foreign key or
    other object depends on one of the queue's objects.
    """
    layout = read_installed_layouts(connection, engine).get(queue)
    if layout is None:
        raise BadInput(InstallText.NOT_INSTALLED.render(queue=queue))
    version = connection.version
    files = queries.uninstall_files(engine.name, layout.design, version)
    objects = object_names.object_slots((*queries.design_files(engine.name, layout.design, version), *files))
    if layout.ring is not None:
        objects += object_names.subscriber_sequences(len(layout.ring.subscribers))
    schema, name, sql = layout.table.schema, layout.table.name, Sql(connection, engine)
    try:
        with connection.transaction():
            removed = _read_objects(sql, schema, name, objects)
            for file in files:
                _run_file(sql, file, object_names.names_for(file, schema, name, {}))
            sql.execute("control/unregister", {}, {"queue": queue})
    except QueryFailed as problem:
        if problem.sqlstate == _DEPENDED_ON_STATE or _DEPENDED_ON_NUMBERS.intersection(problem.numbers):
            raise BadInput(InstallText.DEPENDENT.render(queue=queue, problem=problem)) from problem
        raise
    return Uninstalled(layout, tuple(each for each in removed if each.kind != "schema"))


def install_trial(
    connection: Connection,
    engine: Engine,
    design: str,
    *,
    schema: str,
    queue: str,
    ring_size: int = DEFAULT_RING_SIZE,
) -> Layout:
    """Create the objects of a design in an existing schema, in one transaction. Return the queue's layout.

    The queue is not registered, so dropping the schema removes it. ``ring_size``: number of slots. A ring has one
    subscriber. Raises server errors, and ``BadInput`` for a design or a name that is not possible.
    """
    readers = 1 if design == SUBSCRIBED_DESIGN else None
    ready = prepare_install(
        engine, connection.version, design, schema=schema, queue=queue, ring_size=ring_size, subscribers=readers
    )
    with connection.transaction():
        for file in ready.files:
            _run_file(Sql(connection, engine), file, ready.names_for(file))
    return ready.layout


def read_installed_layouts(connection: Connection, engine: Engine) -> dict[str, Layout]:
    """Return the layouts of all queues that qmon installed, keyed by queue. Empty if the database has no registry.

    Raises ``BadInput`` if qmon's own schema cannot be trusted.
    """
    check_trusted(connection, engine)
    sql = Sql(connection, engine)
    if not any(each.kind == "table" for each in _read_existing(sql, "qmon", ["queues"])):
        return {}
    rows = connection.fetch(Bound(sql.statement("control/registry", {})))
    queue, layout = rows.columns.index("queue"), rows.columns.index("layout")
    found = {str(row[queue]): layout_from_json(str(row[layout])) for row in rows.rows}
    # jsonb does not keep the order of keys
    return {name: replace(each, routines=tuple(sorted(each.routines))) for name, each in found.items()}


def number_placeholders(ring_size: int, subscribers: int, max_attempts: int | None = None) -> dict[str, int]:
    """Return the values of the number placeholders in a design's files."""
    most = max_attempts or DEFAULT_MAX_ATTEMPTS
    return {object_names.SIZE: ring_size, object_names.SUBSCRIBERS: subscribers, object_names.MAX_ATTEMPTS: most}


def _subscriber_count(design: str, subscribers: int | None) -> int:
    """Return the number of subscriber sequences of a design; 0 if each message has only one reader."""
    if design != SUBSCRIBED_DESIGN:
        if subscribers not in (None, 1):
            raise BadInput(InstallText.ONE_SUBSCRIBER.render(design=design))
        return 0
    wanted = 2 if subscribers is None else subscribers
    if not 1 <= wanted <= MAX_SUBSCRIBERS:
        raise BadInput(InstallText.SUBSCRIBERS.render(limit=MAX_SUBSCRIBERS, subscribers=wanted))
    return wanted


def _check_attempts(design: str, files: Iterable[Query], max_attempts: int) -> None:
    if not any(object_names.MAX_ATTEMPTS in file.names for file in files):
        raise BadInput(InstallText.NO_ATTEMPTS.render(design=design))
    if not 1 <= max_attempts <= MAX_MAX_ATTEMPTS:
        raise BadInput(InstallText.ATTEMPTS.render(limit=MAX_MAX_ATTEMPTS, attempts=max_attempts))


def _designs_text(engine: Engine) -> str:
    return ", ".join(available_designs(engine)) or "none"


def _run_file(sql: Sql, file: Query, names: dict[str, queries.Name]) -> None:
    sql.connection.execute(Bound(queries.render(file, names, sql.engine)))


def _read_objects(sql: Sql, schema: str, queue: str, slots: Iterable[str]) -> tuple[DatabaseObject, ...]:
    return _read_existing(sql, schema, [object_names.object_name(queue, slot) for slot in slots])


def _read_existing(sql: Sql, schema: str, names: list[str]) -> tuple[DatabaseObject, ...]:
    """Return which of these names exist in the schema. The result also contains the schema if it exists."""
    values = {"schema": schema, "names": json.dumps(names, ensure_ascii=False)}
    rows = sql.connection.fetch(Bound(sql.statement("action/objects", {}), values))
    return tuple(DatabaseObject(str(kind), ObjectName(schema, str(name))) for kind, name in rows.rows)


def _check_can_create(taken: tuple[DatabaseObject, ...], schema: str, queue: str) -> None:
    there = [each for each in taken if each.kind != "schema"]
    if len(there) == len(taken):
        raise BadInput(InstallText.NO_SCHEMA.render(schema=schema))
    if there:
        more = InstallText.MORE.render(count=len(there) - 1) if len(there) > 1 else ""
        raise BadInput(InstallText.EXISTS.render(queue=queue, object=there[0], more=more))


def _register_queue(sql: Sql, layout: Layout) -> None:
    values: dict[str, Value] = {"queue": layout.queue, "design": layout.design, "layout": layout_to_json(layout)}
    if sql.execute(REGISTER_FILE, {}, values) == 0:
        raise BadInput(InstallText.OTHER_TABLE.render(queue=layout.queue))
