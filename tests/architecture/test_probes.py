"""``qmon doctor`` runs every probe except those listed here, and verdicts name existing probes."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

from qmon.engines.sql import queries
from qmon.model.probe_table import INDEXED_PROBES, TARGET_PROBES
from qmon.model.verdicts import RULES
from qmon.monitor.state.diagnosis import EVIDENCE_PROBES

MONITOR: Final = Path(__file__).parents[2] / "qmon" / "monitor"
# Modules that make the statements of the doctor.
ASKED_BY_DOCTOR: Final = (
    "probe_checks.py",
    "../model/probe_constants.py",
    "probes/queue_probes.py",
    "probes/row_locks.py",
    "probes/table_counters.py",
    "poll/standby_snapshot.py",
    "background/table_scan.py",
    "background/fragmentation_reader.py",
    "background/plan_reader.py",
    "probes/group_probes.py",
    "probes/group_steps.py",
    "probes/group_strange.py",
)
# Probes that the doctor leaves out, and the reason.
NOT_BY_DOCTOR: Final = {
    "broker_monitors": "only if there are Service Broker queues",
    "broker_transmission": "the same",
    "broker_conversations": "the same",
    "blocked_file": "runs on the slow connection, if there is an event session",
    "blocked_reports": "the same",
    "circles": "runs between polls, on the sessions that `blocking` reads",
    "deadlock_file": "runs after a deadlock was counted",
    "deadlock_graphs": "the same",
    "deadlock_reports": "the same",
    "drawers": "reads locks, like `blocking`",
    "jobs": "roles can rarely read it, and no figure or verdict needs it",
    "lost": "reads the catalog, for names of missing queues",
    "readable": "reads the catalog, for tables that the role could not read",
    "group_page": "reads the rows of `group_states`, after a key was pressed",
    "messages_page": "reads the counted ranges, after a key was pressed",
    "messages_page_ring": "reads slots, like `ring`, after a key was pressed",
    "messages_page_ring_split": "the same",
    "messages_page_split": "the same",
    "own_uses": "runs after an exact count, on the same connection",
    "owners": "reads the range of `progress`, and the same sessions as `clients`",
    "newest": "reads the newest ids, like `newest_id`",
    "operated": "only if `pauses_known` has found the table",
    "pauses": "only if `pauses_known` has found the table",
    "pauses_known": "reads only the catalog",
    "pool_limits": "only if the database is in an elastic pool",
    "priorities": "one seek per priority, like `head`",
    "priorities_state": "the same",
    "slot_sweep": "reads slots, like `ring`",
    "routines": "names of procedures, for `procedures`",
    "scan_state": "replaces `scan`, selected by name",
    "scan_whole_state": "replaces `scan_whole`, selected by name",
    "sequences_free": "replaces `sequences` if one is locked",
    "sequences": "resolving the queues has already checked them",
    "statistics": "any role that may read a table may read its statistics",
    "tried_attempts": "reads the range of the head",
}


def all_probes() -> set[str]:
    """Return the names of all probes of both engines."""
    return {file.name.removeprefix("probe/") for file in queries.all_files() if file.kind == "probe"}


def test_the_probes_of_verdicts_and_evidence_exist() -> None:
    named = {prefix for rule in RULES for prefix in rule.probes} | {
        prefix for each in EVIDENCE_PROBES.values() for prefix in each
    }
    assert {prefix for prefix in named if not any(probe.startswith(prefix) for probe in all_probes())} == set()


def test_the_doctor_runs_each_probe_except_the_listed_ones() -> None:
    probes = all_probes()
    words = {
        node.value
        for name in ASKED_BY_DOCTOR
        for node in ast.walk(ast.parse((MONITOR / name).read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    words |= {name for name, probe in TARGET_PROBES.items() if not probe.only_if}
    words |= {name for probe in INDEXED_PROBES for name in (probe.name, *probe.variants)}
    assert len(probes & words) > 40
    assert probes - words == NOT_BY_DOCTOR.keys()
