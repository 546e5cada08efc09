"""``qmon check``: a plugin for monitoring systems such as Nagios and Icinga.

The plugin convention of these systems defines the exit codes, so this command's codes differ from the codes of other
commands. Any problem that prevents the check, including bad input, is UNKNOWN with code 3. Code 2 would be CRITICAL and
might page an operator.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand

from qmon.cli import options
from qmon.cli.console import OutputLost
from qmon.errors import BadInput, ConnectionFailed, QmonError
from qmon.model.formatting import duration
from qmon.redact import hide_secrets
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.cli.output import Format
    from qmon.cli.target_session import ChosenTarget
    from qmon.engines.base import Connection, Target
    from qmon.model.alerts.alert_rules import AlertRule
    from qmon.model.alerts.target_check import CheckResult


class CheckText(Text):
    """Why a check has no result."""

    TOO_SLOW = "{polls} polls every {every} take longer than --timeout {timeout} allows"
    NO_ANSWER = "no answer within {duration}"


_UNKNOWN: Final = 3
_TIMEOUT_S: Final = 10.0


class IfUnknown(StrEnum):
    """Result for a queue of unknown state. Some monitoring systems ignore UNKNOWN and need WARNING instead."""

    UNKNOWN = "unknown"
    WARNING = "warning"


class _PluginCommand(TyperCommand):
    """A command that prints every failure as UNKNOWN, in one line on standard output for the monitoring system."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Parse the arguments. Invalid arguments are UNKNOWN."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except Exception as problem:
            if isinstance(problem, typer.Exit | typer.Abort):
                raise
            message = getattr(problem, "format_message", None)
            with _unknown_if_lost():
                raise _exit_unknown(str(message() if callable(message) else problem)) from None

    def invoke(self, ctx: Any) -> Any:
        """Run the check. A result that cannot be written is UNKNOWN."""
        with _unknown_if_lost():
            return super().invoke(ctx)


@contextlib.contextmanager
def _unknown_if_lost() -> Iterator[None]:
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OutputLost as problem:
        problem.exit_code = _UNKNOWN
        raise


def register_commands(app: typer.Typer) -> None:
    app.command(
        "check",
        cls=_PluginCommand,
        epilog="Example: qmon check shop --queue orders --warn 'oldest>2m' --crit 'oldest>10m'",
    )(check)


def check(
    context: typer.Context,
    targets: options.Targets = None,
    all_targets: options.AllTargets = False,
    queues: options.Queues = None,
    warn: Annotated[
        list[str] | None,
        typer.Option(
            "--warn", "-w", metavar="RULE", help="WARNING if this rule applies, such as depth>1000. Repeatable."
        ),
    ] = None,
    crit: Annotated[
        list[str] | None,
        typer.Option(
            "--crit", "-c", metavar="RULE", help="CRITICAL if this rule applies, such as 'verdict=no pops'. Repeatable."
        ),
    ] = None,
    polls: Annotated[int, typer.Option("--polls", min=1, max=1000, help="Number of polls. Rates need two.")] = 2,
    timeout: Annotated[
        float | None,
        options.duration_option(
            "--timeout", "-t", help="UNKNOWN after this time.", default="10s plus the time between polls"
        ),
    ] = None,
    unknown: Annotated[
        IfUnknown, typer.Option("--unknown", help="Result for queues whose state is unknown.")
    ] = IfUnknown.UNKNOWN,
    output: options.Output = "table",
    test_notice: Annotated[
        list[str] | None,
        typer.Option(
            "--test-notice",
            metavar="NAME",
            help="Only send a test notice, to this receiver of qmon.toml or to all. Repeatable.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Check targets once, as a plugin for Nagios or Icinga.

    Prints one line with performance data. Exit codes: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. Without rules, the alerts
    of qmon.toml decide. For queues without alerts, the severity of the verdict decides. Unknown figures are UNKNOWN, or
    WARNING with --unknown warning. Bad input and unreachable targets are UNKNOWN. With several targets, the worst
    result counts.
    """
    config = options.config_path(context)
    if test_notice:
        from qmon.cli.trial_notice import send_test_notice

        send_test_notice([] if "all" in test_notice else test_notice, config)
        return
    from qmon import log
    from qmon.model.alerts.rule_parser import rules_from_texts
    from qmon.model.alerts.target_check import unknown_as_warning, unreadable_result

    try:
        rules = rules_from_texts(tuple(warn or ()), tuple(crit or ()))
        if queues:  # the figures in the rules must exist for a named queue
            rules = tuple(replace(rule, queues=tuple(queues)) for rule in rules)
        asked = _CheckRequest(tuple(queues or ()), rules, polls, timeout)
        outcomes = _check_targets(targets or (), config, asked, all_targets=all_targets)
        if unknown is IfUnknown.WARNING:
            outcomes = [unknown_as_warning(each) for each in outcomes]
    except QmonError as problem:
        log.log_shown_error(problem)
        outcomes = [unreadable_result("", hide_secrets(str(problem)))]
    except KeyboardInterrupt:
        outcomes = [unreadable_result("", "interrupted")]
    except Exception as problem:
        outcomes = [unreadable_result("", hide_secrets(log.report_defect(problem)))]
    _print_results(outcomes, output)
    raise typer.Exit(int(max((each.state for each in outcomes), key=lambda state: state.rank)))


@dataclass(frozen=True, slots=True)
class _CheckRequest:
    """The request: the queues and rules to check, the number of polls, and the maximum time in seconds."""

    queues: tuple[str, ...]
    rules: tuple[AlertRule, ...]
    polls: int
    timeout: float | None


def _check_targets(
    texts: Sequence[str], path: Path | None, request: _CheckRequest, *, all_targets: bool
) -> list[CheckResult]:
    """Check each target. Raises errors that affect all targets and, if there is only one target, its error."""
    from qmon.cli.alerting_setup import note_rules_without_target
    from qmon.cli.several_targets import collect_answers, failure_reason
    from qmon.cli.target_session import resolve_targets
    from qmon.model.alerts.target_check import unreadable_result

    began = time.monotonic()
    known = resolve_targets(texts, path, all_targets=all_targets)
    note_rules_without_target(known[0].config, [each.target.name for each in known])
    if len(known) == 1:
        return [_check_target(known[0], request, began)]
    return [
        unreadable_result(each.target.name, failure_reason(answer)) if isinstance(answer, Exception) else answer
        for each, answer in zip(
            known, collect_answers(known, lambda each, _: _check_target(each, request, began)), strict=True
        )
    ]


def _check_target(chosen: ChosenTarget, request: _CheckRequest, began: float) -> CheckResult:
    from qmon.model.alerts.target_check import check_target
    from qmon.monitor.one_shot import view_after

    rules, configured = request.rules or chosen.config.alerts, chosen.config.targets.keys()
    interval_s = chosen.config.settings.interval_s
    allowed_s = _time_limit(request.polls, interval_s, request.timeout)
    target, connection = _log_in(chosen.target, allowed_s)
    left_s = max(0.1, allowed_s - (time.monotonic() - began))
    view = view_after(
        target,
        chosen.configured,
        polls=request.polls,
        interval_s=interval_s,
        timeout_s=left_s,
        undecided=lambda newest: check_target(newest, rules, request.queues, configured).is_undecided,
        first=connection,
    )
    return check_target(view, rules, request.queues, configured)


def _time_limit(polls: int, interval_s: float, timeout: float | None) -> float:
    """Return the maximum time in seconds. Raises ``BadInput`` if the polls alone take longer."""
    needed = (polls - 1) * interval_s
    if timeout is None:
        return _TIMEOUT_S + needed
    if needed >= timeout:
        every, most = duration(interval_s), duration(timeout)
        raise BadInput(CheckText.TOO_SLOW.render(polls=polls, every=every, timeout=most))
    return timeout


def _log_in(target: Target, allowed_s: float) -> tuple[Target, Connection]:
    """Log in without prompting. The password comes from the environment or the keyring.

    Return the target with its password, and a connection. Raises the errors of connecting. Raises ``ConnectionFailed``
    if the login takes more than ``allowed_s`` seconds.
    """
    from qmon.config.credentials import connect_with_password, password_from_keyring
    from qmon.monitor.poll.poller import POLL

    got: list[tuple[Target, Connection] | Exception] = []

    def attempt() -> None:
        try:
            got.append(connect_with_password(target, POLL, (password_from_keyring,)))
        except Exception as problem:
            got.append(problem)

    thread = threading.Thread(target=attempt, name="qmon-check", daemon=True)
    thread.start()
    thread.join(allowed_s)
    if not got:
        raise ConnectionFailed(CheckText.NO_ANSWER.render(duration=duration(allowed_s)))
    if isinstance(got[0], Exception):
        raise got[0]
    return got[0]


def _print_results(outcomes: Sequence[CheckResult], output: Format) -> None:
    from qmon.cli.output import print_output, print_reports
    from qmon.model.alerts.nagios import check_object, plugin_line

    if output == "table":
        print_output(plugin_line(*outcomes))
    else:
        from qmon.model.report_shapes import CheckReport

        print_reports(output, [check_object(each) for each in outcomes], CheckReport, "problems")


def _exit_unknown(reason: str) -> typer.Exit:
    """Print the reason in one line. Imports no module whose import could fail because of a wrong option."""
    from qmon.cli.output import print_output

    print_output(f"QMON UNKNOWN - {hide_secrets(' '.join(reason.split())).replace('|', '¦')}")
    return typer.Exit(_UNKNOWN)
