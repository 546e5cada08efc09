"""pytest plug-in that replaces every text of qmon by its upper case, to find tests that depend on the wording.

Run it with ``pytest -p tests.upper_case``. The fields of a text stay as they are. Programs that tests start show upper
case too. Tests of the wording itself are left out. Every other test must pass.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

# Loaded with ``-p``, before any module of qmon that has texts.
from tests.upper_case_programs import sitecustomize as sitecustomize

_TESTS: Final = Path(__file__).parent
# Tests of the wording: the tables of the texts, the manual and pictures of screens.
_OF_THE_WORDING: Final = (
    _TESTS / "texts",
    _TESTS / "architecture" / "test_manual.py",
    _TESTS / "architecture" / "test_reasons.py",
    _TESTS / "unit" / "test_words_by_engine.py",
)

os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, (str(_TESTS / "upper_case_programs"), os.environ.get("PYTHONPATH")))
)


def _is_of_the_wording(item: pytest.Item) -> bool:
    """Return whether a test checks the wording of texts, or compares texts with the manual."""
    return item.name.startswith("test_the_manual") or any(item.path.is_relative_to(path) for path in _OF_THE_WORDING)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of the wording."""
    wording = [each for each in items if _is_of_the_wording(each)]
    if wording:
        config.hook.pytest_deselected(items=wording)
        items[:] = [each for each in items if each not in wording]
