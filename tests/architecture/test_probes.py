"""``qmon doctor`` runs every probe, or it is said here why not; verdicts name probes that there are."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

from qmon.engines.sql import queries
from qmon.model.verdicts import RULES
from qmon.monitor.state.diagnosis import EVIDENCE_PROBES

MONITOR: Final = Path(__file__).parents[2] / "qmon" / "monitor"
# Where the statements of the checkup are made.
ASKED_BY_DOCTOR: Final = (
    "doctor.py",
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
    "probes/target_probes.py",
)
# Probes that the checkup leaves out, and why it may.
NOT_BY_DOCTOR: Final = {
    "broker_queues": "only where there are queues of Service Broker",
    "broker_monitors": "the same",
    "broker_transmission": "the same",
    "broker_conversations": "the same",
    "blocked_file": "asked on the slow connection, where somebody runs an event session",
    "blocked_reports": "the same",
    "circles": "asked between polls, of the sessions that `blocking` reads",
    "deadlock_file": "asked after a deadlock was counted",
    "deadlock_graphs": "the same",
    "deadlock_reports": "the same",
    "drawers": "reads locks, as `blocking`",
    "jobs": "what our role may seldom see, and no figure or verdict needs",
    "lost": "reads the catalogue, for names of queues that are not there",
    "readable": "reads the catalogue, for tables that our role could not read",
    "group_page": "walks the rows of `group_states`, after a key was pressed",
    "messages_page": "seeks the ranges that are counted, after a key was pressed",
    "messages_page_ring": "reads slots, as `ring`, after a key was pressed",
    "messages_page_ring_split": "the same",
    "messages_page_split": "the same",
    "own_uses": "asked after an exact count, on the connection that has counted",
    "owners": "seeks the range of `progress`, and sees as much of the sessions as `clients`",
    "operated": "only where `pauses_known` has found the table",
    "pauses": "only where `pauses_known` has found the table",
    "pauses_known": "reads the catalogue alone",
    "priorities": "a seek a priority, as `head`",
    "priorities_state": "the same",
    "slot_sweep": "reads slots, as `ring`",
    "routines": "names of procedures, for `procedures`",
    "scan_state": "in place of `scan`, chosen by its name",
    "scan_whole_state": "in place of `scan_whole`, the same",
    "sequences_free": "the same, while somebody locks one",
    "sequences": "resolving the queues has checked that they can be read",
    "statistics": "who may read a table may read its statistics",
    "tried_attempts": "seeks the range of the head",
}


def all_probes() -> set[str]:
    """The names of all probes of both engines."""
    return {file.name.removeprefix("probe/") for file in queries.all_files() if file.kind == "probe"}


def test_the_probes_that_verdicts_and_their_evidence_come_from_are_there() -> None:
    named = {prefix for rule in RULES for prefix in rule.probes} | {
        prefix for each in EVIDENCE_PROBES.values() for prefix in each
    }
    assert {prefix for prefix in named if not any(probe.startswith(prefix) for probe in all_probes())} == set()


def test_each_probe_is_run_by_the_doctor_or_excused() -> None:
    probes = all_probes()
    words = {
        node.value
        for name in ASKED_BY_DOCTOR
        for node in ast.walk(ast.parse((MONITOR / name).read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert len(probes & words) > 40
    assert probes - words == NOT_BY_DOCTOR.keys()
