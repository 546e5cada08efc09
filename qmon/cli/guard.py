"""Reports errors as one line on standard error and an exit code. A traceback could contain secrets."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import Any, Final

import typer
from typer.core import TyperGroup

from qmon.cli.console import OutputLost, discard_output
from qmon.cli.output import print_note
from qmon.errors import BadInput, QmonError
from qmon.redact import HIDDEN, hide_in_argument, hide_passwords, hide_secrets

OK: Final = 0
FAILED: Final = 1
BAD_INPUT: Final = 2
PARTLY: Final = 3
INTERRUPTED: Final = 130
CODE_KEY: Final = "qmon.code"
_ARGUMENTS_KEY: Final = "qmon.arguments"
_TARGET: Final = re.compile(r"\w+://|\s*[\w ]+=")


class GuardedGroup(TyperGroup):
    """The group of all commands. It reports qmon's errors, Ctrl-C and lost output as a line and an exit code."""

    def main(self, *arguments: Any, **extra: Any) -> Any:
        """Run the program. If the reader of the output has exited, exit silently. If the disk is full, print a line."""
        try:
            try:
                return super().main(*arguments, **extra)
            finally:
                sys.stdout.flush()
        except OutputLost as problem:
            discard_output(sys.stdout)
            if not problem.reader_gone:
                _print_error(str(problem))
            sys.exit(problem.exit_code)

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command and store its exit code as ``qmon.code`` in the context, for the log."""
        ctx.meta[CODE_KEY] = FAILED
        try:
            result = self._invoke_guarded(ctx)
        except BaseException as end:
            ctx.meta[CODE_KEY] = getattr(end, "exit_code", FAILED)
            raise
        ctx.meta[CODE_KEY] = OK
        return result

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Parse the options before the command. Usage errors never show a typed password."""
        arguments = tuple(args)
        try:
            made = super().make_context(info_name, args, parent, **extra)
        except Exception as problem:
            _cover_arguments(problem, arguments)
            raise
        made.meta[_ARGUMENTS_KEY] = arguments
        return made

    def _invoke_guarded(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except OutputLost:
            raise  # handled in main
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except QmonError as problem:
            from qmon import log

            _cover_arguments(problem, ctx.meta[_ARGUMENTS_KEY])
            log.log_shown_error(problem)
            _print_error(str(problem))
            _print_traceback(problem)
            raise typer.Exit(BAD_INPUT if isinstance(problem, BadInput) else FAILED) from None
        except (typer.Exit, typer.Abort):
            raise
        except Exception as problem:
            if _is_usage_error(problem):  # usage errors print themselves
                _cover_arguments(problem, ctx.meta[_ARGUMENTS_KEY])
                raise
            from qmon import log

            _print_error(log.report_defect(problem))
            _print_traceback(problem)
            raise typer.Exit(FAILED) from None
        return result


def is_target(text: str) -> bool:
    """Return whether a text has the form of a target: a URL or an ODBC connection string."""
    return _TARGET.match(text) is not None


def _is_usage_error(problem: Exception) -> bool:
    return type(problem).__module__.startswith(("click", "typer"))


def _cover_arguments(problem: Exception, arguments: Sequence[str]) -> None:
    """Cover passwords in arguments that an error message repeats."""
    told = getattr(problem, "format_message", None)
    if isinstance(problem, QmonError):
        problem.args = tuple(_cover_message(str(part), arguments) for part in problem.args)
    elif _is_usage_error(problem) and told is not None:
        message = _cover_message(str(told()), arguments)
        vars(problem).update(message=message, format_message=lambda: message)


def _cover_message(message: str, arguments: Sequence[str]) -> str:
    for argument in arguments:
        for typed in (argument, argument.partition("=")[2]):
            covered = hide_in_argument(typed)
            pairs = enumerate(zip(typed, covered, strict=False))
            public = next((at for at, (one, other) in pairs if one != other), len(typed))
            for length in range(len(typed), public, -1):  # messages may repeat only the beginning of an argument
                shown = covered if length == len(typed) else f"{typed[:public]}{HIDDEN}"
                message = message.replace(typed[:length], shown).replace(repr(typed[:length])[1:-1], shown)
    return hide_passwords(message)


def _print_error(text: str) -> None:
    line = " ".join(hide_secrets(text).split())
    print_note(f"qmon: {line}")


def _print_traceback(problem: BaseException) -> None:
    """Print the traceback, without the values of variables, if ``QMON_DEBUG`` is set."""
    if os.environ.get("QMON_DEBUG", "") not in ("", "0"):
        print(hide_secrets("".join(traceback.format_exception(problem))), file=sys.stderr, end="")
