"""Read the registry of queues that ``qmon design install`` writes to the database."""

from __future__ import annotations

from dataclasses import dataclass

from qmon.engines.control_schema import why_untrusted
from qmon.engines.sql import queries
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.layout.layout_io import JSON_FORMAT, layout_from_json
from qmon.model.snapshot import ProbeFailure
from qmon.monitor.catalog.catalog import Catalog
from qmon.texts import Text


class QueueRegistryText(Text):
    """Why the registry of installed queues, or one of its entries, cannot be used."""

    UNREADABLE = "your role may not read the registry of installed queues"
    NEWER = "written by a newer version of qmon; upgrade qmon on this machine"
    WHERE = "registry of {queue}"
    WRITE_AGAIN = "{problem}; to write it again: qmon design install"


@dataclass(frozen=True, slots=True)
class RegistryState:
    """Whether the registry exists, and whether our role may read it."""

    installed: bool
    readable: bool


@dataclass(frozen=True, slots=True)
class RegistryRow:
    """A queue of the registry."""

    queue: str
    layout: str
    version: int


@dataclass(frozen=True, slots=True)
class RegisteredLayouts:
    """The layouts of the registry, with one problem for each entry that cannot be used.

    ``were_read``: the registry was read, so a queue that it does not list is not installed.
    """

    layouts: tuple[Layout, ...] = ()
    problems: tuple[ProbeFailure, ...] = ()
    were_read: bool = False


def read_registered_layouts(catalog: Catalog) -> RegisteredLayouts:
    """Return the layouts of the registry. A database without a registry gives no layouts and no problems."""
    engine, version = catalog.engine.name, catalog.connection.version
    if not queries.has_query(engine, "catalog/registry", version):
        return RegisteredLayouts()
    state = catalog.read_records(RegistryState, "catalog/registry")[0]
    if (why := why_untrusted(catalog.connection, catalog.engine)) is not None:
        return RegisteredLayouts(problems=(ProbeFailure("registry", why, gone=True),))
    if not state.installed:
        return RegisteredLayouts()
    if not state.readable:
        grant = catalog.grant_statement(ObjectName("qmon", "queues"))
        failure = ProbeFailure("registry", QueueRegistryText.UNREADABLE, grant=grant, gone=True)
        return RegisteredLayouts(problems=(failure,))
    layouts: list[Layout] = []
    problems: list[ProbeFailure] = []
    for row in catalog.read_records(RegistryRow, "control/registry"):
        if row.version > JSON_FORMAT:
            problems.append(ProbeFailure("registry", QueueRegistryText.NEWER, row.queue, gone=True))
            continue
        try:
            layouts.append(layout_from_json(row.layout, where=QueueRegistryText.WHERE.render(queue=row.queue)))
        except BadInput as problem:
            reason = QueueRegistryText.WRITE_AGAIN.render(problem=problem)
            problems.append(ProbeFailure("registry", reason, row.queue, gone=True))
    return RegisteredLayouts(tuple(layouts), tuple(problems), were_read=True)
