"""Series: the points of a queue's history in one block of numbers, so that hours of watching do not pile up objects."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from math import isnan, nan
from operator import attrgetter
from typing import Final, overload


@dataclass(frozen=True, slots=True)
class Point:
    """One moment of a queue's history, for plots. Rates in messages per second over the interval that ends here."""

    at: float
    ready: float | None
    push_rate: float | None
    pop_rate: float | None
    complete_rate: float | None
    in_progress: float | None
    oldest_s: float | None


_NAMES: Final = tuple(field.name for field in fields(Point))
_WIDTH: Final = len(_NAMES)
_figures: Final = attrgetter(*_NAMES)


class Series(Sequence[Point]):
    """Points, oldest first, unchangeable. A figure that was not known is ``None`` again when it is read.

    It looks at a stretch of a block that only ever grows at its end, so it costs nothing to make.
    """

    __slots__ = ("_numbers", "_start", "_stop")

    def __init__(self, numbers: array[float] | None = None, start: int = 0) -> None:
        """``start``: where in ``numbers`` the oldest point begins; what is appended later is not seen."""
        self._numbers = array("d") if numbers is None else numbers
        self._start = start
        self._stop = len(self._numbers)

    def __len__(self) -> int:
        return (self._stop - self._start) // _WIDTH

    @overload
    def __getitem__(self, index: int) -> Point: ...

    @overload
    def __getitem__(self, index: slice) -> list[Point]: ...

    def __getitem__(self, index: int | slice) -> Point | list[Point]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = self._start + range(len(self))[index] * _WIDTH
        return _point(*self._numbers[place : place + _WIDTH])

    def column(self, name: str) -> array[float]:
        """One figure of all points, not a number where it was not known."""
        return self._numbers[self._start + _NAMES.index(name) : self._stop : _WIDTH]

    def __iter__(self) -> Iterator[Point]:
        numbers = islice(self._numbers, self._start, self._stop)
        for row in zip(*[numbers] * _WIDTH, strict=True):
            yield _point(*row)


class SeriesRecorder:
    """Takes in points and gives them out as a series; keeps the newest ``most``."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._numbers = array("d")

    def add(self, point: Point) -> None:
        """Take in one point. Nobody moves what a series looks at: old points go with their whole block.

        Time goes forward: where the server's clock was put back, what lies after it now goes.
        """
        if self._numbers and point.at < self._numbers[-_WIDTH]:
            later = bisect_right(self._numbers[::_WIDTH], point.at)
            self._numbers = self._numbers[: later * _WIDTH]
        if len(self._numbers) >= (self._most + self._most // 8) * _WIDTH:
            self._numbers = self._numbers[-(self._most - 1) * _WIDTH :]
        self._numbers.extend(nan if number is None else number for number in _figures(point))

    def series(self) -> Series:
        """The newest points as they are now."""
        return Series(self._numbers, max(0, len(self._numbers) - self._most * _WIDTH))


def column(points: Sequence[Point], name: str) -> array[float]:
    """One figure of all these points, not a number where it was not known."""
    if isinstance(points, Series):
        return points.column(name)
    known = (getattr(point, name) for point in points)
    return array("d", (nan if figure is None else figure for figure in known))


def _point(at: float, *figures: float) -> Point:
    return Point(at, *(None if isnan(figure) else figure for figure in figures))
