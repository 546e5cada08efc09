"""Secrets: passwords from the environment at once, from keyring or a prompt only when the server asks for one; URLs and
keys of receivers."""

from __future__ import annotations

import contextlib
import getpass
import os
import sys
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar
from urllib.parse import unquote, urlunsplit

from qmon.config.notify import ALERTMANAGER, PAGERDUTY, Receiver, address, in_the_clear, in_variables, is_key
from qmon.engines.base import Connection, Session, Target
from qmon.engines.registry import engine_for
from qmon.engines.secret import Secret
from qmon.errors import BadInput, PasswordNeeded, WrongPassword
from qmon.redact import remember

T = TypeVar("T")

# The service in the keyring; the user name there is the target's name, `notify NAME` for a receiver.
SERVICE: Final = "qmon"
_ALERTS: Final = "/api/v2/alerts"
# Characters from which on the path or query of a secret URL is covered by itself, too.
_TELLING: Final = 12


def variable(target: str) -> str | None:
    """The environment variable for one target: ``QMON_PASSWORD_ORDERS_PROD`` for ``orders-prod``.

    ``None`` where the name has no letter or digit that such a variable can hold.
    """
    name = in_variables(target)
    return f"QMON_PASSWORD_{name}" if name else None


def from_environment(target: Target, environment: Mapping[str, str] | None = None) -> Secret | None:
    """The password that the environment holds for this target, the most particular variable first."""
    known = os.environ if environment is None else environment
    names = (variable(target.name), "QMON_PASSWORD", "PGPASSWORD" if target.engine == "postgres" else None)
    return next(
        (Secret(known[name], f"the environment variable {name}") for name in names if name and known.get(name)), None
    )


def ways(target: str) -> str:
    """How to give the password of a target, other than on a terminal."""
    return f"set {variable(target) or 'QMON_PASSWORD'}, store it with 'keyring set {SERVICE} {target}'"


def on_the_command_line(target: str) -> str:
    """What to say of a password that was typed there."""
    return (
        "a password on the command line stays in the shell's history and in the list of processes; "
        f"{variable(target) or 'QMON_PASSWORD'} or the keyring keeps it to itself"
    )


def from_keyring(target: Target) -> Secret | None:
    """The password in the system's keyring; ``None`` where it has none, or there is no keyring that works."""
    return _kept(target.name)


def _kept(user: str) -> Secret | None:
    with contextlib.suppress(Exception):  # each back end fails in its own way, and none of them is our business
        import keyring

        if found := keyring.get_password(SERVICE, user):
            return Secret(found, f"keyring, service {SERVICE}, user {user}")
    return None


def from_prompt(target: Target) -> Secret | None:
    """The password the user types, unseen; ``None`` where no terminal is there to ask on, or nothing was typed."""
    if not _can_ask():
        return None
    try:
        typed = getpass.getpass(f"Password for {target.name}: ", stream=sys.stderr)
    except EOFError:
        return None
    return Secret(typed, "typed") if typed else None


def _can_ask() -> bool:
    """Whether somebody is at a terminal to be asked."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


Source = Callable[[Target], Secret | None]
_SOURCES: Final[tuple[Source, ...]] = (from_keyring, from_prompt, from_prompt, from_prompt)


def sources(*, may_ask: bool) -> tuple[Source, ...]:
    """Where a password that the server asks for is taken from: the keyring, and then whoever is at the terminal, who is
    asked again, twice, after a wrong one.
    """
    return _SOURCES if may_ask else _SOURCES[:1]


def unlock(target: Target, attempt: Callable[[Target], T], sources: tuple[Source, ...] = _SOURCES) -> tuple[Target, T]:
    """Do ``attempt``, such as connecting; where the server asks for a password or refuses it, get another one and do
    it again.

    Returns the target with the password that worked, for later connections that cannot ask, and what ``attempt``
    returned. Call it before a screen takes the terminal. Raises what ``attempt`` raises: ``WrongPassword`` where no
    source has another one; and ``PasswordNeeded`` with the ways to give a password where there is none.
    """
    refused: PasswordNeeded | WrongPassword
    try:
        return target, attempt(target)
    except (PasswordNeeded, WrongPassword) as problem:
        refused = problem
    for source in sources:
        if source is from_prompt and isinstance(refused, WrongPassword) and _can_ask():
            print(f"qmon: {refused}", file=sys.stderr)
        if (password := source(target)) is None:
            continue
        with_password = replace(target, password=password)
        try:
            return with_password, attempt(with_password)
        except WrongPassword as problem:
            refused = problem
    if isinstance(refused, WrongPassword):
        raise refused
    raise PasswordNeeded(f"{refused}; {ways(target.name)}, or run qmon on a terminal")


def log_in(target: Target, session: Session, sources: tuple[Source, ...] = _SOURCES) -> tuple[Target, Connection]:
    """The target with the password that it needs, and a connection to it. Raises as ``unlock`` does."""
    return unlock(target, lambda known: engine_for(known).connect(known, session), sources)


# ------------------------------------------------------------------------------------------------------ of receivers


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the requests of a receiver go. ``key``: PagerDuty's routing key; ``authorization``: the header."""

    url: Secret
    key: Secret | None = None
    authorization: Secret | None = None


def endpoint(receiver: Receiver, environment: Mapping[str, str] | None = None) -> Endpoint | None:
    """Where the requests of a receiver go, with what is secret of it; ``None``: nobody has given that.

    Raises ``BadInput`` for what cannot be used, without repeating it.
    """
    secret = receiver_secret(receiver, environment) if receiver.needs_secret else None
    if receiver.needs_secret and secret is None:
        return None
    url, where = (
        (receiver.url, f"url of {receiver.name}")
        if receiver.url or secret is None
        else (secret.reveal(), secret.origin)
    )
    if secret is not None and receiver.url and not is_key(secret.reveal()):
        raise BadInput(f"{secret.origin}: is no key: a key has no spaces and no lines")
    parts = address(url, where)
    authorization = None
    if parts.username is not None:
        whose = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = Secret("Basic " + b64encode(whose.encode()).decode())
        remember(unquote(parts.password or ""))
    elif receiver.bearer and secret is not None:
        authorization = Secret(f"Bearer {secret.reveal()}")
    if secret is not None and in_the_clear(parts):
        raise BadInput(f"{where}: others could read on the way what is secret; it must begin with https://")
    path = parts.path
    if receiver.shape == ALERTMANAGER and not path.endswith(_ALERTS):
        path = path.rstrip("/") + _ALERTS
    if secret is not None and not receiver.url:
        for part in (parts.path, parts.query):
            if len(part) >= _TELLING:
                remember(part)
    full = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], path, parts.query, ""))
    return Endpoint(Secret(full), secret if receiver.shape == PAGERDUTY else None, authorization)


def receiver_secret(receiver: Receiver, environment: Mapping[str, str] | None = None) -> Secret | None:
    """The URL or the key of a receiver, from the environment or the keyring."""
    known, name = os.environ if environment is None else environment, receiver.variable
    if name and (found := known.get(name, "").strip()):
        return Secret(found, f"the environment variable {name}")
    return _kept(_user(receiver))


def receiver_ways(receiver: Receiver) -> str:
    """How to give what is secret of a receiver, for messages."""
    what = "key" if receiver.url else "URL"
    first = f"set {receiver.variable}, or " if receiver.variable else ""
    return f"its {what} is missing: {first}store it with 'keyring set {SERVICE} \"{_user(receiver)}\"'"


def _user(receiver: Receiver) -> str:
    return f"notify {receiver.name}"
