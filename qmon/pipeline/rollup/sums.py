"""Sums, greatest and last values, and percentiles of rows that stand stretch by stretch, in numpy.

A figure has values and which of them are known; what nobody knows of a stretch is unknown, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]

SHARES: Final = (0.5, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class FigureSums:
    """One figure of each row. ``order``: the rows by their values, the lowest first."""

    values: Floats
    known: Flags
    order: Places | None = None

    @classmethod
    def of(cls, column: pa.Array) -> FigureSums:
        """From a column of Arrow's; a null is not known."""
        known: Flags = column.is_valid().to_numpy(zero_copy_only=False)
        return cls(column.fill_null(0.0).to_numpy(zero_copy_only=False), known)

    def where(self, which: Flags | Places) -> FigureSums:
        """Some rows of it, or all in another order."""
        return FigureSums(self.values[which], self.known[which])

    def only(self, which: Flags) -> FigureSums:
        """Known in these rows alone."""
        return FigureSums(self.values, self.known & which)

    def sorted(self) -> FigureSums:
        """With the order of its values, which serves for each kind of stretch."""
        return FigureSums(self.values, self.known, np.argsort(self.values, kind="stable"))


class Stretches:
    """Rows that belong together stand together: ``starts`` are the places of each stretch's first row."""

    def __init__(self, starts: Places, rows: int) -> None:
        self.starts = starts
        self.lengths: Places = np.diff(np.append(starts, rows))
        self._of = np.repeat(np.arange(len(starts)), self.lengths)

    def sum(self, values: Floats) -> Floats:
        """Of values that are known in every row."""
        found: Floats = np.add.reduceat(values, self.starts)
        return found

    def sum_known(self, figure: FigureSums, times: Floats | None = None) -> pa.Array:
        """Of what is known, each ``times`` as much."""
        values = figure.values if times is None else figure.values * times
        return _known(self.sum(np.where(figure.known, values, 0.0)), self._any(figure.known))

    def highest(self, figure: FigureSums) -> pa.Array:
        """The greatest that is known."""
        found = np.maximum.reduceat(np.where(figure.known, figure.values, -np.inf), self.starts)
        return _known(found, self._any(figure.known))

    def last(self, figure: FigureSums) -> pa.Array:
        """The newest that is known, of rows in the order of time."""
        places = np.maximum.reduceat(np.where(figure.known, np.arange(len(figure.known)), -1), self.starts)
        return _known(figure.values[places], places >= 0)

    def percentiles(self, figure: FigureSums, weights: Places) -> dict[float, pa.Array]:
        """Of each of ``SHARES``: every value stands as often as its weight says, with a straight line between
        neighbours, as Spark's exact ``percentile`` does it. No value with a weight: unknown.
        """
        order = figure.order if figure.order is not None else np.argsort(figure.values, kind="stable")
        order = order[(figure.known & (weights > 0))[order]]
        narrow = self._of.astype(np.uint16) if len(self.starts) <= np.iinfo(np.uint16).max else self._of
        order = order[np.argsort(narrow[order], kind="stable")]  # stretch by stretch, within each by value
        if not len(order):
            nothing = pa.nulls(len(self.starts), pa.float64())
            return dict.fromkeys(SHARES, nothing)
        values, of, so_far = figure.values[order], self._of[order], np.cumsum(weights[order])
        total = np.zeros(len(self.starts), np.int64)
        np.add.at(total, of, weights[order])
        before = np.cumsum(total) - total
        found = {}
        for share in SHARES:
            place = share * (np.maximum(total, 1) - 1)
            low, high = np.floor(place), np.ceil(place)
            lower, upper = (
                values[np.minimum(np.searchsorted(so_far, before + each.astype(np.int64), "right"), len(values) - 1)]
                for each in (low, high)
            )
            between = np.where(lower == upper, lower, (high - place) * lower + (place - low) * upper)
            found[share] = _known(np.where(low == high, lower, between), total > 0)
        return found

    def _any(self, flags: Flags) -> Flags:
        found: Flags = np.logical_or.reduceat(flags, self.starts)
        return found


def _known(values: npt.NDArray[Any], known: Flags) -> pa.Array:
    return pa.array(values, pa.float64(), mask=~known)
