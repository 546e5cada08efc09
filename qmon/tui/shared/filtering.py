"""The filter: keep what holds a text, or with ``!`` what does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def keep(items: Iterable[T], wanted: str, words: Callable[[T], str]) -> list[T]:
    """The items whose words hold ``wanted``, whatever its case; ``!wanted`` leaves those out. Empty keeps all."""
    inverse = wanted.startswith("!")
    needle = wanted.removeprefix("!").strip().casefold()
    if not needle:
        return list(items)
    return [item for item in items if (needle in words(item).casefold()) is not inverse]
