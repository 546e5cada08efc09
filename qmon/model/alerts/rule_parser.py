"""Read alert rules from the configuration (``[[alert]]``) and the command line (``depth>1000``)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from qmon.errors import BadInput
from qmon.model.alerts.alert_rules import (
    ALIASES,
    ANY_NAME,
    CODES,
    LIMIT_FIGURES,
    WARNING_CODES,
    AlertRule,
    matches_pattern,
)
from qmon.model.config_reader import Keys, suggest_nearest
from qmon.model.figure import Severity
from qmon.model.formatting import parse_duration
from qmon.model.queue_figures import SECONDS, SHARE
from qmon.texts import Text


class RuleText(Text):
    """Errors of alert rules."""

    SAME_NAME = "{path}: an earlier alert is already named {name!r}"
    FIGURE_OR_VERDICT = "{where}: needs figure or verdict, but not both"
    MARGIN_OUT_OF_RANGE = "{path}: must be from 0 to less than 1"
    NEEDS_LIMIT = "{where}: needs warn, crit or both"
    NEVER_WARNS = "{where}: crit is {side} warn, so qmon would never warn; change one of them"
    NO_SUCH_PROBLEM = (
        "{where}: {pattern!r} matches no verdict that is a warning or worse; write the full name of the verdict"
    )
    NO_SUCH_VERDICT = "{where}: there is no verdict {pattern!r}{hint}"
    NO_SUCH_FIGURE = "{where}: {name!r} is not a figure{hint}"
    NOT_A_NUMBER = "{where}: {text!r} is not a number"
    UNREACHABLE = "{where}: {value:g} can never be reached; {figure} is never below 0"
    SHARE_ABOVE_ONE = "{where}: {figure} is {share}, so write 0.9 for 90 %"
    TWO_LIMITS = "{where}: there are two limits for {figure} on the same side"
    BOTH_LIMITS = "{warn} and {crit} of {figure}"
    NOT_A_RULE = "{where}: {text!r} is not a rule: write depth>1000, oldest>10m, pop_rate<1 or 'verdict=no pops'"


# Default margin: how far the figure must be on the good side of its limit before the alert is cleared, as a share of
# the limit.
MARGIN: Final = 0.1
SEVERITIES: Final = {"warning": Severity.WARNING, "critical": Severity.CRITICAL}
_RULE: Final = re.compile(r"\s*(\w+)\s*([<>=])\s*(.*?)\s*", re.DOTALL)


def rules_from_list(raw: Sequence[Mapping[str, object]], where: str) -> tuple[AlertRule, ...]:
    """Read the rules of the ``[[alert]]`` tables. The message of a ``BadInput`` starts with the path of the key."""
    out: dict[str, AlertRule] = {}
    for number, each in enumerate(raw, 1):
        keys = Keys(each, f"{where}[{number}]")
        rule = _parse_rule(keys, number)
        if rule.name in out:
            raise BadInput(RuleText.SAME_NAME.render(path=keys.path("name"), name=rule.name))
        out[rule.name] = rule
    return tuple(out.values())


def _parse_rule(keys: Keys, number: int) -> AlertRule:
    figure, verdicts = keys.text("figure"), parse_patterns(keys, "verdict", ())
    for pattern in verdicts:
        _check_verdict(pattern, keys.path("verdict"))
    if (figure is None) is not bool(verdicts):
        raise BadInput(RuleText.FIGURE_OR_VERDICT.render(where=keys.where))
    name = keys.text("name") or f"{figure or verdicts[0]} ({number})"
    targets, queues = parse_patterns(keys, "target", (ANY_NAME,)), parse_patterns(keys, "queue", (ANY_NAME,))
    hold_s, clear_s = keys.seconds("for") or 0.0, keys.seconds("clear_for") or 0.0
    if figure is None:
        word = keys.choice("severity", tuple(SEVERITIES))
        severity = None if word is None else SEVERITIES[word]
        keys.reject_unknown_keys()
        return AlertRule(
            name, verdicts=verdicts, severity=severity, targets=targets, queues=queues, hold_s=hold_s, clear_s=clear_s
        )
    known = _figure_name(figure, keys.path("figure"))
    below = keys.choice("when", ("above", "below")) == "below"
    warn, crit = parse_limit(keys, "warn", known), parse_limit(keys, "crit", known)
    margin = keys.number("margin")
    if margin is not None and not 0 <= margin < 1:
        raise BadInput(RuleText.MARGIN_OUT_OF_RANGE.render(path=keys.path("margin")))
    keys.reject_unknown_keys()
    rule = AlertRule(
        name, known, warn, crit, below, (), None, targets, queues, hold_s, clear_s, MARGIN if margin is None else margin
    )
    _check_limits(rule, keys.where)
    return rule


def _check_limits(rule: AlertRule, where: str) -> None:
    if rule.warn is None and rule.crit is None:
        raise BadInput(RuleText.NEEDS_LIMIT.render(where=where))
    if rule.warn is None or rule.crit is None:
        return
    if (rule.crit > rule.warn) if rule.below else (rule.crit < rule.warn):
        side = "above" if rule.below else "below"
        raise BadInput(RuleText.NEVER_WARNS.render(where=where, side=side))


def parse_patterns(keys: Keys, name: str, default: tuple[str, ...]) -> tuple[str, ...]:
    """Read a pattern or a list of patterns. ``default``: the value if the key is missing."""
    if isinstance(keys.raw.get(name), str):
        return (keys.text(name) or "",)
    return tuple(keys.texts(name)) or default


def _check_verdict(pattern: str, where: str) -> None:
    """Raise ``BadInput`` if the pattern matches no verdict, because such a rule would never be met."""
    if pattern in CODES or any(matches_pattern(pattern, code) for code in WARNING_CODES):
        return
    if any(matches_pattern(pattern, code) for code in CODES):
        raise BadInput(RuleText.NO_SUCH_PROBLEM.render(where=where, pattern=pattern))
    raise BadInput(RuleText.NO_SUCH_VERDICT.render(where=where, pattern=pattern, hint=suggest_nearest(pattern, CODES)))


def _figure_name(name: str, where: str) -> str:
    known = ALIASES.get(name, name)
    if known not in LIMIT_FIGURES:
        raise BadInput(
            RuleText.NO_SUCH_FIGURE.render(
                where=where, name=name, hint=suggest_nearest(name, (*LIMIT_FIGURES, *ALIASES))
            )
        )
    return known


def parse_limit(keys: Keys, name: str, figure: str) -> float | None:
    """Read a limit: a duration if the figure is in seconds, else a number; ``None`` if the key is missing."""
    if isinstance(keys.raw.get(name), str):
        text = keys.text(name) or ""
        return _parse_limit_text(text, figure, keys.path(name))
    value = keys.number(name)
    if value is not None and LIMIT_FIGURES[figure].unit == SECONDS:
        return keys.seconds(name)
    return value if value is None else _check_limit_range(value, figure, keys.path(name))


def _parse_limit_text(text: str, figure: str, where: str) -> float:
    """Parse a limit that is a text: a duration if the figure is in seconds, else a number."""
    if LIMIT_FIGURES[figure].unit == SECONDS:
        try:
            return parse_duration(text)
        except BadInput as problem:
            raise BadInput(f"{where}: {problem}") from None
    try:
        value = float(text)
    except ValueError:
        raise BadInput(RuleText.NOT_A_NUMBER.render(where=where, text=text)) from None
    return _check_limit_range(value, figure, where)


def _check_limit_range(value: float, figure: str, where: str) -> float:
    kind = LIMIT_FIGURES[figure]
    if not -1e15 < value < 1e15 or (value < 0 and not kind.negative):
        raise BadInput(RuleText.UNREACHABLE.render(where=where, value=value, figure=kind.label))
    if kind.unit == SHARE and value > 1:
        raise BadInput(RuleText.SHARE_ABOVE_ONE.render(where=where, figure=kind.label, share=SHARE))
    return value


def rules_from_texts(
    warn: Sequence[str], crit: Sequence[str], *, warn_where: str = "--warn", crit_where: str = "--crit"
) -> tuple[AlertRule, ...]:
    """Read the rules of the command line: ``depth>1000``, ``oldest>10m``, ``pop_rate<1``, ``verdict=no pops``.

    If ``warn`` and ``crit`` limit the same figure on the same side, both become one rule. The message of a ``BadInput``
    starts with ``warn_where`` or ``crit_where``.
    """
    limits: dict[tuple[str, bool], dict[Severity, float]] = {}
    out: list[AlertRule] = []
    for texts, level, where in ((warn, Severity.WARNING, warn_where), (crit, Severity.CRITICAL, crit_where)):
        for text in texts:
            name, operator, rest = _split_rule_text(text, where)
            if operator == "=":
                _check_verdict(rest, where)
                out.append(AlertRule(f"{text.strip()} ({level.name.lower()})", verdicts=(rest,), severity=level))
            else:
                figure = _figure_name(name, where)
                of_side = limits.setdefault((figure, operator == "<"), {})
                if level in of_side:
                    raise BadInput(RuleText.TWO_LIMITS.render(where=where, figure=name))
                of_side[level] = _parse_limit_text(rest, figure, where)
    for (figure, below), found in limits.items():
        rule = AlertRule(
            f"{figure} {'below' if below else 'above'}",
            figure,
            found.get(Severity.WARNING),
            found.get(Severity.CRITICAL),
            below,
        )
        _check_limits(rule, RuleText.BOTH_LIMITS.render(warn=warn_where, crit=crit_where, figure=figure))
        out.append(rule)
    return tuple(out)


def _split_rule_text(text: str, where: str) -> tuple[str, str, str]:
    found = _RULE.fullmatch(text)
    if found is None or not found[3] or (found[2] == "=") is not (found[1] == "verdict"):
        raise BadInput(RuleText.NOT_A_RULE.render(where=where, text=text))
    return found[1], found[2], found[3]
