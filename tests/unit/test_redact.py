"""What the configuration covers in payloads, and how long it keeps the trash."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmon.config.file import parse_config
from qmon.config.redact import redactor
from qmon.errors import BadInput


@pytest.mark.parametrize(
    ("patterns", "text", "shown"),
    [
        ([], "card 4111", "card 4111"),
        ([r"\d{4}"], "card 4111 of 4222", "card ••• of •••"),
        ([r'"card": "([^"]*)"'], '{"card": "4111", "to": "ada"}', '{"card": "•••", "to": "ada"}'),
        ([r"(a)|(b)"], "a b c", "••• ••• c"),
        ([r"(?:user|login)=(\w+):(\w+)"], "login=ada:secret x", "login=•••:••• x"),
        ([r"x*"], "ab", "ab"),
        ([r"secret", r"\d+"], "secret 17", "••• •••"),
    ],
)
def test_what_a_pattern_finds_is_covered(patterns: list[str], text: str, shown: str) -> None:
    assert redactor(patterns)(text) == shown


def test_settings_hold_patterns_and_the_trash() -> None:
    settings = parse_config('[settings]\nredact = ["a+"]\ntrash = "30d"', Path("q.toml")).settings
    assert (settings.redact, settings.trash_days) == (("a+",), 30.0)


def test_what_is_no_pattern_is_named_with_its_key() -> None:
    with pytest.raises(BadInput, match=r"q\.toml: settings\.redact: '\(' is no regular expression"):
        parse_config('[settings]\nredact = ["("]', Path("q.toml"))
