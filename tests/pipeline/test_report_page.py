"""The report in a real browser, if one is installed: it needs no network, and all of it fits a phone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qmon.pipeline.report.html import report_page
from tests.browser import FOUND, NAMES, browser
from tests.pipeline.pages import Page, hostile_facts

PHONE = 390
CELLS = """[...document.querySelectorAll('table')].map(t => [...t.rows].filter(r => r.className !== 'of').map(
    r => [...r.cells].map(c => c.textContent)))"""
OUTSIDE = """[...document.querySelectorAll('body *')].filter(e => {
    const box = e.getBoundingClientRect(), place = e.ownerSVGElement?.getBoundingClientRect();
    const [left, right] = place ? [place.left, place.right] : [0, innerWidth];
    return box.width && (box.left < left - 0.5 || box.right > right + 0.5);
}).map(e => e.tagName + ': ' + e.textContent.slice(0, 40))"""
# Figures on more than two lines; the second line is for a long heading.
BROKEN = "[...document.querySelectorAll('td:not(.t)')].filter(e => e.offsetHeight > 56).map(e => e.textContent)"
SMALLEST = """Math.min(...[...document.querySelectorAll('h1, h2, h3, p, td, figcaption, .x span, .y span')].map(
    e => parseFloat(getComputedStyle(e).fontSize)))"""
# Labels of days that overlap the label before.
OVERLAPPING = """[...document.querySelectorAll('.x')].flatMap(x => [...x.children].map(e => e.getBoundingClientRect())
    .filter(box => box.width).filter((box, n, all) => n && box.left < all[n - 1].right)).length"""
SORTED = """(() => {
    const heading = [...document.querySelectorAll('thead th')].find(e => e.textContent === 'push/s');
    heading.click();
    const rows = [...heading.closest('table').tBodies[0].rows].filter(row => row.className !== 'of');
    return rows.map(row => row.cells[heading.cellIndex].textContent);
})()"""
HOVERED = """(() => {
    const svg = document.querySelector('.plot svg'), box = svg.getBoundingClientRect();
    const at = {clientX: box.left + box.width * 0.5, clientY: box.top + 5};
    svg.dispatchEvent(new PointerEvent('pointermove', at));
    return document.getElementById('tip').textContent;
})()"""


@pytest.mark.skipif(FOUND is None, reason=f"no browser here: none of {', '.join(NAMES)}")
def test_a_phone_shows_the_report_without_a_network(tmp_path: Path) -> None:
    text, report, control = report_page(hostile_facts()), tmp_path / "report.html", tmp_path / "control.html"
    report.write_text(text, encoding="utf-8")
    control.write_text(f'<p style="width: {2 * PHONE}px">wide</p><img src="missing.png">', encoding="utf-8")
    with browser(tmp_path) as seen:
        seen.open(control, PHONE)  # the check must find these requests
        assert seen.asked == [control.as_uri(), (tmp_path / "missing.png").as_uri()]
        assert seen.value("document.documentElement.scrollWidth") > PHONE
        for width in (PHONE, 1280):
            seen.open(report, width)
            assert seen.asked == [report.as_uri()]
            assert seen.value("document.documentElement.scrollWidth") <= width
            assert seen.value("innerWidth") == width
            assert width > PHONE or seen.value(OUTSIDE) == seen.value(BROKEN) == []
            assert seen.value(SMALLEST) >= 9.5
            assert seen.value(OVERLAPPING) == 0
            assert seen.value(CELLS) == list(Page(text).tables.values())
            assert seen.value("document.scripts.length") == 1
        numbers = [float(each.replace(",", "")) for each in seen.value(SORTED)]
        assert numbers == sorted(numbers, reverse=True) and numbers[0] > numbers[-1]
        assert re.fullmatch(r"Sun, 25 Oct 02:40: pushed [0-9,.]+, popped [0-9,.]+", seen.value(HOVERED))
