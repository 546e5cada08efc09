"""Values in a readable form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.model import formatting
from qmon.model.figure import Figure
from qmon.model.formatting import decode_hex


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-7200, "-2 h 00 m"),
        (-59, "0.0 s"),
        (-1, "0.0 s"),
        (0, "0.0 s"),
        (3.24, "3.2 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (42.3, "42 s"),
        (59.6, "1 m 00 s"),
        (310, "5 m 10 s"),
        (845.6, "14 m 05 s"),
        (3_599.6, "59 m 59 s"),
        (3_725, "1 h 02 m"),
        (86_399, "23 h 59 m"),
        (273_600, "3 d 04 h"),
        (1e9, "11,574 d 01 h"),
    ],
)
def test_durations(seconds: float, shown: str) -> None:
    assert formatting.duration(seconds) == shown


@given(st.floats(0, 1e10))
def test_a_duration_is_off_by_less_than_its_smaller_unit(seconds: float) -> None:
    units = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
    parts = formatting.duration(seconds).replace(",", "").split()
    found = sum(float(value) * units[unit] for value, unit in zip(parts[::2], parts[1::2], strict=True))
    assert abs(found - seconds) <= (0.051 if "." in parts[0] else units[parts[-1]])


@pytest.mark.parametrize(
    ("seconds", "compact", "short"),
    [
        (-86_000, "-23h53m", "-23h"),
        (0.4, "0.4s", "0s"),
        (87, "1m27s", "1m"),
        (7_440, "2h04m", "2h"),
        (273_600, "3d04h", "3d"),
        (8_639_999, "99d23h", "99d"),
        (8_640_000, "100d", "100d"),
        (100_000_000, "3y", "3y"),
    ],
)
def test_durations_in_cells(seconds: float, compact: str, short: str) -> None:
    assert formatting.compact_duration(seconds) == compact
    assert formatting.short_duration(seconds) == short


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0"), (0.01, "<0.1"), (4, "4.0"), (18.3, "18"), (91_204, "91k"), (-3.25, "-3.2")]
)
def test_short_rates(value: float, shown: str) -> None:
    assert formatting.short_rate(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0.0 ms"), (1.84, "1.8 ms"), (42.2, "42 ms"), (3_140, "3.1 s"), (3_725_000, "1 h 02 m")]
)
def test_short_times(value: float, shown: str) -> None:
    assert formatting.milliseconds(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0 B"),
        (812, "812 B"),
        (999.6, "1.0 kB"),
        (8_192, "8.0 kB"),
        (1_258_291, "1.2 MB"),
        (10 * 2**20, "10 MB"),
        (48 * 2**30, "48 GB"),
        (-8_192, "-8.0 kB"),
        (5_000 * 2**40, "5,000 TB"),
    ],
)
def test_bytes(value: float, shown: str) -> None:
    assert formatting.size(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (0.25, "0.25"),
        (0.96, "1.0"),
        (3, "3"),
        (3.14, "3.1"),
        (31.4, "31"),
        (3_100.2, "3,100"),
        (-0.5, "-0.50"),
    ],
)
def test_numbers(value: float, shown: str) -> None:
    assert formatting.number(value) == shown


def test_things_are_counted_in_full() -> None:
    assert [formatting.count_text(n, "session") for n in (0, 1, 1_204_000)] == [
        "0 sessions",
        "1 session",
        "1,204,000 sessions",
    ]


def test_a_figure_says_how_it_is_known() -> None:
    assert Figure(12_431.0).text() == "12,431"
    assert Figure(12_431.0, estimated=True).text() == "~12,431"
    assert Figure(1_000.0, at_least=True).text(formatting.rate) == "≥1,000"
    assert Figure.unknown("no such column").text() == "–"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (None, None),
        ("", ""),
        ("plain", "plain"),
        ("\\x", ""),
        ("\\x7b2261223a317d", '{"a":1}'),
        ("0x7B2261223A317D", '{"a":1}'),
        ("\\x610a62", "a\nb"),
        ("\\x61c3", "a"),  # the server cut a character in half
        ("\\x616", "a"),  # or a byte
        ("\\xff00", "0xff00"),
        ("0xFF00", "0xff00"),
        ("\\xff0", "0xff"),
        ("\\x1b5b33316d", "0x1b5b33316d"),
        ("\\xno digits", "\\xno digits"),
        ("0x", ""),
    ],
)
def test_bytes_are_text_where_they_are_text(written: str | None, shown: str | None) -> None:
    assert decode_hex(written) == shown


@given(st.text(st.characters(categories=("L", "N", "P", "S"))), st.integers(0, 200))
def test_any_printable_text_is_read_as_far_as_it_was_sent(text: str, cut: int) -> None:
    shown = decode_hex(("\\x" + text.encode().hex())[: 2 + cut])
    assert shown is not None
    assert text.startswith(shown)
    assert len(shown.encode()) > min(cut // 2, len(text.encode())) - 4


def test_moments_are_in_utc() -> None:
    assert formatting.date_and_time(1_795_245_300.9) == "2026-11-21 07:15:00 UTC"
    assert formatting.time_of_day(1_795_245_300.9) == "07:15:00 UTC"


def test_a_text_of_somebody_else_is_cut_and_printable() -> None:
    assert formatting.one_line("a\tb\n  c\x1b") == "a b c"
    assert formatting.one_line("x" * 60) == "x" * 60
    assert formatting.one_line("x" * 61) == "x" * 59 + "…"
