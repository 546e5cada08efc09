"""Days whose rows were deleted from the lake. No batch computes these days again, even if a segment arrives late."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

# Key of the list of deleted days among the entries of the table `samples`.
_KEY: Final = "deleted_days"


@dataclass(frozen=True, slots=True)
class DeletedDays:
    """Days (UTC) before the day ``before`` and after the day ``after``, of one target or, if ``None``, of all."""

    before: datetime.date
    after: datetime.date | None = None
    target: str | None = None

    def has_day(self, day: datetime.date) -> bool:
        """Return true if the day was deleted, for any target."""
        return day < self.before and (self.after is None or day > self.after)

    def covers(self, target: str, day: datetime.date) -> bool:
        """Return true if this day of this target was deleted."""
        return self.target in (None, target) and self.has_day(day)

    def contains(self, other: DeletedDays) -> bool:
        """Return true if these days include all days of ``other``."""
        begins_earlier = self.after is None or (other.after is not None and other.after >= self.after)
        return self.target in (None, other.target) and self.before >= other.before and begins_earlier


def read_deleted_days(entries: Mapping[str, Any]) -> tuple[DeletedDays, ...]:
    """Return the deleted days from the entries of the table ``samples``."""
    day = datetime.date.fromisoformat
    return tuple(
        DeletedDays(day(before), None if after is None else day(after), target)
        for before, after, target in entries.get(_KEY, ())
    )


def deleted_days_entry(entries: Mapping[str, Any], more: Iterable[DeletedDays]) -> Mapping[str, Any]:
    """Return the entry to commit to the table ``samples``: the deleted days in ``entries``, and ``more`` of them."""
    found: list[DeletedDays] = []
    for each in (*read_deleted_days(entries), *more):
        if not any(other.contains(each) for other in found):
            found = [*(other for other in found if not each.contains(other)), each]
    return {_KEY: [[str(each.before), None if each.after is None else str(each.after), each.target] for each in found]}
