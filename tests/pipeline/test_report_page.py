"""The report in a real browser, where there is one: it needs no network, and a phone shows all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmon.pipeline.report.html import page
from tests.pipeline.browser import FOUND, NAMES, browser
from tests.pipeline.pages import hostile_facts, tables

PHONE = 390
CELLS = "[...document.querySelectorAll('table')].map(t => [...t.rows].map(r => [...r.cells].map(c => c.textContent)))"
OUTSIDE = """[...document.querySelectorAll('body *')].filter(e => {
    const box = e.getBoundingClientRect(), place = e.ownerSVGElement?.getBoundingClientRect();
    const [left, right] = place ? [place.left, place.right] : [0, innerWidth];
    return box.width && (box.left < left - 0.5 || box.right > right + 0.5);
}).map(e => e.tagName + ': ' + e.textContent.slice(0, 40))"""
BROKEN = "[...document.querySelectorAll('td:not(.t)')].filter(e => e.offsetHeight > 56).map(e => e.textContent)"
"""Figures on more than two lines, of which the second is for a long heading."""
SMALLEST = """Math.min(...[...document.querySelectorAll('h1, h2, h3, p, td, figcaption, svg text')].map(e => {
    const size = parseFloat(getComputedStyle(e).fontSize), drawn = e.ownerSVGElement;
    return drawn ? size * drawn.getBoundingClientRect().width / drawn.viewBox.baseVal.width : size;
}))"""


@pytest.mark.skipif(FOUND is None, reason=f"no browser here: none of {', '.join(NAMES)}")
def test_a_phone_shows_the_report_without_a_network(tmp_path: Path) -> None:
    text, report, control = page(hostile_facts()), tmp_path / "report.html", tmp_path / "control.html"
    report.write_text(text, encoding="utf-8")
    control.write_text(f'<p style="width: {2 * PHONE}px">wide</p><img src="missing.png">', encoding="utf-8")
    with browser(tmp_path) as seen:
        seen.open(control, PHONE)  # what the look would find
        assert seen.asked == [control.as_uri(), (tmp_path / "missing.png").as_uri()]
        assert seen.value("document.documentElement.scrollWidth") > PHONE
        for width in (PHONE, 1280):
            seen.open(report, width)
            assert seen.asked == [report.as_uri()]
            assert seen.value("document.documentElement.scrollWidth") <= width
            assert seen.value("innerWidth") == width
            assert width > PHONE or seen.value(OUTSIDE) == seen.value(BROKEN) == []
            assert seen.value(SMALLEST) >= 9.5
            assert seen.value(CELLS) == tables(text)
            assert seen.value("document.scripts.length") == 0
