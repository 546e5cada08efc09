"""Series: the points of a queue's history in one block of numbers, so that hours of watching do not pile up objects."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import astuple, fields
from math import isnan, nan
from typing import Final, overload

from qmon.model.view import Point

_WIDTH: Final = len(fields(Point))


class Series(Sequence[Point]):
    """Points, oldest first, unchangeable. A figure that was not known is ``None`` again when it is read."""

    __slots__ = ("_numbers",)

    def __init__(self, numbers: array[float] | None = None) -> None:
        self._numbers = array("d") if numbers is None else numbers

    def __len__(self) -> int:
        return len(self._numbers) // _WIDTH

    @overload
    def __getitem__(self, index: int) -> Point: ...

    @overload
    def __getitem__(self, index: slice) -> list[Point]: ...

    def __getitem__(self, index: int | slice) -> Point | list[Point]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index] * _WIDTH
        return _point(*self._numbers[place : place + _WIDTH])

    def __iter__(self) -> Iterator[Point]:
        numbers = iter(self._numbers)
        for row in zip(*[numbers] * _WIDTH, strict=True):
            yield _point(*row)


class Recorder:
    """Takes in points and gives them out as a series; keeps the newest ``most``."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._numbers = array("d")

    def add(self, point: Point) -> None:
        """Take in one point."""
        self._numbers.extend(nan if number is None else number for number in astuple(point))
        over = len(self._numbers) // _WIDTH - self._most
        if over > self._most // 8:
            del self._numbers[: over * _WIDTH]

    def series(self) -> Series:
        """The newest points as they are now."""
        return Series(self._numbers[-self._most * _WIDTH :])


def _point(at: float, *figures: float) -> Point:
    return Point(at, *(None if isnan(figure) else figure for figure in figures))
