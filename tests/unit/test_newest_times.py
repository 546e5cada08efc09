"""The newest rows compared with the clock: the output names the time zone that would fit."""

from __future__ import annotations

import pytest

from qmon.monitor.catalog.newest_times import NewestTimeText, TimesRow, comparison_lines

UTC = "2026-11-27 12:00:00"
BERLIN = "2026-11-27 13:00:00"


def lines(*newest: str, local: str = BERLIN) -> tuple[str, ...]:
    return comparison_lines("made", [TimesRow(each, UTC, local) for each in newest])


@pytest.mark.parametrize(
    ("newest", "local", "said"),
    [
        ("2026-11-27 11:59:58", BERLIN, NewestTimeText.FITS.render(zones='"utc"')),
        ("2026-11-27 12:00:01", BERLIN, NewestTimeText.FITS.render(zones='"utc"')),
        ("2026-11-27 12:58:00", BERLIN, NewestTimeText.FITS.render(zones='"local"')),
        ("2026-11-27 11:59:58", UTC, NewestTimeText.FITS.render(zones='"utc" and "local"')),
        ("2026-11-27 17:29:50", BERLIN, NewestTimeText.AHEAD.render(time="5 h 30 m")),
        ("2026-11-27 06:59:59", BERLIN, NewestTimeText.BEHIND.render(time="5 h 00 m")),
        ("2026-11-27 11:52:00", BERLIN, NewestTimeText.OTHER_CLOCK),
        ("2026-11-20 12:00:00", BERLIN, NewestTimeText.OTHER_CLOCK),
    ],
)
def test_it_says_what_would_fit(newest: str, local: str, said: str) -> None:
    (line,) = lines(newest, local=local)
    assert line == NewestTimeText.NEWEST.render(column="made", newest=newest, utc=UTC, local=local, conclusion=said)


def test_times_that_go_back_speak_against_one_time_zone() -> None:
    _, back = lines("2026-11-27 12:00:00", "2026-11-27 13:59:59", "2026-11-27 11:59:00")
    assert back == NewestTimeText.GOES_BACK.render(count=3, column="made", time="1 h 59 m")


def test_a_transaction_that_began_a_little_earlier_is_no_other_time_zone() -> None:
    assert len(lines("2026-11-27 11:58:00", "2026-11-27 12:00:00", "2026-11-27 11:57:00")) == 1


def test_an_empty_table_shows_nothing() -> None:
    assert lines() == ()
