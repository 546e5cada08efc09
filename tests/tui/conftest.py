"""Do work only once that is the same for every app in these tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_PARSED: Final[dict[tuple[object, ...], list[RuleSet]]] = {}


@pytest.fixture(scope="session", autouse=True)
def parsed_once() -> Iterator[None]:
    """Parse style sheets once per process; Textual parses them three times for each app that starts."""
    parse_rules = Stylesheet._parse_rules

    def parsed(self: Stylesheet, css: str, *where: Any, **more: Any) -> list[RuleSet]:
        key = (css, where, *more.values(), *self._variables.items())
        if key not in _PARSED:
            _PARSED[key] = parse_rules(self, css, *where, **more)
        return _PARSED[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parsed)
        yield
