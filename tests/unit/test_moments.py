"""Moments on the screen: only the time for today, the date too for any other day."""

from __future__ import annotations

from datetime import datetime, tzinfo

import pytest

from qmon.tui import figures

NOON = datetime(2026, 3, 1, 12, 0, 7)  # noqa: DTZ001  # in the zone of this machine, as screens show it


class Noon(datetime):
    """A clock that stands still at noon."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Noon:
        return cls.fromtimestamp(NOON.timestamp(), tz)


@pytest.mark.parametrize(
    ("of", "whole", "seconds", "short"),
    [
        (NOON, "12:00", "12:00:07", "12:00"),
        (NOON.replace(day=2), "2026-03-02 12:00", "2026-03-02 12:00:07", "03-02 12:00"),
        (NOON.replace(year=2025), "2025-03-01 12:00", "2025-03-01 12:00:07", "03-01 12:00"),
    ],
)
def test_a_moment_of_another_day_says_which(
    monkeypatch: pytest.MonkeyPatch, of: datetime, whole: str, seconds: str, short: str
) -> None:
    monkeypatch.setattr(figures, "datetime", Noon)
    at = of.timestamp()
    assert figures.moment_text(at) == whole
    assert figures.moment_text(at, seconds=True) == seconds
    assert figures.moment_text(at, short=True) == short
