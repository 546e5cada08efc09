"""Checks the wording of the texts of one subject against a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from qmon.texts import Text

# The fields and the sentence of each text.
Wordings = Mapping[Text, tuple[dict[str, Any], str]]


def parametrized(wordings: Wordings) -> pytest.MarkDecorator:
    """Return a mark that runs a test with each text, its fields and its sentence.

    Raises ``KeyError`` if one of the enumerations has a member without a row.
    """
    return pytest.mark.parametrize(
        ("text", "fields", "sentence"),
        [
            pytest.param(each, *wordings[each], id=f"{texts.__name__}.{each.name}")
            for texts in {type(text): None for text in wordings}
            for each in texts
        ],
    )
