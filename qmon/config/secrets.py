"""Passwords: from the environment at once, from keyring or a prompt only when the server asks for one."""

from __future__ import annotations

import contextlib
import getpass
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from qmon.engines.base import Connection, Session, Target
from qmon.engines.registry import engine_for
from qmon.engines.secret import Secret
from qmon.errors import PasswordNeeded

T = TypeVar("T")

SERVICE: Final = "qmon"
"""The service in the keyring; the user name there is the target's name."""


def variable(target: str) -> str | None:
    """The environment variable for one target: ``QMON_PASSWORD_ORDERS_PROD`` for ``orders-prod``.

    ``None`` where the name has no letter or digit that such a variable can hold.
    """
    name = re.sub(r"[^A-Z0-9]+", "_", target.upper()).strip("_")
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


def from_keyring(target: Target) -> Secret | None:
    """The password in the system's keyring; ``None`` where it has none, or there is no keyring that works."""
    with contextlib.suppress(Exception):  # each back end fails in its own way, and none of them is our business
        import keyring

        if found := keyring.get_password(SERVICE, target.name):
            return Secret(found, f"keyring, service {SERVICE}, user {target.name}")
    return None


def from_prompt(target: Target) -> Secret | None:
    """The password the user types, unseen; ``None`` where no terminal is there to ask on, or nothing was typed."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    try:
        typed = getpass.getpass(f"Password for {target.name}: ", stream=sys.stderr)
    except EOFError:
        return None
    return Secret(typed, "typed") if typed else None


def unlock(
    target: Target,
    attempt: Callable[[Target], T],
    sources: tuple[Callable[[Target], Secret | None], ...] = (from_keyring, from_prompt),
) -> tuple[Target, T]:
    """Do ``attempt``, such as connecting; where the server asks for a password, get one and do it again.

    Returns the target with the password that worked, for later connections that cannot ask, and what ``attempt``
    returned. Call it before a screen takes the terminal. Raises what ``attempt`` raises, and ``PasswordNeeded`` with
    the ways to give a password where there is none.
    """
    try:
        return target, attempt(target)
    except PasswordNeeded as problem:
        needed = str(problem)
    for source in sources:
        if (password := source(target)) is not None:
            with_password = replace(target, password=password)
            return with_password, attempt(with_password)
    raise PasswordNeeded(f"{needed}; {ways(target.name)}, or run qmon on a terminal")


def log_in(
    target: Target,
    session: Session,
    sources: tuple[Callable[[Target], Secret | None], ...] = (from_keyring, from_prompt),
) -> tuple[Target, Connection]:
    """The target with the password that it needs, and a connection to it. Raises as ``unlock`` does."""
    return unlock(target, lambda known: engine_for(known).connect(known, session), sources)
