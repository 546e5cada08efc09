"""What becomes of errors: one line on standard error and an exit code, never a traceback with its secrets."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any, Final

import typer
from typer.core import TyperGroup

from qmon.cli.output import note
from qmon.errors import BadInput, PermissionMissing, QmonError
from qmon.redact import hide_secrets

OK: Final = 0
FAILED: Final = 1
BAD_INPUT: Final = 2
PARTLY: Final = 3
INTERRUPTED: Final = 130
CODE: Final = "qmon.code"


class Guarded(TyperGroup):
    """The group of all commands. Errors of qmon become a line and a code; so do Ctrl-C and a reader that has gone."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was chosen; ``qmon.code`` of the context says for the log how it ended."""
        ctx.meta[CODE] = FAILED
        try:
            result = self._guarded(ctx)
        except BaseException as end:
            ctx.meta[CODE] = getattr(end, "exit_code", FAILED)
            raise
        ctx.meta[CODE] = OK
        return result

    def _guarded(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _mute()
            raise typer.Exit(OK) from None
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except QmonError as problem:
            from qmon import log

            log.reported(problem)
            _say(with_grant(problem))
            _maybe_trace(problem)
            raise typer.Exit(BAD_INPUT if isinstance(problem, BadInput) else FAILED) from None
        except (typer.Exit, typer.Abort):
            raise
        except Exception as problem:
            if type(problem).__module__.startswith(("click", "typer")):  # a usage error: it knows how to show itself
                raise
            from qmon import log

            _say(log.report(problem))
            _maybe_trace(problem)
            raise typer.Exit(FAILED) from None
        return result


def with_grant(problem: QmonError) -> str:
    """The message, with the statement that would help where the server knows one."""
    grant = problem.grant if isinstance(problem, PermissionMissing) else ""
    return f"{problem}; this would help: {grant}" if grant and grant not in str(problem) else str(problem)


def _say(text: str) -> None:
    line = " ".join(hide_secrets(text).split())
    note(f"qmon: {line}")


def _maybe_trace(problem: BaseException) -> None:
    """The traceback without the values of variables, where ``QMON_DEBUG`` asks for it."""
    if os.environ.get("QMON_DEBUG", "") not in ("", "0"):
        print(hide_secrets("".join(traceback.format_exception(problem))), file=sys.stderr, end="")


def _mute() -> None:
    """Nobody reads what we print any more: let the interpreter's own last flush go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
