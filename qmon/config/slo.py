"""Read ``[[slo]]``: the share of the time for which a figure of a queue must stay below a limit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from qmon.errors import BadInput
from qmon.model.alerts.alert_rules import ALIASES, ANY_NAME, LIMIT_FIGURES, matches_pattern
from qmon.model.alerts.rule_parser import parse_limit, parse_patterns
from qmon.model.config_reader import Keys, suggest_nearest
from qmon.texts import Text


class ObjectiveText(Text):
    """Faults of a service level objective."""

    TWICE = "{key}: an slo {name!r} is already defined above"
    NO_SUCH_FIGURE = "{key}: {figure!r} is not a figure for service levels{nearest}"
    BELOW = "{key}: must be more than 0"
    SHARE = "{key}: must be a share of the time, more than 0 and less than 1, such as 0.99 for 99 %"
    WINDOW = "{key}: must be at least 1d"
    NAME = "{figure} ({number})"


# The figures for which the lake stores how long each value lasted. The names are those of the status report.
STORED_FIGURES: Final = ("ready", "oldest_seconds")
_WINDOW_S: Final = 28 * 86_400.0
_MIN_WINDOW_S: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Objective:
    """One ``[[slo]]``: ``figure`` must stay under ``below`` for ``share`` of the time.

    ``figure``: one of ``STORED_FIGURES``. ``below``: limit in the figure's unit. ``window_s``: length of the window in
    seconds. The objective applies to each queue whose target and name match the patterns.
    """

    name: str
    figure: str
    below: float
    share: float
    window_s: float = _WINDOW_S
    targets: tuple[str, ...] = (ANY_NAME,)
    queues: tuple[str, ...] = (ANY_NAME,)

    @property
    def label(self) -> str:
        """The figure's name on screens: ``oldest``, ``depth``."""
        return LIMIT_FIGURES[self.figure].label

    def applies_to(self, target: str, queue: str) -> bool:
        """Return whether the objective applies to this queue."""
        return any(matches_pattern(each, target) for each in self.targets) and any(
            matches_pattern(each, queue) for each in self.queues
        )


def objectives_from_list(raw: Sequence[Mapping[str, object]], where: str) -> tuple[Objective, ...]:
    """Read the objectives of the tables ``[[slo]]``. The message of a ``BadInput`` begins with the key's path."""
    out: dict[str, Objective] = {}
    for number, each in enumerate(raw, 1):
        keys = Keys(each, f"{where}[{number}]")
        found = _read_objective(keys, number)
        if found.name in out:
            raise BadInput(ObjectiveText.TWICE.render(key=keys.path("name"), name=found.name))
        out[found.name] = found
    return tuple(out.values())


def _read_objective(keys: Keys, number: int) -> Objective:
    written = keys.require_text("figure")
    figure = ALIASES.get(written, written)
    if figure not in STORED_FIGURES:
        known = [LIMIT_FIGURES[name].label for name in STORED_FIGURES]
        raise BadInput(
            ObjectiveText.NO_SUCH_FIGURE.render(
                key=keys.path("figure"), figure=written, nearest=suggest_nearest(written, known)
            )
        )
    below, share, window_s = parse_limit(keys, "below", figure), keys.number("objective"), keys.seconds("window")
    if below is None:
        raise keys.missing_key_error("below")
    if below <= 0:
        raise BadInput(ObjectiveText.BELOW.render(key=keys.path("below")))
    if share is None:
        raise keys.missing_key_error("objective")
    if not 0 < share < 1:
        raise BadInput(ObjectiveText.SHARE.render(key=keys.path("objective")))
    if window_s is not None and window_s < _MIN_WINDOW_S:
        raise BadInput(ObjectiveText.WINDOW.render(key=keys.path("window")))
    found = Objective(
        keys.text("name") or ObjectiveText.NAME.render(figure=LIMIT_FIGURES[figure].label, number=number),
        figure,
        below,
        share,
        _WINDOW_S if window_s is None else window_s,
        parse_patterns(keys, "target", (ANY_NAME,)),
        parse_patterns(keys, "queue", (ANY_NAME,)),
    )
    keys.reject_unknown_keys()
    return found
