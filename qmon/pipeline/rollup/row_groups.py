"""Groups of rows with the same key, and sums over each group, with Arrow and without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_LARGEST_CODE: Final = 2**62

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


class RowGroups:
    """Groups of rows. The groups are sorted by their key, and the rows of a group are sorted by ``order_by``.

    All values that the methods take are sorted in this order: ``values[groups.order]``.

    Attributes:
        order: places of the sorted rows in the original rows.
        starts: place of the first row of each group, among the sorted rows.
    """

    def __init__(self, key: Sequence[npt.NDArray[Any]], order_by: Sequence[npt.NDArray[Any]] = ()) -> None:
        self.order: Places = np.lexsort((*reversed(order_by), *reversed(key)))
        new = np.zeros(len(self.order), np.bool_)
        new[:1] = True
        for each in key:
            ordered = each[self.order]
            new[1:] |= ordered[1:] != ordered[:-1]
        self.starts: Places = np.flatnonzero(new)

    @property
    def lengths(self) -> Places:
        """Number of rows of each group."""
        found: Places = np.diff(np.append(self.starts, len(self.order)))
        return found

    @property
    def ends(self) -> Places:
        """Place of the last row of each group, among the sorted rows."""
        found: Places = np.append(self.starts[1:], len(self.order))[: len(self.starts)] - 1
        return found

    def group_numbers(self) -> Places:
        """Return the number of the group of each row, in the original order of the rows."""
        numbers = np.empty(len(self.order), np.int64)
        numbers[self.order] = np.repeat(np.arange(len(self.starts)), self.lengths)
        return numbers

    def add_up(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the sum of each group."""
        return self._reduce(np.add, values)

    def add_up_known(self, values: Numbers, known: Flags) -> pa.Array:
        """Return the sum of the known values of each group. A group without known values has no sum."""
        return nullable(self.add_up(np.where(known, values, 0.0)), self._is_unknown(known))

    def maximum(self, values: Numbers, known: Flags) -> pa.Array:
        """Return the maximum of the known values of each group."""
        return nullable(self._reduce(np.maximum, np.where(known, values, -np.inf)), self._is_unknown(known))

    def minimum(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the minimum of each group."""
        return self._reduce(np.minimum, values)

    def last_place(self, known: Flags) -> Places:
        """Return the place of the last known row of each group, among the sorted rows, or -1."""
        return self._reduce(np.maximum, np.where(known, np.arange(len(known)), -1))

    def _is_unknown(self, known: Flags) -> Flags:
        found: Flags = self.add_up(known.astype(np.int64)) == 0
        return found

    def _reduce(self, how: np.ufunc, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        found: npt.NDArray[Any] = how.reduceat(values, self.starts) if len(self.starts) else values[:0]
        return found


def encode_rows(rows: pa.Table, names: Sequence[str]) -> Places:
    """Return a number for each row. Rows with greater values have greater numbers; null is the greatest value.

    ``names``: columns of text. Two rows have the same number if they have the same values in these columns.
    """
    code, limit = np.zeros(rows.num_rows, np.int64), 1
    for name in names:
        texts = rows[name].combine_chunks().dictionary_encode()
        count = len(texts.dictionary) + 1  # the last one is null
        if limit * count > _LARGEST_CODE:
            code = np.unique(code, return_inverse=True)[1]
            limit = rows.num_rows
        rank = np.empty(count, np.int64)
        rank[pc.sort_indices(texts.dictionary).to_numpy()] = np.arange(count - 1)
        rank[count - 1] = count - 1
        code = code * count + rank[texts.indices.fill_null(count - 1).to_numpy(zero_copy_only=False)]
        limit *= count
    return code


def are_first(rows: pa.Table, names: Sequence[str]) -> Flags:
    """Return for each row whether it is the first one with its values in these columns."""
    numbered = rows.append_column("row", pa.array(np.arange(rows.num_rows)))
    found = np.zeros(rows.num_rows, np.bool_)
    found[numbered.group_by(list(names)).aggregate([("row", "min")])["row_min"].to_numpy()] = True
    return found


def numbers(rows: pa.Table, name: str) -> Numbers:
    """Return a column of numbers, with NaN for unknown values."""
    found: Numbers = rows[name].cast(pa.float64()).to_numpy()
    return found


def nullable(values: npt.NDArray[Any], unknown: Flags) -> pa.Array:
    """Return values as an Arrow array, with null for unknown values."""
    return pa.array(values, mask=unknown)
