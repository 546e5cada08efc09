"""pytest plug-in that replaces every text of qmon by its upper case, to find tests that depend on the wording.

Run it with ``pytest -p tests.upper_case``. The fields of a text stay as they are. Tests of the wording itself are left
out. Every other test must pass.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final, cast

import pytest

from qmon.model.texts import Text

_TESTS: Final = Path(__file__).parent
# Tests of the wording: the tables of the texts, the manual and pictures of screens.
_OF_THE_WORDING: Final = (
    _TESTS / "texts",
    _TESTS / "architecture" / "test_manual.py",
    _TESTS / "architecture" / "test_reasons.py",
    _TESTS / "unit" / "test_words_by_engine.py",
)
_FIELD: Final = re.compile(r"(\{[^{}]*\})")


def _upper_case(template: str) -> str:
    return "".join(part if part.startswith("{") else part.upper() for part in _FIELD.split(template))


def _upper_case_member(cls: type[Text], template: str) -> Text:
    member = str.__new__(cls, _upper_case(template))
    member._value_ = str(member)
    return member


if Text.__subclasses__():
    raise pytest.UsageError("load tests.upper_case with -p, before any module of qmon that has texts")
cast(Any, Text).__new_member__ = _upper_case_member


def _is_of_the_wording(item: pytest.Item) -> bool:
    """Return whether a test checks the wording of texts, or compares texts with the manual."""
    return item.name.startswith("test_the_manual") or any(item.path.is_relative_to(path) for path in _OF_THE_WORDING)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of the wording."""
    wording = [each for each in items if _is_of_the_wording(each)]
    if wording:
        config.hook.pytest_deselected(items=wording)
        items[:] = [each for each in items if each not in wording]
