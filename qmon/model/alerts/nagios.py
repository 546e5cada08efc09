"""Format a check result for monitoring systems: one line with performance data, or one JSON object.

The format follows the development guidelines of the Monitoring Plugins, which Nagios, Icinga and other systems use:
``'label'=value[unit];[warn];[crit];[min];[max]`` after a bar, separated by spaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from qmon.model.alerts.alert_rules import LIMIT_FIGURES, AlertRule, figure_to_judge
from qmon.model.alerts.target_check import CheckResult, Problem
from qmon.model.figure import Severity
from qmon.model.queue_figures import SECONDS, SHARE
from qmon.model.report_shapes import CheckReport, ProblemReport, fill
from qmon.model.service_broker import CONVERSATIONS, TRANSMISSION
from qmon.model.status_report import iso, queue_object
from qmon.model.verdicts import CANNOT_TELL
from qmon.model.view import QueueView
from qmon.texts import Text


class NagiosText(Text):
    """Parts of the line for Nagios."""

    LINE = "QMON {state} - {summary}"
    MORE_TARGETS = "; {count:,} more target{plural} fine"
    WITHIN_LIMITS = "within the requested limits"
    QUEUES = "{target}{count:,} queue{plural} {state}, {ready:,.0f} ready"
    AND_MORE = "; and {count:,} more"


SCHEMA: Final = 1
_MAX_PROBLEMS: Final = 8
_MAX_PROBLEM_LENGTH: Final = 300
_ALWAYS_INCLUDED: Final = ("ready", "push_rate", "pop_rate")


def plugin_line(*outcomes: CheckResult) -> str:
    """Return the line of a plug-in: ``QMON CRITICAL - orders: oldest 12 m, above 10 m | 'orders.depth'=12431;;;0``.

    If there are several targets, the line has the worst state, and labels start with the target's name.
    """
    state = max((each.state for each in outcomes), key=lambda state: state.rank)
    line = NagiosText.LINE.render(state=state.name, summary=plain_text(summary_text(*outcomes)))
    data = " ".join(performance_data(*outcomes))
    return f"{line} | {data}" if data else line


def summary_text(*outcomes: CheckResult) -> str:
    """Return the problems, worst first, or the number of queues that are fine."""
    ranked = sorted(outcomes, key=lambda each: -each.state.rank)
    ill = [each for each in ranked if each.problems]
    if len(outcomes) == 1 or not ill:
        return "; ".join(map(_target_summary, ranked))
    texts = [_target_summary(each) for each in ill]
    fine = len(outcomes) - len(ill)
    return "; ".join(texts) + (
        NagiosText.MORE_TARGETS.render(count=fine, plural="s" if fine > 1 else "") if fine else ""
    )


def _target_summary(outcome: CheckResult) -> str:
    where = f"{outcome.target}: " if outcome.target else ""
    if not outcome.problems:
        count = len(outcome.queues) + sum(name not in (TRANSMISSION, CONVERSATIONS) for name in outcome.broker)
        ready = sum(queue.ready.evidence.value or 0 for queue in outcome.queues)
        state = "fine" if all(map(_is_fine, outcome.queues)) else NagiosText.WITHIN_LIMITS
        return NagiosText.QUEUES.render(
            target=where, count=count, plural="s" if count != 1 else "", state=state, ready=ready
        )
    texts = [_problem_text(problem) for problem in outcome.problems[:_MAX_PROBLEMS]]
    more = len(outcome.problems) - _MAX_PROBLEMS
    return where + "; ".join(texts) + (NagiosText.AND_MORE.render(count=more) if more > 0 else "")


def _is_fine(queue: QueueView) -> bool:
    """Return whether the queue's verdict shows no problem, regardless of limits."""
    verdicts = queue.verdicts or (queue.verdict,)
    return all(each.severity < Severity.WARNING and each.code != CANNOT_TELL for each in verdicts)


def _problem_text(problem: Problem) -> str:
    words = problem.text if len(problem.text) <= _MAX_PROBLEM_LENGTH else f"{problem.text[: _MAX_PROBLEM_LENGTH - 1]}…"
    return f"{problem.queue}: {words}" if problem.queue else words


def plain_text(text: str) -> str:
    """Return the text on one line, without terminal control sequences and ``|``, which starts performance data."""
    shown = "".join(c if c.isprintable() else " " if c.isspace() else f"\\x{ord(c):02x}" for c in text)
    return " ".join(shown.replace("|", "¦").split())


def performance_data(*outcomes: CheckResult) -> Iterator[str]:
    """Yield the figures of every queue. An unknown figure is ``U`` if it is always included or has a limit."""
    taken: set[str] = set()
    for outcome in outcomes:
        where = f"{outcome.target}." if len(outcomes) > 1 else ""
        for queue in outcome.queues:
            for name in LIMIT_FIGURES:
                limits = [rule for rule in outcome.rules if rule.figure == name and rule.applies_to_queue(queue.name)]
                value = figure_to_judge(queue, name).value
                if value is not None or limits or name in _ALWAYS_INCLUDED:
                    label = _unique_label(f"{where}{queue.name}.{LIMIT_FIGURES[name].label}", taken)
                    yield f"{_quote_label(label)}={_figure_data(name, value, limits)}"


def _figure_data(name: str, value: float | None, rules: Sequence[AlertRule]) -> str:
    kind = LIMIT_FIGURES[name]
    times, unit = (100.0, "%") if kind.unit == SHARE else (1.0, "s" if kind.unit == SECONDS else "")
    shown = "U" if value is None else f"{_number_text(value * times)}{unit}"
    least, most = "" if kind.negative else "0", "100" if kind.unit == SHARE else ""
    warn = next((_range_text(r, r.warn * times) for r in rules if r.warn is not None), "")
    crit = next((_range_text(r, r.crit * times) for r in rules if r.crit is not None), "")
    return ";".join((shown, warn, crit, least, most)).rstrip(";")


def _range_text(rule: AlertRule, limit: float) -> str:
    """Return the range of values that raise no alert.

    ``10`` means 0 to 10, ``~:10`` means any value up to 10, and ``10:`` means 10 or more.
    """
    if rule.below:
        return f"{_number_text(limit)}:"
    return f"~:{_number_text(limit)}" if LIMIT_FIGURES[rule.figure].negative else _number_text(limit)


def _number_text(value: float) -> str:
    """Return a number with digits and a point, never with an exponent."""
    return f"{value:.4f}".rstrip("0").rstrip(".") if value != round(value) else f"{value:.0f}"


def _unique_label(label: str, taken: set[str]) -> str:
    """Return an unused label. A label may contain any character except ``=``. A number makes duplicates unique."""
    label = plain_text(label).replace("=", "_")
    wanted, number = label, 1
    while label in taken:
        number += 1
        label = f"{wanted}#{number}"
    taken.add(label)
    return label


def _quote_label(label: str) -> str:
    return "'" + label.replace("'", "''") + "'"


def check_object(outcome: CheckResult) -> CheckReport:
    """Return the object that ``qmon check --output json`` prints. Its queues are written as in the status report."""
    return fill(
        CheckReport,
        outcome,
        schema=SCHEMA,
        state=outcome.state.name.lower(),
        exit_code=int(outcome.state),
        summary=summary_text(outcome),
        problems=[
            fill(ProblemReport, each, state=each.state.name.lower(), words=each.text) for each in outcome.problems
        ],
        sampled_at=None if outcome.view is None else iso(outcome.view.sampled_at),
        queues=[queue_object(queue) for queue in outcome.queues],
    )
