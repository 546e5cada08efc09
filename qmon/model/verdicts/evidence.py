"""Evidence: whether enough is seen of a queue to say that nothing is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator

from qmon.model.figure import Figure
from qmon.model.verdicts.signs import RuleInput
from qmon.model.view import NOT_READ


def missing(s: RuleInput) -> str:
    """What would have to be known to call the queue healthy, and why it is not, in one line; empty where nothing is."""
    reasons: dict[str, list[str]] = {}
    for name, reason in _lacking(s):
        reasons.setdefault(reason, []).append(name)
    return "; ".join(f"{_and(names)} {'is' if len(names) == 1 else 'are'} {why}" for why, names in reasons.items())


def seen_empty(s: RuleInput) -> bool:
    """Whether no message is ready or in progress, as read in the polls: a count of a while ago does not prove it."""
    figures = [s.ready, *([s.in_progress] if s.has("in_progress") else [])]
    return all(figure.value == 0 and not (figure.at_least or figure.every_s) for figure in figures)


def _lacking(s: RuleInput) -> Iterator[tuple[str, str]]:
    """The figures that are needed and do not do, each with what is wrong with it."""
    # Where a message is in progress only while its popper's transaction is open, it is stuck where that is too old: how
    # many there are does not matter. Else rows that nobody counted may have been left by anybody.
    needed = [("ready", s.ready)]
    if s.has("in_progress") and not s.in_transaction:
        needed.append(("in progress", s.in_progress))
    if s.has("stuck"):
        needed.append(("stuck", s.stuck))
    for name, figure in needed:
        if figure.value is None:
            yield name, f"not known: {_why(s, figure)}"
        elif figure.partial or (figure.at_least and (name == "stuck" or not figure.value)):
            yield name, f"seen in part: {figure.reason or 'more may be there'}"


def _why(s: RuleInput, figure: Figure) -> str:
    """Why a figure is not known: what failed, else what the figure says itself."""
    if figure.reason not in ("", NOT_READ):
        return figure.reason
    return next((f.words for f in s.failures), figure.reason or NOT_READ)


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
