"""Compressed pictures show the same, and several of them can take turns in one."""

from __future__ import annotations

import re

import pytest

from tests.svg import one_after_the_other, smaller

pytestmark = pytest.mark.unit

RECT = '<rect fill="{}" x="{}" y="{}" width="{}" height="24.65" shape-rendering="crispEdges"/>'
TEXT = '<text class="r1" x="{}" y="20" textLength="61" clip-path="url(#t-line-0)">{}</text>'


def picture(cells: str, words: str) -> str:
    """Return an export of one line."""
    return f'<svg viewBox="0 0 994 635">\n<clipPath id="t-line-0">\n<rect/>\n</clipPath>\n{cells}{words}</svg>'


def test_cells_of_one_background_are_one_and_blanks_are_not_written() -> None:
    cells = (
        RECT.format("#111", 0, 1.5, 12.2)
        + RECT.format("#111", 12.2, 1.5, 24.4)
        + RECT.format("#222", 36.6, 1.5, 12.2)
        + RECT.format("#222", 0, 25.9, 12.2)
    )
    made = smaller(picture(cells, TEXT.format(0, "&#160;a&#160;b") + TEXT.format(61, "&#160;&#160;")))
    assert re.findall(r'fill="(.*?)" x="(.*?)" y="(.*?)" width="(.*?)"', made) == [
        ("#111", "0", "1.5", "36.6"),
        ("#222", "36.6", "1.5", "12.2"),
        ("#222", "0", "25.9", "12.2"),
    ]
    assert re.findall(r"<text .*?>(.*?)</text>", made) == ["\u00a0a\u00a0b"]
    assert "clip" not in made


def test_each_picture_is_shown_for_its_time() -> None:
    made = one_after_the_other([picture("", each) for each in ("one", "two")], 4.0)
    assert 'viewBox="0 0 994 635"' in made.splitlines()[0]
    assert "50.000%, 100% { visibility: hidden }" in made
    assert "animation: shown 8s" in made
    assert ".turn-1 { animation-delay: 4s }" in made
    assert made.count('<g class="turn ') == 2
