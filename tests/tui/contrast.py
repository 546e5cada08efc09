"""Contrast of colours, and the least contrast of text and marks."""

from __future__ import annotations

from collections.abc import Sequence

from rich.color import Color

TEXT, MARK = 4.5, 3.0
WRITTEN = ("text", "strong", "muted", "title", "key", "accent", "alarm", "held")
RGB = Sequence[float]


def linear(color: Color | None) -> RGB:
    """Return red, green and blue, 0 to 1, in proportion to light."""
    assert color is not None
    each = (part / 255 for part in color.get_truecolor())
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in each]


def contrast(one: Color | None, other: Color | None) -> float:
    """Return the contrast, 1 to 21."""
    light = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (linear(one), linear(other))]
    return (max(light) + 0.05) / (min(light) + 0.05)
