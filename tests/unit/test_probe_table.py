"""The table of probes has a row for each probe, and every name that a declaration uses exists."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from pathlib import Path

import pytest

from qmon.model.evidence import QueueEvidence
from qmon.model.probe_table import PROBES as TABLE
from qmon.model.probe_table import family_of, is_probe_of, probe_family
from qmon.model.queue_figures import DIRECT_FIGURES
from qmon.model.verdicts import RuleInput
from qmon.model.verdicts.judge import RULES
from qmon.model.view import QueueView

SQL = Path(__file__).parents[2] / "sql"
PROBES = frozenset(path.name.partition(".")[0] for path in SQL.glob("*/probes/*.sql"))
# It has no file of its own, but runs `in_state` with another value.
RENAMED = {"blocked"}


def test_every_probe_has_one_row() -> None:
    assert {name for name in TABLE if ":" not in name} - RENAMED == PROBES
    rows = {id(row): row for row in TABLE.values()}.values()
    assert sum(1 + len(row.variants) for row in rows) == len(TABLE)


def test_a_family_is_named_after_one_of_its_probes() -> None:
    assert {row.family for row in TABLE.values() if row.family} <= TABLE.keys()


def test_the_properties_of_a_probe_are_in_one_row_of_its_family() -> None:
    for row in TABLE.values():
        if row.family:
            assert not (row.feeds or row.rank or row.every_s or row.subject), row.name


def test_a_probe_named_like_a_variant_is_in_a_family() -> None:
    """A new file such as ``head_new.sql`` must be a variant, so that its failure concerns the same figures."""
    families = Counter(map(probe_family, PROBES))
    shared = {family for family, count in families.items() if count > 1}
    named = {probe for probe in PROBES for family in shared if probe.startswith(f"{family}_")}
    assert {probe for probe in named if probe_family(probe) not in shared} == set()


def test_probes_feed_figures_and_evidence_that_exist() -> None:
    known = (
        {field.name for kind in (QueueView, QueueEvidence, RuleInput) for field in fields(kind)}
        | {"rates"}
        | {figure.field for figure in DIRECT_FIGURES}
    )
    assert {name for row in TABLE.values() for name in row.feeds} <= known


def test_a_state_has_its_own_row_and_anything_else_the_row_of_its_family() -> None:
    assert family_of("group_states:dead") is TABLE["group_states:dead"]
    assert family_of("group_states:done") is TABLE["group_states"]
    assert family_of("head_walk") is TABLE["head"]
    assert family_of("no such probe") is None


def test_rules_name_probes_or_families() -> None:
    assert {name for rule in RULES for name in rule.probes} <= PROBES


@pytest.mark.parametrize(
    ("probe", "family"),
    [
        ("head_walk", "head"),
        ("group_states:dead", "group_states"),
        ("group_steps_at:2:done", "group_steps"),
        ("log", "log"),
    ],
)
def test_variants_and_parts_belong_to_their_family(probe: str, family: str) -> None:
    assert probe_family(probe) == family
    assert is_probe_of(probe, ("clock", family))


def test_names_that_only_begin_alike_are_different_probes() -> None:
    assert not is_probe_of("ring_sweep", ("ring",))
    assert not is_probe_of("blocked_file", ("blocked",))
    assert not is_probe_of("messages_page", ("messages",))
    assert is_probe_of("group_states:ready", ("group_states:ready",))
    assert not is_probe_of("group_states:dead", ("group_states:ready",))
