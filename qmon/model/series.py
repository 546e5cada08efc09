"""Store the points of a queue's history in one block of numbers, so that hours of history need few objects."""

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
    """One point of a queue's history for plots. Rates are messages per second over the interval that ends at ``at``."""

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
    """An immutable sequence of points, oldest first. Unknown figures are read back as ``None``.

    A series is a view of a range of a block of numbers. The block only grows at its end, so creating a series copies
    nothing.
    """

    __slots__ = ("_numbers", "_start", "_stop")

    def __init__(self, numbers: array[float] | None = None, start: int = 0) -> None:
        """Create a view of ``numbers`` from index ``start`` to its current end.

        Numbers appended later are not included.
        """
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
        """Return one figure of all points. An unknown value is NaN."""
        return self._numbers[self._start + _NAMES.index(name) : self._stop : _WIDTH]

    @property
    def span_s(self) -> float:
        """The seconds from the first to the last point; 0 without points."""
        return self._numbers[self._stop - _WIDTH] - self._numbers[self._start] if len(self) else 0.0

    def __iter__(self) -> Iterator[Point]:
        numbers = islice(self._numbers, self._start, self._stop)
        for row in zip(*[numbers] * _WIDTH, strict=True):
            yield _point(*row)


class SeriesRecorder:
    """Records points and returns them as a series. The recorder keeps the newest ``capacity`` points."""

    def __init__(self, capacity: int) -> None:
        self._most = capacity
        self._numbers = array("d")

    def record_point(self, point: Point) -> None:
        """Add one point. Existing series stay valid: old points are dropped by replacing the whole block.

        If the server's clock was set back, points later than the new one are removed.
        """
        if self._numbers and point.at < self._numbers[-_WIDTH]:
            later = bisect_right(self._numbers[::_WIDTH], point.at)
            self._numbers = self._numbers[: later * _WIDTH]
        if len(self._numbers) >= (self._most + self._most // 8) * _WIDTH:
            self._numbers = self._numbers[-(self._most - 1) * _WIDTH :]
        self._numbers.extend(nan if number is None else number for number in _figures(point))

    def series(self) -> Series:
        """Return the newest points. Points recorded later are not included."""
        return Series(self._numbers, max(0, len(self._numbers) - self._most * _WIDTH))


def figure_column(points: Sequence[Point], name: str) -> array[float]:
    """Return one figure of all these points. An unknown value is NaN."""
    if isinstance(points, Series):
        return points.column(name)
    known = (getattr(point, name) for point in points)
    return array("d", (nan if figure is None else figure for figure in known))


def series_span_s(points: Sequence[Point]) -> float:
    """Return the seconds from the first to the last of these points; 0 without points."""
    if isinstance(points, Series):
        return points.span_s
    return points[-1].at - points[0].at if points else 0.0


def _point(at: float, *figures: float) -> Point:
    return Point(at, *(None if isnan(figure) else figure for figure in figures))
