"""Passwords typed in the wrong place: no usage error and no error of qmon repeats them."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qmon.engines.secret import Secret
from qmon.redact import HIDDEN, hide_in_argument, hide_known_password, hide_secrets
from tests.cli.calling import call

URLS = (
    "postgresql://me:{}@db1/shop",
    "mssql://me:{}@db1:1433/shop?encrypt=no",
    "postgresql://m@e:{}@db1/shop",
    "postgresql://:{}@db1",
    "postgresql://me:{}#@",
)
STRINGS = ("Driver=x;Server=h;UID=me;PWD={{{}}};Encrypt=yes", "DRIVER=x;PWD={{{}", "Server=h;Password={{{}}}")
PLACES = (
    ("statsu", "{}"),
    ("targets", "{}"),
    ("trash", "{}"),
    ("trash", "list", "shop", "{}", "{}"),
    ("status", "--output", "{}"),
    ("status", "shop", "--output={}"),
    ("status", "shop", "--over={}"),
    ("--log-level={}", "targets"),
    ("pipeline", "report", "--since={}"),
)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("target", [*URLS, *STRINGS])
def test_no_usage_error_repeats_a_password(place: tuple[str, ...], target: str) -> None:
    for password in ("s3cret@word", "s3cret word", "s3cret/word?x#y", "se'cret\"word", "s3cret:word%40"):
        typed = target.format(password)
        done = call(*(part.format(typed) for part in place))
        assert done.exit_code == 2, done.output
        told = " ".join(done.output.split())
        assert "cret" not in told
        assert "word" not in told.lower().replace("password", "")


PASSWORDS = st.one_of(
    st.text(min_size=1, max_size=30).filter(lambda text: "*" not in text and text.isprintable()),
    st.sampled_from(("wrong", "password", "a", "me", "in", "connection", "server", "no", ".*", "(", "[a-z]+", "\\1")),
)
OURS = (
    'shop: wrong password (from the command line) for user "me", or no such user',
    "shop: nothing listens on db1 port 5432: connection refused; is the server running?",
    "requeue: 17 done, 3 refused; see qmon operations shop",
    "shop: login failed: wrong password for me, no such login, or it may not connect",
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PASSWORDS)
def test_no_password_changes_the_words_of_qmon(password: str) -> None:
    Secret(password)
    for text in OURS:
        assert password in text or hide_secrets(text) == text
    if len(password) < 8 or (password.isalpha() and len(password) < 20):
        for text in OURS:
            assert hide_secrets(text) == text
            assert hide_known_password(text, password) == text


@given(PASSWORDS)
def test_a_password_is_covered_where_it_stands(password: str) -> None:
    braced = password.replace("}", "}}")
    for text in (
        f"no driver: Server=h;PWD={{{braced}}};UID=me",
        f"rejected value {{{password}}}",
        f"bad '{password}'.",
    ):
        covered = hide_known_password(text, password)
        assert covered == text.replace(braced, "").replace(password, "") or HIDDEN in covered
        assert f"{{{braced}}}" not in covered and f"'{password}'" not in covered
    typed = f"postgresql://me:{password}@db1/shop"
    assert hide_in_argument(typed) == f"postgresql://me:{HIDDEN}@db1/shop"
