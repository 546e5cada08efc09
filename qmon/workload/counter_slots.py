"""Counters in memory that processes share. The counters include the last commit, even of a killed process.

The memory is freed when the last process has ended, even if it was killed.
"""

from __future__ import annotations

import time
from enum import IntEnum
from typing import Final

from qmon import system
from qmon.texts import Text


class SlotText(Text):
    """Why a slot cannot be used."""

    NO_SLOT = "slot {index} does not exist; there are {count}"


class CounterField(IntEnum):
    """The counters. All count messages, except for the last three. Only one thread writes each counter."""

    PUSHED = 0
    POPPED = 1
    COMPLETED = 2
    # Messages that failed and are ready again.
    RETURNED = 3
    # Messages that failed too often and are now dead letters.
    DIED = 4
    # Messages that a keeper requeued. They are ready again.
    REQUEUED = 5
    ARCHIVED = 6
    # Requeued orphans and filled holes of a ring.
    REPAIRED = 7
    PUSH_ROLLED_BACK = 8
    POP_ROLLED_BACK = 9
    # Pops that found no message.
    EMPTY_POPS = 10
    # Pushes into a full ring.
    FULL_PUSHES = 11
    # Failed statements and lost connections.
    ERRORS = 12
    # Time of the last count, in microseconds since the epoch.
    COMMITTED_AT = 13
    # 1 while the member has a connection.
    CONNECTED = 14


SLOT_WIDTH: Final = 16
_BYTES: Final = SLOT_WIDTH * 8


class CounterSlots:
    """The shared counters: ``count`` slots of ``SLOT_WIDTH`` whole numbers, one slot for each member of each worker."""

    def __init__(self, count: int, number: int | None = None) -> None:
        """Create new counters, all zero, or open existing counters by their ``number``.

        See ``qmon.system.shared_memory``.
        """
        self.number, self._memory = system.shared_memory(max(1, count) * _BYTES, number)
        self.count = count
        # Eight bytes are written in one step, so no reader ever reads half a number.
        self._numbers = memoryview(self._memory).cast("q")

    def open_slot(self, index: int) -> CounterSlot:
        """Return the counters of one member, for writing."""
        if not 0 <= index < self.count:
            raise IndexError(SlotText.NO_SLOT.render(index=index, count=self.count))
        return CounterSlot(self._numbers[index * SLOT_WIDTH : (index + 1) * SLOT_WIDTH])

    def read_slot(self, index: int) -> tuple[int, ...]:
        """Return all counters of one slot, in the order of ``CounterField``."""
        return tuple(self._numbers[index * SLOT_WIDTH : index * SLOT_WIDTH + len(CounterField)].tolist())

    def close(self) -> None:
        """Release the memory."""
        self._numbers.release()
        self._memory.close()
        system.release_memory(self.number)


class CounterSlot:
    """The counters of one member. Only the member's thread writes these counters."""

    def __init__(self, numbers: memoryview[int]) -> None:
        self._numbers = numbers

    def add_count(self, field: CounterField, amount: int = 1) -> None:
        """Add to a counter, and record the time."""
        self._numbers[field] += amount
        self._numbers[CounterField.COMMITTED_AT] = time.time_ns() // 1000

    def set_connected(self, yes: bool) -> None:
        """Record whether the member has a connection."""
        self._numbers[CounterField.CONNECTED] = int(yes)

    def release(self) -> None:
        """Release this slot's memory. The counts are kept."""
        self._numbers.release()
