"""The texts of values, and untrusted text made harmless."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from qmon.model import formatting
from qmon.tui import figures
from qmon.tui.sanitize import clean, pad, shorten, shorten_middle, text_width
from qmon.tui.spans import LinePart, cut_line, fit_parts, line_width, spread_parts, wrap_text

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("value", "written", "aligned"),
    [
        (0, "0", "0  "),
        (0.04, "<0.1", "<0.1"),
        (4, "4.0", "4.0"),
        (99.9, "99.9", "99.9"),
        (99.97, "100", "100  "),
        (91_204, "91,204", "91,204  "),
        (-3.25, "-3.2", "-3.2"),
    ],
)
def test_rates_line_up_on_the_decimal(value: float, written: str, aligned: str) -> None:
    assert formatting.rate(value) == written
    assert figures.aligned_rate(value) == aligned


@pytest.mark.parametrize(
    ("seconds", "shown"), [(-1, "0 s"), (0.4, "0 s"), (9.4, "9 s"), (9.6, "10 s"), (42, "42 s"), (64, "1 m 04 s")]
)
def test_titles_have_no_tenths_of_a_second(seconds: float, shown: str) -> None:
    assert formatting.whole_seconds(seconds) == shown


@pytest.mark.parametrize(
    ("dirty", "shown"),
    [
        ("\x1b[31mred\x07", "␛[31mred␇"),
        ("a\nb\r\tc", "a⏎b⏎⇥c"),
        ("\x9b31m", "�31m"),
        ("\u202egnp.exe", "�gnp.exe"),
        ("zero\u200bwidth", "zero�width"),
        ("\ud800", "�"),
        ("[red]x[/]", "[red]x[/]"),
        ("請求書 🎉", "請求書 🎉"),
        ("no\xa0break", "no break"),
        ("\x7f", "␡"),
    ],
)
def test_untrusted_text_is_shown_and_not_obeyed(dirty: str, shown: str) -> None:
    assert clean(dirty) == shown


@given(st.text(alphabet=st.characters()))
def test_clean_text_can_be_written_and_obeys_nothing(dirty: str) -> None:
    cleaned = clean(dirty)
    cleaned.encode()
    assert all(ord(c) >= 0x20 and not 0x7F <= ord(c) <= 0x9F for c in cleaned)
    assert clean(cleaned) == cleaned


@given(st.text(), st.integers(0, 40), st.booleans())
def test_padded_text_takes_exactly_its_cells(dirty: str, cells: int, right: bool) -> None:
    padded = pad(clean(dirty), cells, right=right)
    assert cell_len(padded) == cells
    assert text_width(shorten(clean(dirty), cells)) <= cells


def test_a_name_is_cut_in_the_middle() -> None:
    assert shorten_middle("graphile-worker/reports", 10) == "grap…ports"
    assert shorten_middle("請求書キュー", 7) == "請…ュー"
    assert shorten_middle("mails", 5) == "mails"


@given(st.text(), st.integers(0, 40))
def test_a_name_cut_in_the_middle_fits(dirty: str, cells: int) -> None:
    assert text_width(shorten_middle(clean(dirty), cells)) <= cells


def test_what_is_cut_ends_in_an_ellipsis() -> None:
    assert shorten("invoices", 5) == "invo…"
    assert shorten("請求書キュー", 6) == "請求…"
    assert cut_line([("abc", "text"), ("def", "muted")], 5) == (("abc", "text"), ("d…", "muted"))
    assert cut_line([("abc", "text"), ("def", "muted")], 3) == (("ab…", "text"),)


@given(st.lists(st.tuples(st.text(max_size=20), st.integers(0, 5)), max_size=8), st.integers(1, 100))
def test_fitted_parts_never_overflow(parts: list[tuple[str, int]], cells: int) -> None:
    line = fit_parts([LinePart.from_text(clean(words), rank=rank) for words, rank in parts], cells)
    assert line_width(line) <= cells


def test_the_greatest_rank_is_left_out_first() -> None:
    parts = [LinePart.from_text("target"), LinePart.from_text("engine", rank=2), LinePart.from_text("live", rank=1)]
    assert "".join(t for t, _ in fit_parts(parts, 16)) == "target   live"


def test_both_ends_of_a_line() -> None:
    line = spread_parts([LinePart.from_text("left")], [LinePart.from_text("right")], 20)
    assert "".join(t for t, _ in line) == "left           right"


def test_wrapping_fills_the_first_line_and_cuts_the_last() -> None:
    assert wrap_text("one two three four five", 7, 10, 2) == ["one two", "three…"]
    assert wrap_text("short", 10, 10, 3) == ["short"]
