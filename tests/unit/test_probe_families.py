"""Each probe belongs to the family of its variants, and every name that a declaration uses exists."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmon.model.probe_families import FAMILIES, is_probe_of, probe_family
from qmon.model.verdicts.judge import RULES

SQL = Path(__file__).parents[2] / "sql"
PROBES = frozenset(path.name.partition(".")[0] for path in SQL.glob("*/probes/*.sql"))
MEMBERS = frozenset().union(*FAMILIES.values())


def test_every_member_is_a_probe_of_one_family() -> None:
    assert MEMBERS <= PROBES
    assert sum(map(len, FAMILIES.values())) == len(MEMBERS)


def test_a_probe_named_like_a_variant_is_in_a_family() -> None:
    """A new file such as ``head_new.sql`` must be declared, so that its failure concerns the same figures."""
    assert {probe for probe in PROBES for family in FAMILIES if probe.startswith(f"{family}_")} <= MEMBERS


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
