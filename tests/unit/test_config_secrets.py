"""Passwords: from the environment, the keyring or a terminal, and never shown."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import keyring
import keyring.backend
import keyring.errors
import pytest

from qmon.config.chosen_target import TargetText, find_target
from qmon.config.config_file import parse_config
from qmon.config.credentials import (
    CredentialText,
    ask_password,
    password_from_environment,
    password_from_keyring,
    password_variable,
    retry_with_password,
)
from qmon.engines.base import Target
from qmon.engines.secret import Secret
from qmon.engines.urls import UrlText
from qmon.errors import BadInput, ConnectionFailed, PasswordNeeded, WrongPassword
from tests import needs
from tests.wordings import has, pattern

PATH = Path("some/qmon.toml")
EMPTY = parse_config("", PATH)


def asks_for(variable: str, target: str) -> str:
    """Return the pattern of an error that asks for the password of a target."""
    advice = CredentialText.ADVICE.render(variable=variable, service="qmon", target=target)
    return pattern(CredentialText.ASKS, advice=advice)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://me:h%75sh@db1/shop",
        "postgresql://me@db1/shop?password=hush",
        "DRIVER=psqlodbcw.so;pwd={hush};UID=me",
    ],
)
def test_a_password_typed_with_the_target_is_taken_hidden_and_warned_about(text: str) -> None:
    chosen = find_target(text, EMPTY, {"QMON_PASSWORD": "other"})
    assert chosen.target.password is not None
    assert chosen.target.password.reveal() == "hush"
    assert len(chosen.warnings) == 1
    assert has(chosen.warnings[0], CredentialText.ON_COMMAND_LINE)
    everything = repr(chosen) + str(chosen) + repr(chosen.target.password) + f"{chosen.target.password:>9}"
    assert "hush" not in everything
    assert "hush" not in repr(dict(chosen.target.parameters))


@pytest.mark.parametrize("connect", ["postgresql://me:hush@db1/shop", "DRIVER=psqlodbcw.so;PWD=hush"])
def test_a_password_in_the_file_is_refused(connect: str) -> None:
    config = parse_config(f"[target.my-shop]\nconnect = '{connect}'", PATH)
    with pytest.raises(BadInput) as caught:
        find_target("my-shop", config, {})
    advice = CredentialText.ADVICE.render(variable="QMON_PASSWORD_MY_SHOP", service="qmon", target="my-shop")
    key = TargetText.KEY.render(path=PATH, target="my-shop")
    assert str(caught.value) == TargetText.NOT_FOR_THE_FILE.render(key=key, advice=advice)
    assert "hush" not in str(caught.value)


def test_a_fault_in_the_file_s_url_names_the_file() -> None:
    config = parse_config("[target.a]\nconnect = 'postgresql://u:hush@h:x/d'", PATH)
    with pytest.raises(
        BadInput,
        match="^"
        + pattern(
            TargetText.AT_KEY,
            key=TargetText.KEY.render(path=PATH, target="a"),
            problem=UrlText.NO_PORT.render(scheme="postgresql"),
        ),
    ):
        find_target("a", config, {})


def test_a_variable_that_would_be_the_password_of_two_targets_is_refused() -> None:
    config = parse_config(
        "".join(
            f"[target.{name}]\nconnect = 'postgresql://me@db1/x'\n" for name in ("orders-prod", "orders_prod", "b")
        ),
        PATH,
    )
    shared = {"QMON_PASSWORD_ORDERS_PROD": "hush", "QMON_PASSWORD": "hush, too", "QMON_PASSWORD_B": "b"}
    for name, other in (("orders-prod", "orders_prod"), ("orders_prod", "orders-prod")):
        with pytest.raises(BadInput) as caught:
            find_target(name, config, shared)
        assert str(caught.value) == TargetText.SHARED_VARIABLE.render(
            variable="QMON_PASSWORD_ORDERS_PROD", target=name, others=other, service="qmon"
        )
        assert "hush" not in str(caught.value)
        password = find_target(name, config, {"QMON_PASSWORD": "one for all"}).target.password
        assert password is not None
    password = find_target("b", config, shared).target.password
    assert password is not None
    assert password.reveal() == "b"


def test_the_password_of_a_configured_target_is_not_that_of_a_url_with_such_a_name() -> None:
    config = parse_config("[target.localhost-shop]\nconnect = 'postgresql://me@db1/x'\n", PATH)
    shared = {"QMON_PASSWORD_LOCALHOST_SHOP": "hush", "QMON_PASSWORD": "for all"}
    taken = pattern(
        TargetText.VARIABLE_TAKEN, variable="QMON_PASSWORD_LOCALHOST_SHOP", targets="localhost-shop", path=PATH
    )
    with pytest.raises(BadInput, match=f"^{taken}$") as caught:
        find_target("postgresql://me@localhost/shop", config, shared)
    assert "hush" not in str(caught.value)
    for text, environment, found in (
        ("localhost-shop", shared, "hush"),
        ("postgresql://me@localhost/shop", {"QMON_PASSWORD": "for all"}, "for all"),
        ("postgresql://me@localhost/other", shared, "for all"),
        ("postgresql://me:mine@localhost/shop", shared, "mine"),
    ):
        password = find_target(text, config, environment).target.password
        assert password is not None
        assert password.reveal() == found


def test_a_name_that_no_variable_can_hold_has_none_of_its_own() -> None:
    config = parse_config("[target.'заказы']\nconnect = 'postgresql://me@db1/x'\n", PATH)
    environment = {"QMON_PASSWORD_": "somebody's", "QMON_PASSWORD": "ours"}
    password = find_target("заказы", config, environment).target.password
    assert password is not None
    assert password.origin == CredentialText.VARIABLE.render(name="QMON_PASSWORD")

    def asks(_: Target) -> None:
        raise PasswordNeeded("the server asks")

    with pytest.raises(PasswordNeeded, match=asks_for("QMON_PASSWORD", "заказы")):
        retry_with_password(find_target("заказы", config, {}).target, asks, ())


def test_the_most_particular_variable_counts() -> None:
    target = Target("orders-prod/ö", "postgres", {})
    every = {"QMON_PASSWORD_ORDERS_PROD": "1", "QMON_PASSWORD": "2", "PGPASSWORD": "3"}
    assert password_variable(target.name) == "QMON_PASSWORD_ORDERS_PROD"
    found = []
    while (secret := password_from_environment(target, every)) is not None:
        found.append((secret.reveal(), secret.origin))
        del every[secret.origin.split()[-1]]
    assert found == [
        ("1", CredentialText.VARIABLE.render(name="QMON_PASSWORD_ORDERS_PROD")),
        ("2", CredentialText.VARIABLE.render(name="QMON_PASSWORD")),
        ("3", CredentialText.VARIABLE.render(name="PGPASSWORD")),
    ]
    assert password_from_environment(Target("x", "sqlserver", {}), {"PGPASSWORD": "3"}) is None


def test_a_password_is_got_only_when_the_server_asks() -> None:
    asked: list[str] = []

    def source(name: str, found: Secret | None) -> object:
        def get(target: Target) -> Secret | None:
            asked.append(name)
            return found

        return get

    def attempt(target: Target) -> str:
        if target.password is None:
            raise PasswordNeeded("asks")
        if target.password.reveal() != "right":
            raise ConnectionFailed("wrong")
        return "connected"

    target = Target("a", "postgres", {})
    both = (source("keyring", None), source("prompt", Secret("right")))
    known = Target("a", "postgres", {}, password=Secret("right"))
    assert retry_with_password(known, attempt, both)[1] == "connected"  # type: ignore[arg-type]
    assert asked == []
    unlocked, result = retry_with_password(target, attempt, both)  # type: ignore[arg-type]
    assert (result, asked) == ("connected", ["keyring", "prompt"])
    assert attempt(unlocked) == "connected"
    with pytest.raises(ConnectionFailed, match="wrong"):
        retry_with_password(target, attempt, (source("keyring", Secret("no")),))  # type: ignore[arg-type]
    with pytest.raises(PasswordNeeded, match=asks_for("QMON_PASSWORD_A", "a")):
        retry_with_password(target, attempt, (source("keyring", None),))  # type: ignore[arg-type]


class Terminal(io.StringIO):
    """The input of a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_wrong_password_is_asked_again_and_the_next_source_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = ["no", "", "right"]

    def attempt(target: Target) -> str:
        if target.password is None or target.password.reveal() != "right":
            raise WrongPassword(f"wrong password ({target.password.origin if target.password else ''})")
        return "connected"

    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("getpass.getpass", lambda *_, **__: typed.pop(0))
    target = Target("elsewhere", "postgres", {}, password=Secret("old", "the environment variable QMON_PASSWORD"))
    unlocked, result = retry_with_password(target, attempt)
    assert (result, typed) == ("connected", [])
    assert unlocked.password is not None
    assert unlocked.password.reveal() == "right"
    assert capsys.readouterr().err.splitlines() == [
        "qmon: wrong password (the environment variable QMON_PASSWORD)",
        *["qmon: wrong password (typed)"] * 2,
    ]
    typed += ["no", "never", "not at all", "right"]
    with pytest.raises(WrongPassword, match="typed"):
        retry_with_password(target, attempt)
    assert typed == ["right"], "asked three times"
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with pytest.raises(WrongPassword, match="environment"):
        retry_with_password(target, attempt)


class Ring(keyring.backend.KeyringBackend):
    """A keyring in memory."""

    priority = 1.0
    kept: ClassVar[dict[tuple[str, str], str]] = {("qmon", "a"): "hush"}

    def get_password(self, service: str, username: str) -> str | None:
        if username == "locked":
            raise keyring.errors.KeyringLocked
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password


def test_the_keyring_is_asked_under_qmon_and_the_target_s_name() -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(Ring())  # type: ignore[no-untyped-call]
    try:
        found = password_from_keyring(Target("a", "postgres", {}))
        assert found is not None
        assert (found.reveal(), found.origin) == ("hush", CredentialText.KEYRING.render(service="qmon", user="a"))
        assert password_from_keyring(Target("b", "postgres", {})) is None
        assert password_from_keyring(Target("locked", "postgres", {})) is None
    finally:
        keyring.set_keyring(before)


@needs.posix
def test_on_a_terminal_the_password_is_typed_unseen() -> None:
    import pty

    ours, theirs = pty.openpty()
    program = (
        "from qmon.config.credentials import ask_password; from qmon.engines.base import Target; "
        "found = ask_password(Target('shop', None, {})); print(found, found.reveal() == 'hush-hush', found.origin)"
    )
    asked = [sys.executable, "-c", program]
    with subprocess.Popen(asked, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, start_new_session=True) as child:
        os.close(theirs)
        shown = b""
        while b"Password for shop: " not in shown:
            shown += os.read(ours, 1024)
        os.write(ours, b"hush-hush\n")
        said, _ = child.communicate(timeout=120)
        with contextlib.suppress(OSError):  # the other side is closed: nothing more was shown
            while more := os.read(ours, 1024):
                shown += more
    os.close(ours)
    assert said == b"*** True typed\n"
    assert b"hush" not in shown


def test_without_a_terminal_nobody_is_asked() -> None:
    assert ask_password(Target("a", "postgres", {})) is None


def test_a_target_goes_to_another_process_with_its_password() -> None:
    target = Target("a", "postgres", {}, password=Secret("hush", "typed"))
    copy = pickle.loads(pickle.dumps(target))  # noqa: S301
    assert copy == target
    assert copy.password.reveal() == "hush"
