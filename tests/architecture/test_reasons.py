"""Each reason why a figure is unknown is used by the code and has its paragraph in the manual."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path
from string import Formatter
from typing import Final

import pytest

from qmon.model.reasons import Reason

CHECKOUT: Final = Path(__file__).parents[2]
VERDICTS: Final = CHECKOUT / "docs" / "verdicts.md"
REASONS: Final = CHECKOUT / "qmon" / "model" / "reasons.py"
LINES: Final = re.findall(r"^### (.*)", VERDICTS.read_text("utf-8"), re.M)
HEADINGS: Final = [part.replace("…", "*") for line in LINES for part in line.split(" · ")]
SOURCES: Final = "".join(file.read_text("utf-8") for file in (CHECKOUT / "qmon").rglob("*.py") if file != REASONS)
GIVEN: Final = frozenset(re.findall(r"\bReason\.([A-Z_]+)\b", SOURCES))
# Reasons of lower bounds and estimates: the screens that show these symbols explain them.
BOUNDS: Final = frozenset(
    {
        Reason.WATCHED,
        Reason.SCANNED,
        Reason.SCANNED_IN,
        Reason.MORE_THAN_COUNTED,
        Reason.COUNT_UNDER_WAY,
        Reason.THROTTLED,
    }
)


def shown(reason: Reason) -> str:
    """Return the text as a user sees it, with ``x`` in its fields."""
    return "".join(literal + ("" if name is None else "x") for literal, name, _, _ in Formatter().parse(reason))


@pytest.mark.parametrize("reason", sorted(set(Reason) - BOUNDS), ids=lambda reason: reason.name)
def test_the_manual_explains_the_reason(reason: Reason) -> None:
    text = shown(reason)
    # A text that begins with another reason is explained there.
    assert any(fnmatchcase(text, heading) for heading in HEADINGS) or text.startswith("x"), text


@pytest.mark.parametrize("reason", Reason, ids=lambda reason: reason.name)
def test_the_code_gives_the_reason(reason: Reason) -> None:
    assert reason.name in GIVEN
