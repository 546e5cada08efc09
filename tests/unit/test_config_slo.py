"""Service levels in the configuration file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qmon.config.config_file import parse_config
from qmon.config.slo import Objective
from qmon.errors import BadInput

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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("below", "belw"), "slo[1].belw: unknown key; did you mean below?"),
        (GOOD.replace("objective", "objectiv"), "slo[1].objectiv: unknown key; did you mean objective?"),
        (GOOD + "windows = '7d'", "slo[1].windows: unknown key; did you mean window?"),
        (GOOD.replace("[[slo]]", "[[slos]]"), "slos: unknown key; did you mean slo?"),
        (GOOD.replace("[[slo]]", "[slo]"), "slo: must be written as [[slo]]"),
        (GOOD.replace("figure = 'oldest'\n", ""), "slo[1]: needs figure"),
        (
            GOOD.replace("oldest", "oldst"),
            "slo[1].figure: 'oldst' is not a figure for service levels; did you mean oldest?",
        ),
        (GOOD.replace("oldest", "fill"), "slo[1].figure: 'fill' is not a figure for service levels; choose from:"),
        (GOOD.replace("0.99", "99"), "slo[1].objective: must be a share of the time"),
        (GOOD.replace("0.99", "1"), "slo[1].objective: must be a share of the time"),
        (GOOD.replace("'2m'", "'soon'"), "slo[1].below: 'soon' is not a duration"),
        (GOOD.replace("oldest", "depth").replace("'2m'", "0"), "slo[1].below: must be more than 0"),
        (GOOD + "window = '1h'", "slo[1].window: must be at least 1d"),
        (GOOD + GOOD + "name = 'oldest (1)'", "slo[2].name: an slo 'oldest (1)' is already defined above"),
    ],
)
def test_a_fault_is_named_with_its_key(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(f"{PATH}: {message}")):
        parse_config(text, PATH)
