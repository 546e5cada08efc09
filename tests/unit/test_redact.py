"""Redacted data: the configured fields of payloads, and passwords in statements and messages."""

from __future__ import annotations

import string
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.config.config_file import parse_config
from qmon.engines.secret import Secret
from qmon.errors import BadInput
from qmon.redact import RedactText, build_redactor, hide_known_password, hide_passwords, hide_secrets, is_distinctive
from tests.wordings import pattern


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
    assert build_redactor(patterns)(text) == shown


def test_settings_hold_patterns_and_the_trash() -> None:
    settings = parse_config('[settings]\nredact = ["a+"]\ntrash = "30d"', Path("q.toml")).settings
    assert (settings.redact, settings.trash_days) == (("a+",), 30.0)


def test_what_is_no_pattern_is_named_with_its_key() -> None:
    with pytest.raises(BadInput, match=r"q\.toml: settings\.redact: " + pattern(RedactText.NOT_A_PATTERN, pattern="(")):
        parse_config('[settings]\nredact = ["("]', Path("q.toml"))


def test_passwords_in_statements_are_covered() -> None:
    for told, shown in (
        ("ALTER ROLE shop PASSWORD 'it''s me' VALID UNTIL '2030'", "ALTER ROLE shop PASSWORD '***' VALID UNTIL '2030'"),
        (
            "CREATE LOGIN a WITH PASSWORD = N'x', CHECK_POLICY = ON",
            "CREATE LOGIN a WITH PASSWORD = N'***', CHECK_POLICY = ON",
        ),
        ("alter user a identified by 'cut sho", "alter user a identified by '***"),
        ("SELECT 'password' AS hint, password FROM t", "SELECT 'password' AS hint, password FROM t"),
        (r"ALTER ROLE a PASSWORD E'a\'b' LOGIN", "ALTER ROLE a PASSWORD E'***' LOGIN"),
        (r"ALTER ROLE a PASSWORD 'ends in \'", "ALTER ROLE a PASSWORD '***"),
        ("ALTER ROLE a PASSWORD $q$a 'b' $ c$q$ LOGIN", "ALTER ROLE a PASSWORD $q$***$q$ LOGIN"),
        ("ALTER ROLE a PASSWORD $$cut sho", "ALTER ROLE a PASSWORD $$***"),
        ("dblink('host=h password=geheim user=u', 'x')", "dblink('host=h password=*** user=u', 'x')"),
        ("dblink('password=''ge heim'' user=u', 'x')", "dblink('password=''***'' user=u', 'x')"),
        ("OPENROWSET('MSOLEDBSQL', 'Server=h;PWD=geheim;UID=u')", "OPENROWSET('MSOLEDBSQL', 'Server=h;PWD=***;UID=u')"),
        ("SELECT 'postgresql://me:geheim@host/shop'", "SELECT 'postgresql://me:***@host/shop'"),
        ("UPDATE t SET password = $1 WHERE id = $2", "UPDATE t SET password = $1 WHERE id = $2"),
    ):
        assert hide_passwords(told) == shown


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("no DSN=a;UID=b;PWD=ge,h)e&i$m;Encrypt=yes", "no DSN=a;UID=b;PWD=***;Encrypt=yes"),
        ("PWD={ge;hei}}m};UID=b", "PWD=***;UID=b"),
        ("PWD={cut; sho", "PWD=***"),
        ('pass="ge heim" user=u', "pass=*** user=u"),
        ("PWD=$eheim;UID=b", "PWD=***;UID=b"),
        ("cannot reach mssql://me:it's@db1/shop", "cannot reach mssql://me:***@db1/shop"),
        ("http://host:80/path", "http://host:80/path"),
    ],
)
def test_passwords_in_connection_strings_and_urls_are_covered(told: str, shown: str) -> None:
    assert hide_passwords(told) == shown
    assert hide_passwords(shown) == shown


@given(st.text(string.printable.strip(), min_size=8, max_size=30).filter(is_distinctive))
def test_a_distinctive_password_survives_in_no_form(password: str) -> None:
    Secret(password)
    for form in (password, quote(password, safe=""), repr(password)[1:-1], password.replace("'", "''")):
        text = f"it failed for «{form}» of shop"
        assert hide_secrets(text) == "it failed for «***» of shop"
        assert hide_known_password(text, password) == "it failed for «***» of shop"


def test_a_password_that_is_known_is_covered_however_it_is_written() -> None:
    Secret("tr0ub;dor}&3")
    Secret("abc")
    assert hide_secrets("a tr0ub;dor}&3 b tr0ub%3Bdor%7D%263 {tr0ub;dor}}&3}") == "a *** b *** {***}"
    assert hide_secrets("abc is no part of abcd") == "abc is no part of abcd"
