"""Provide passwords, and the URLs and keys of receivers.

A password in the environment is always used. The keyring and a prompt are used only if the server asks for a password.
"""

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

from qmon.config.receivers import ALERTMANAGER, PAGERDUTY, Receiver, is_key, is_unencrypted, parse_url, to_variable_name
from qmon.engines.base import Connection, Session, Target
from qmon.engines.registry import engine_for
from qmon.engines.secret import Secret
from qmon.errors import BadInput, PasswordNeeded, WrongPassword
from qmon.redact import remember_password
from qmon.texts import Text


class CredentialText(Text):
    """Texts about passwords, and about the URLs and keys of receivers."""

    VARIABLE = "the environment variable {name}"
    ADVICE = "set {variable}, or store it with 'keyring set {service} {target}'"
    ON_COMMAND_LINE = (
        "a password on the command line stays in the shell's history and in the list of processes; use {variable} or"
        " the keyring instead"
    )
    KEYRING = "keyring, service {service}, user {user}"
    ASKS = "{problem}; {advice}, or run qmon on a terminal"
    URL_OF = "url of {receiver}"
    NOT_A_KEY = "{origin}: not a key: a key has no spaces or line breaks"
    UNENCRYPTED = "{where}: must start with https://, because others in the network could read the secret"
    SET_VARIABLE = "set {variable}, or "
    KEYRING_SET = "'keyring set {service} \"{user}\"'"
    RECEIVER_ADVICE = "the receiver's {what} is missing: {first}store it with {command}"


T = TypeVar("T")

# The name of the service in the keyring. The user name is the target's name, or `notify NAME` for a receiver.
KEYRING_SERVICE: Final = "qmon"
_ALERTS_PATH: Final = "/api/v2/alerts"

# If the path or query of a secret URL has at least this many characters, it is also hidden when it appears alone.
_MIN_HIDDEN_CHARS: Final = 12


def password_variable(target: str) -> str | None:
    """Return the password variable of a target, such as ``QMON_PASSWORD_ORDERS_PROD`` for ``orders-prod``.

    The result is ``None`` if the name has no letter or digit that a variable name may contain.
    """
    name = to_variable_name(target)
    return f"QMON_PASSWORD_{name}" if name else None


def password_from_environment(target: Target, environment: Mapping[str, str] | None = None) -> Secret | None:
    """Return the password in the environment for this target. The most specific variable is used."""
    known = os.environ if environment is None else environment
    names = (password_variable(target.name), "QMON_PASSWORD", "PGPASSWORD" if target.engine == "postgres" else None)
    return next(
        (Secret(known[name], CredentialText.VARIABLE.render(name=name)) for name in names if name and known.get(name)),
        None,
    )


def password_advice(target: str) -> str:
    """Describe how to give a target's password without a prompt."""
    return CredentialText.ADVICE.render(
        variable=password_variable(target) or "QMON_PASSWORD", service=KEYRING_SERVICE, target=target
    )


def command_line_warning(target: str) -> str:
    """Return the warning about a password typed on the command line."""
    return CredentialText.ON_COMMAND_LINE.render(variable=password_variable(target) or "QMON_PASSWORD")


def password_from_keyring(target: Target) -> Secret | None:
    """Return the password in the system's keyring, or ``None`` if there is no password or no working keyring."""
    return _read_keyring(target.name)


def _read_keyring(user: str) -> Secret | None:
    # every keyring backend fails in its own way, and none of these errors matters here
    with contextlib.suppress(Exception):
        import keyring

        if found := keyring.get_password(KEYRING_SERVICE, user):
            return Secret(found, CredentialText.KEYRING.render(service=KEYRING_SERVICE, user=user))
    return None


def ask_password(target: Target) -> Secret | None:
    """Ask the user for the password. Return ``None`` if there is no terminal or the user typed nothing."""
    if not _can_ask():
        return None
    try:
        typed = getpass.getpass(f"Password for {target.name}: ", stream=sys.stderr)
    except EOFError:
        return None
    return Secret(typed, "typed") if typed else None


def _can_ask() -> bool:
    """Return whether qmon can ask a user on a terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


PasswordSource = Callable[[Target], Secret | None]
_SOURCES: Final[tuple[PasswordSource, ...]] = (password_from_keyring, ask_password, ask_password, ask_password)


def password_sources(*, may_ask: bool) -> tuple[PasswordSource, ...]:
    """Return the sources of passwords: the keyring, then three prompts if qmon may ask the user."""
    return _SOURCES if may_ask else _SOURCES[:1]


def retry_with_password(
    target: Target, attempt: Callable[[Target], T], sources: tuple[PasswordSource, ...] = _SOURCES
) -> tuple[Target, T]:
    """Run ``attempt``, such as connecting. Retry with another password if the server asks for one or refuses one.

    Returns the target with the password that worked, and the result of ``attempt``. Later connections can use the
    target without a prompt. Call this function before a full-screen program uses the terminal. Exceptions of
    ``attempt`` pass through. If no source has a password, raises ``PasswordNeeded`` with advice. If no source has
    another password, raises ``WrongPassword``.
    """
    refused: PasswordNeeded | WrongPassword
    try:
        return target, attempt(target)
    except (PasswordNeeded, WrongPassword) as problem:
        refused = problem
    for source in sources:
        if source is ask_password and isinstance(refused, WrongPassword) and _can_ask():
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
    raise PasswordNeeded(CredentialText.ASKS.render(problem=refused, advice=password_advice(target.name)))


def connect_with_password(
    target: Target, session: Session, sources: tuple[PasswordSource, ...] = _SOURCES
) -> tuple[Target, Connection]:
    """Connect, and ask for a password if needed. Return the target with its password, and the connection.

    Raises the errors of ``retry_with_password``.
    """
    return retry_with_password(target, lambda known: engine_for(known).connect(known, session), sources)


# ------------------------------------------------------------------------------------------------------ of receivers


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The destination of a receiver's requests. ``key``: routing key of PagerDuty. ``authorization``: header."""

    url: Secret
    key: Secret | None = None
    authorization: Secret | None = None


def endpoint_for(receiver: Receiver, environment: Mapping[str, str] | None = None) -> Endpoint | None:
    """Return the destination of a receiver's requests with its secret, or ``None`` if the secret is missing.

    Raises ``BadInput`` for an unusable value. The message does not repeat the value.
    """
    secret = receiver_secret(receiver, environment) if receiver.needs_secret else None
    if receiver.needs_secret and secret is None:
        return None
    url, where = (
        (receiver.url, CredentialText.URL_OF.render(receiver=receiver.name))
        if receiver.url or secret is None
        else (secret.reveal(), secret.origin)
    )
    if secret is not None and receiver.url and not is_key(secret.reveal()):
        raise BadInput(CredentialText.NOT_A_KEY.render(origin=secret.origin))
    parts = parse_url(url, where)
    authorization = None
    if parts.username is not None:
        whose = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = Secret("Basic " + b64encode(whose.encode()).decode())
        remember_password(unquote(parts.password or ""))
    elif receiver.bearer and secret is not None:
        authorization = Secret(f"Bearer {secret.reveal()}")
    if secret is not None and is_unencrypted(parts):
        raise BadInput(CredentialText.UNENCRYPTED.render(where=where))
    path = parts.path
    if receiver.shape == ALERTMANAGER and not path.endswith(_ALERTS_PATH):
        path = path.rstrip("/") + _ALERTS_PATH
    if secret is not None and not receiver.url:
        for part in (parts.path, parts.query):
            if len(part) >= _MIN_HIDDEN_CHARS:
                remember_password(part)
    full = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], path, parts.query, ""))
    return Endpoint(Secret(full), secret if receiver.shape == PAGERDUTY else None, authorization)


def receiver_secret(receiver: Receiver, environment: Mapping[str, str] | None = None) -> Secret | None:
    """Return the URL or the key of a receiver from the environment or the keyring."""
    known, name = os.environ if environment is None else environment, receiver.variable_name
    if name and (found := known.get(name, "").strip()):
        return Secret(found, CredentialText.VARIABLE.render(name=name))
    return _read_keyring(_keyring_user(receiver))


def receiver_secret_advice(receiver: Receiver) -> str:
    """Describe how to give the missing secret of a receiver."""
    what = "key" if receiver.url else "URL"
    first = CredentialText.SET_VARIABLE.render(variable=receiver.variable_name) if receiver.variable_name else ""
    command = CredentialText.KEYRING_SET.render(service=KEYRING_SERVICE, user=_keyring_user(receiver))
    return CredentialText.RECEIVER_ADVICE.render(what=what, first=first, command=command)


def _keyring_user(receiver: Receiver) -> str:
    return f"notify {receiver.name}"
