"""No special word is on a screen unless the help of that screen explains it."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from qmon.model.gap_ledger import ring_ledger, span_ledger
from qmon.model.samples.polled_samples import RingSample
from qmon.model.view import View
from qmon.tui.overview.queue_rows import WITH_USUAL
from qmon.tui.shared.help_dialog import GLOSSARY, help_lines, terms_in
from qmon.tui.waits import usage_panel
from tests.tui.driving import Driver, dashboard
from tests.tui.pictures import SIZES
from tests.tui.scripted import twelve, view

pytestmark = pytest.mark.unit

SNAPSHOTS: Final = Path(__file__).parent / "__snapshots__"
# Words that only people who know qmon or the server's internals understand.
PRIVATE: Final = (
    *("HOT", "horizon", "hole", "holes", "orphan", "orphans", "orphaned", "xid", "in flight", "uncommitted", "skipped"),
    *("rows touched per pop", "dead rows", "buffers", "head blocker", "latch", "latches", "idle wait", "throttled"),
    *("probe", "probes", "budget", "cost", "tx/s", "peak"),
    *(title for title, *_ in usage_panel.COLUMNS),
)
# These have common words instead.
FORBIDDEN: Final = ("benign", "burnt", "ledger", "id span", "sweep", "ahead")


def is_in(word: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def text_of(svg: str) -> str:
    """Return the text of a picture of a terminal, a line per row."""
    rows: dict[str, list[tuple[float, str]]] = {}
    for x, y, text in re.findall(r'<text [^>]*x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', svg):
        rows.setdefault(y, []).append((float(x), html.unescape(text).replace("\xa0", " ").rstrip("\n")))
    return "\n".join("".join(text for _, text in sorted(row)) for row in rows.values())


def with_all_words() -> View:
    """Return queues with all parts of the gap, and with figures about their tables."""
    queues = twelve()
    ring = RingSample(30, 10, 2, 2, 1, 4, 3.0)
    ledgers = {"orders": ring_ledger(ring, 3), "invoices": span_ledger(60_052, 60_031, 12)}
    return view([replace(queue, ledger=ledgers.get(queue.name)) for queue in queues])


async def unexplained_words(d: Driver) -> set[str]:
    """Return the special words on the screen in front that its help does not explain."""
    text = d.text()
    await d.press("question_mark")
    help_ = set(re.split(r"\s{2,}|\n", d.lines("help-lines")))
    await d.press("escape")
    meant = {term.name for word in PRIVATE if is_in(word, text) for term in terms_in(word)}
    without = {word for word in PRIVATE if is_in(word, text) and not terms_in(word)}
    return without | {name for name in meant if not any(name == each.strip() for each in help_)}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_help_of_each_screen_explains_its_words(size: tuple[int, int]) -> None:
    seen: set[str] = set()
    async with dashboard(size) as d:
        await d.give(with_all_words())
        for key in "1234567":
            await d.press(key)
            await d.settle()
            seen |= {word for word in PRIVATE if is_in(word, d.text())}
            assert await unexplained_words(d) == set(), f"screen {key}"
    assert {"horizon", "probe"} <= seen
    assert size[0] < 120 or {"cost", "in flight", "uncommitted"} <= seen


def test_special_words_of_all_pictures_are_in_the_glossary() -> None:
    pictures = [text_of(path.read_text("utf-8")) for path in SNAPSHOTS.rglob("*.svg")]
    assert len(pictures) > 100
    seen = {word for word in PRIVATE for text in pictures if is_in(word, text)}
    assert {"horizon", "dead rows", "BUFFERS/s"} <= seen, "the pictures have text"
    assert {word for word in seen if not terms_in(word)} == set()
    assert {word for word in FORBIDDEN for text in pictures if is_in(word, text)} == set()


def test_private_words_are_terms() -> None:
    assert [word for word in PRIVATE if not terms_in(word)] == []


def test_names_of_terms_are_sorted_and_short() -> None:
    names = [term.name.casefold() for term in GLOSSARY]
    assert names == sorted(set(names))
    assert all(term.is_in(form) for term in GLOSSARY for form in (term.name, *term.forms))


def test_an_abbreviation_is_not_a_word() -> None:
    assert [term.name for term in terms_in("HOT 85 %")] == ["HOT"]
    assert terms_in("a hot page, causally, potholes") == ()


def test_the_help_explains_each_word_once() -> None:
    text = "horizon  HOT  orphans  dead rows  peak"
    names = [
        line[0][0].strip() for line in help_lines(76, columns=WITH_USUAL, text=text) if line and line[0][1] == "key"
    ]
    words = [name for name in names if name]
    assert len(words) == len(set(words))
    assert {"horizon", "HOT", "orphan", "dead rows", "peak"} <= set(words)
