"""Formats times for the history screen, in the time zone of the recording."""

from __future__ import annotations

from datetime import datetime, tzinfo


def moment_text(at: float, zone: tzinfo, *, with_zone: bool = False) -> str:
    """Return ``Tue 2026-11-17 20:00``. ``with_zone``: add the name of the zone."""
    return datetime.fromtimestamp(at, zone).strftime(f"%a %Y-%m-%d %H:%M{' %Z' if with_zone else ''}")


def range_text(since_at: float, until_at: float, zone: tzinfo) -> str:
    """Return ``Tue 2026-11-17 20:00 – 20:05 CET``. If both times are on the same day, the second date is left out."""
    until = moment_text(until_at, zone, with_zone=True)
    same = moment_text(since_at, zone)[:-5] == until[: len(moment_text(since_at, zone)) - 5]
    return f"{moment_text(since_at, zone)} – {until[len(moment_text(since_at, zone)) - 5 :] if same else until}"


def clock_text(at: float, zone: tzinfo) -> str:
    """Return ``20:00:00``."""
    return datetime.fromtimestamp(at, zone).strftime("%H:%M:%S")


def day_clock_text(at: float, zone: tzinfo) -> str:
    """Return ``Tue 20:00:00``."""
    return datetime.fromtimestamp(at, zone).strftime("%a %H:%M:%S")


def zone_name(at: float, zone: tzinfo) -> str:
    """Return the name of the zone at this time, such as ``CET``."""
    return datetime.fromtimestamp(at, zone).strftime("%Z")
