"""All text is readable in both themes, and severities are distinguishable, also for colour-blind users.

Contrast is defined by WCAG 2.1. Complete colour blindness is simulated after Machado, Oliveira and Fernandes (2009).
The distance of two colours is CIE 1976.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from importlib import resources
from itertools import combinations

import pytest
import textual.color
from rich.color import Color

from qmon.model.figure import Severity
from qmon.tui import figures
from qmon.tui.themes import DARK, DRAWN, LIGHT, THEMES, tones
from tests.tui.contrast import MARK, RGB, TEXT, WRITTEN, contrast, linear

pytestmark = pytest.mark.unit

APART = 15.0
# This ratio of brightness, by the same measure as contrast.
BRIGHTER = 1.5
FILLED = ("badge", "alarm badge", "held badge", "tag")
SEVERITIES = ("alarm", "accent", "held", "muted")
SEEN = {
    "by all": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "without red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "without green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "without blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def behind(name: str) -> list[Color]:
    """Return the backgrounds of rows, panels and the row under the cursor."""
    theme = next(theme for theme in THEMES if theme.name == name)
    return [Color.parse(each) for each in (theme.background, theme.surface, theme.panel) if each is not None]


def lab(color: RGB) -> RGB:
    """Return lightness and hue by CIE 1976."""
    r, g, b = color
    x, y, z = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883,
    )
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distances(theme: str, seen: str, names: Sequence[str]) -> dict[tuple[str, str], float]:
    """Return the distance between each two of these tones with this vision."""
    known = tones(theme)
    look = {
        name: lab(
            [
                min(1.0, max(0.0, sum(k * v for k, v in zip(row, linear(known[name].color), strict=True))))
                for row in SEEN[seen]
            ]
        )
        for name in names
    }
    return {pair: math.dist(look[pair[0]], look[pair[1]]) for pair in combinations(names, 2)}


@pytest.mark.parametrize("theme", [DARK, LIGHT])
@pytest.mark.parametrize("stale", [False, True], ids=["fresh", "stale"])
def test_text_and_marks_have_contrast(theme: str, stale: bool) -> None:
    known, grounds = tones(theme, stale=stale), behind(theme)
    assert len(grounds) == 3
    low = {
        name: round(contrast(known[name].color, ground), 2)
        for name in WRITTEN
        for ground in grounds
        if contrast(known[name].color, ground) < TEXT
    }
    assert low == {}
    assert min(contrast(known["faint"].color, ground) for ground in grounds[:2]) >= MARK, "no faint text under cursor"
    if not stale:
        assert min(contrast(known[name].color, known[name].bgcolor) for name in FILLED) >= TEXT


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_what_an_empty_field_says_has_contrast(theme: str) -> None:
    style = resources.files("qmon.tui").joinpath("qmon.tcss").read_text("utf-8")
    found = re.search(r"input--placeholder \{ color: \$foreground (\d+)%", style)
    assert found is not None
    text = next(each for each in THEMES if each.name == theme).foreground
    assert text is not None
    for ground in behind(theme):
        on = textual.color.Color.from_rich_color(ground)
        written = on.blend(textual.color.Color.parse(text), int(found[1]) / 100)
        assert contrast(written.rich_color, ground) >= TEXT


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_what_is_drawn_in_lines_of_text_has_contrast(theme: str) -> None:
    known, (ground, surface, cursor) = tones(theme), behind(theme)
    assert contrast(known["pop"].color, surface) >= MARK, "the dot of live, in the header"
    assert min(contrast(known["faint"].color, each) for each in (ground, surface)) >= MARK, "keys that are off"
    assert contrast(known["muted"].color, cursor) >= TEXT, "unknown figures, under the cursor"


@pytest.mark.parametrize("theme", [DARK, LIGHT])
@pytest.mark.parametrize("seen", SEEN)
def test_severities_are_told_apart_by_everybody(theme: str, seen: str) -> None:
    near = {pair: round(apart) for pair, apart in distances(theme, seen, SEVERITIES).items()}
    assert {pair: apart for pair, apart in near.items() if apart < APART} == {}


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_what_plots_draw_has_contrast(theme: str) -> None:
    known, (ground, _, cursor) = tones(theme), behind(theme)
    drawn = {name: known[name] for each in DRAWN for name in (each, f"{each} fill")} | {"band": known["band"]}
    low = {
        name: round(contrast(style.color, ground), 2)
        for name, style in drawn.items()
        if contrast(style.color, ground) < MARK
    }
    low |= {
        name: round(contrast(style.color, style.bgcolor), 2)
        for name, style in known.items()
        if name.endswith(" on area") and contrast(style.color, style.bgcolor) < MARK
    }
    assert low == {}
    assert contrast(known["depth fill"].color, cursor) >= MARK, "in the row under the cursor"


@pytest.mark.parametrize("theme", [DARK, LIGHT])
@pytest.mark.parametrize("seen", SEEN)
def test_lines_of_plots_are_told_apart_by_everybody(theme: str, seen: str) -> None:
    near = {pair: round(apart) for pair, apart in distances(theme, seen, DRAWN).items()}
    assert {pair: apart for pair, apart in near.items() if apart < APART} == {}


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_push_and_pop_differ_in_brightness_as_well(theme: str) -> None:
    known = tones(theme)
    assert contrast(known["push"].color, known["pop"].color) >= BRIGHTER


def test_each_severity_has_a_mark_of_its_own() -> None:
    marks = [*figures.SYMBOLS.values(), figures.PAUSED_SYMBOL]
    assert len(set(marks)) == len(Severity) + 1
