"""Runs one command on several targets at once. A failing target does not affect other targets."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

import typer

from qmon.cli.guard import FAILED
from qmon.cli.output import print_note
from qmon.errors import PasswordNeeded, QmonError, WrongPassword
from qmon.redact import hide_secrets

if TYPE_CHECKING:
    from qmon.cli.target_session import ChosenTarget

T = TypeVar("T")

# Runs the command on one target. If the second argument is true, it may prompt for a password.
Ask = Callable[["ChosenTarget", bool], T]
_MAX_THREADS: Final = 32


def ask_targets(targets: Sequence[ChosenTarget], ask: Ask[T]) -> list[T]:
    """Return the answers of the targets in order. For a target that fails, print the error instead.

    Raises ``typer.Exit`` if no target answers. If ``targets`` has only one target, its error is raised instead of
    printed. With several targets, ``ask`` runs on threads, so that Ctrl-C ends the command even if a server hangs.
    """
    if len(targets) == 1:
        return [ask(targets[0], True)]
    answers = collect_answers(targets, ask)
    for each, answer in zip(targets, answers, strict=True):
        if isinstance(answer, Exception):
            print_note(f"qmon: {each.target.name}: {failure_reason(answer)}")
    found = [answer for answer in answers if not isinstance(answer, Exception)]
    if not found:
        raise typer.Exit(FAILED)
    return found


def collect_answers(targets: Sequence[ChosenTarget], ask: Ask[T]) -> list[T | Exception]:
    """Return each target's answer or error, in order.

    Targets that need a password are asked again one by one at the end.
    """
    answers: list[T | Exception] = [QmonError("not asked yet")] * len(targets)
    free = threading.Semaphore(_MAX_THREADS)

    def work(number: int) -> None:
        with free:
            answers[number] = _answer_or_error(targets[number], ask, may_ask=False)

    threads = [
        threading.Thread(target=work, args=(number,), name="qmon-ask", daemon=True) for number in range(len(targets))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [
        _answer_or_error(each, ask, may_ask=True) if isinstance(answer, PasswordNeeded | WrongPassword) else answer
        for each, answer in zip(targets, answers, strict=True)
    ]


def _answer_or_error(target: ChosenTarget, ask: Ask[T], *, may_ask: bool) -> T | Exception:
    try:
        return ask(target, may_ask)
    except Exception as problem:
        return problem


def failure_reason(problem: Exception) -> str:
    """Return why a target did not answer, in one line, and log it."""
    from qmon import log

    if not isinstance(problem, QmonError):
        return log.report_defect(problem)
    log.log_shown_error(problem)
    return " ".join(hide_secrets(str(problem)).split())


def exit_unless_all(targets: Sequence[ChosenTarget], answers: Sequence[object]) -> None:
    """Raise ``typer.Exit`` if a target did not answer."""
    if len(answers) < len(targets):
        raise typer.Exit(FAILED)
