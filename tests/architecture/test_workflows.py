"""Workflows pin third-party actions to a commit, because a tag can be moved to other code."""

from __future__ import annotations

import re
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
WORKFLOWS = sorted((CHECKOUT / ".github").rglob("*.yml"))
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


def test_every_action_is_pinned_to_a_commit_and_names_its_version() -> None:
    used = [
        (path.name, found[1])
        for path in WORKFLOWS
        for line in path.read_text("utf-8").splitlines()
        if (found := re.match(r"\s*(?:-\s+)?[\"']?uses[\"']?\s*:\s*(.*\S)", line)) is not None
    ]
    assert len(used) >= len(WORKFLOWS) >= 3
    assert [each for each in used if not PINNED.fullmatch(each[1])] == []


def test_each_version_of_an_action_is_the_same_commit_everywhere() -> None:
    text = "\n".join(path.read_text("utf-8") for path in WORKFLOWS)
    found = set(re.findall(r"uses: ([\w./-]+)@([0-9a-f]{40}) # (\S+)", text))
    assert len({(name, version) for name, _, version in found}) == len(found)
