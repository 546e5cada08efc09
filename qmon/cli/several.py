"""One command on several targets: all are asked at once, and one that fails keeps no other from being shown."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

import typer

from qmon.cli.guard import FAILED, with_grant
from qmon.cli.output import note
from qmon.errors import PasswordNeeded, QmonError, WrongPassword
from qmon.redact import hide_secrets

if TYPE_CHECKING:
    from qmon.cli.session import Chosen

T = TypeVar("T")
# Asks one target; with `True` it may ask whoever is at the terminal for a password.
Ask = Callable[["Chosen", bool], T]
_AT_ONCE: Final = 32


def ask_each(known: Sequence[Chosen], ask: Ask[T]) -> list[T]:
    """What each target answers, in this order, without those that fail, of which it says why.

    Raises ``typer.Exit`` where none answers, and of a single target what asking it raises. ``ask`` is called on other
    threads, so that Ctrl-C ends the command while a server hangs.
    """
    if len(known) == 1:
        return [ask(known[0], True)]
    answers = each_answer(known, ask)
    for each, answer in zip(known, answers, strict=True):
        if isinstance(answer, Exception):
            note(f"qmon: {each.target.name}: {reason(answer)}")
    found = [answer for answer in answers if not isinstance(answer, Exception)]
    if not found:
        raise typer.Exit(FAILED)
    return found


def each_answer(known: Sequence[Chosen], ask: Ask[T]) -> list[T | Exception]:
    """What each target answers, or why it does not, in this order. Passwords are asked for one by one, at the end."""
    answers: list[T | Exception] = [QmonError("not asked yet")] * len(known)
    free = threading.Semaphore(_AT_ONCE)

    def work(number: int) -> None:
        with free:
            answers[number] = _answer(known[number], ask, may_ask=False)

    threads = [
        threading.Thread(target=work, args=(number,), name="qmon-ask", daemon=True) for number in range(len(known))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [
        _answer(each, ask, may_ask=True) if isinstance(answer, PasswordNeeded | WrongPassword) else answer
        for each, answer in zip(known, answers, strict=True)
    ]


def _answer(each: Chosen, ask: Ask[T], *, may_ask: bool) -> T | Exception:
    try:
        return ask(each, may_ask)
    except Exception as problem:
        return problem


def reason(problem: Exception) -> str:
    """Why a target did not answer, in one line, which the log has, too."""
    from qmon import log

    if not isinstance(problem, QmonError):
        return log.report(problem)
    log.reported(problem)
    return " ".join(hide_secrets(with_grant(problem)).split())


def fail_unless_all(known: Sequence[Chosen], found: Sequence[object]) -> None:
    """Raise ``typer.Exit`` where a target did not answer."""
    if len(found) < len(known):
        raise typer.Exit(FAILED)
