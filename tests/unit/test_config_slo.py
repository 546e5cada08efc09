"""Service levels in the configuration file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qmon.config.config_file import parse_config
from qmon.config.slo import Objective, ObjectiveText
from qmon.errors import BadInput
from qmon.model.config_reader import KeyText
from qmon.model.formatting import DurationText
from tests.wordings import pattern

PATH = Path("some/qmon.toml")
GOOD = "[[slo]]\nfigure = 'oldest'\nbelow = '2m'\nobjective = 0.99\n"


def test_an_objective_is_about_each_queue_that_fits() -> None:
    text = GOOD + "window = '7d'\ntarget = 'shop*'\nqueue = ['orders', 'mail?']\n[[slo]]\nname = 'short'\n"
    config = parse_config(text + "figure = 'depth'\nbelow = 1000\nobjective = 0.5\n", PATH)
    first, second = config.objectives
    assert first == Objective("oldest (1)", "oldest_seconds", 120.0, 0.99, 7 * 86400.0, ("shop*",), ("orders", "mail?"))
    assert second == Objective("short", "ready", 1000.0, 0.5, 28 * 86400.0)
    assert (first.label, second.label) == ("oldest", "depth")
    fits = [
        first.applies_to(*key)
        for key in (("shop-1", "mails"), ("shop", "orders"), ("crm", "orders"), ("shop", "letters"))
    ]
    assert fits == [True, True, False, False]
    assert second.applies_to("anything", "at all")


def at(key: str) -> str:
    """Return the key as an error names it."""
    return f"{PATH}: {key}"


def unknown_key(key: str, nearest: str) -> str:
    """Return the pattern of the error about an unknown key."""
    return pattern(KeyText.UNKNOWN_KEY, path=at(key), hint=KeyText.DID_YOU_MEAN.render(word=nearest))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (GOOD.replace("below", "belw"), unknown_key("slo[1].belw", "below")),
        (GOOD.replace("objective", "objectiv"), unknown_key("slo[1].objectiv", "objective")),
        (GOOD + "windows = '7d'", unknown_key("slo[1].windows", "window")),
        (GOOD.replace("[[slo]]", "[[slos]]"), unknown_key("slos", "slo")),
        (GOOD.replace("[[slo]]", "[slo]"), pattern(KeyText.NOT_TABLES, path=at("slo"), name="slo")),
        (GOOD.replace("figure = 'oldest'\n", ""), pattern(KeyText.MISSING, path=at("slo[1]"), name="figure")),
        (
            GOOD.replace("oldest", "oldst"),
            pattern(
                ObjectiveText.NO_SUCH_FIGURE,
                key=at("slo[1].figure"),
                figure="oldst",
                nearest=KeyText.DID_YOU_MEAN.render(word="oldest"),
            ),
        ),
        (GOOD.replace("oldest", "fill"), pattern(ObjectiveText.NO_SUCH_FIGURE, key=at("slo[1].figure"), figure="fill")),
        (GOOD.replace("0.99", "99"), pattern(ObjectiveText.SHARE, key=at("slo[1].objective"))),
        (GOOD.replace("0.99", "1"), pattern(ObjectiveText.SHARE, key=at("slo[1].objective"))),
        (
            GOOD.replace("'2m'", "'soon'"),
            f"{re.escape(at('slo[1].below'))}: {pattern(DurationText.NOT_A_DURATION, text='soon')}",
        ),
        (GOOD.replace("oldest", "depth").replace("'2m'", "0"), pattern(ObjectiveText.BELOW, key=at("slo[1].below"))),
        (GOOD + "window = '1h'", pattern(ObjectiveText.WINDOW, key=at("slo[1].window"))),
        (GOOD + GOOD + "name = 'oldest (1)'", pattern(ObjectiveText.TWICE, key=at("slo[2].name"), name="oldest (1)")),
    ],
)
def test_a_fault_is_named_with_its_key(text: str, fault: str) -> None:
    with pytest.raises(BadInput, match=f"^{fault}"):
        parse_config(text, PATH)
