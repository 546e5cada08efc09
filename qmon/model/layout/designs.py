"""The names and properties of the queue designs that qmon knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True, slots=True)
class Traits:
    """Properties of every queue of one design.

    Attributes:
        article: author of the article that describes the design.
        essence: description of the design in one line.
        deletes_on_pop: true if the consumer's transaction deletes a popped row. A message is then in progress while the
            transaction is open.
        order: the order in which pops take messages.
        completes: true if a popped message stays until it is completed.
        binary: true if messages are bytes, false if messages are text.
    """

    article: str
    essence: str
    deletes_on_pop: bool
    order: Literal["fifo", "lifo", "due", "any"]
    completes: bool
    binary: bool = False


# Every design, keyed by name. Sources: Kejser 2012, Rusanu 2010, Buschmann 2019, Al Zabir 2010.
TRAITS: Final[dict[str, Traits]] = {
    "naive": Traits("Kejser", "INSERT and DELETE, ordered by a sequence number", True, "fifo", False),
    "ring": Traits("Kejser", "preallocated slots, push and pop sequences, a turn for each slot", False, "fifo", False),
    "ring_subscribers": Traits(
        "Kejser", "the ring for several subscribers, each of which reads every message", False, "fifo", False
    ),
    "ring_classic": Traits("Kejser", "the ring as published, without turns, for comparison only", False, "fifo", False),
    "ring_pointer": Traits("Kejser", "a ring of pointers, payloads in tables by message id", False, "fifo", False),
    "heap": Traits("Rusanu", "any order, skips locked rows", True, "any", False, binary=True),
    "fifo": Traits("Rusanu", "ordered by identity, skips locked rows (lax order)", True, "fifo", False, binary=True),
    "strict_fifo": Traits("Rusanu", "one pop at a time, in commit order", True, "fifo", False, binary=True),
    "lifo": Traits("Rusanu", "a stack: newest first", True, "lifo", False, binary=True),
    "pending": Traits("Rusanu", "a due time; pops only due messages", True, "due", False, binary=True),
    "status": Traits(
        "Buschmann", "a state column: ready, in progress; completed rows are deleted", False, "fifo", True, binary=True
    ),
    "flag": Traits("Rusanu", "a processed flag as the first key column; a pop sets it", False, "fifo", False),
    "batch_single": Traits(
        "Al Zabir", "one wide table, select-then-update batches, as a slow reference", False, "fifo", True
    ),
    "batch_split": Traits(
        "Al Zabir", "small meta rows, payloads in another table, select-then-update batches", False, "fifo", True
    ),
    "batch_fast": Traits(
        "Al Zabir", "small meta rows, payloads in another table, one UPDATE per batch", False, "fifo", True
    ),
    "service_broker": Traits("Rusanu", "SQL Server's built-in queues", False, "fifo", True),
}

# Properties of the queues of a group (`model.groups`). qmon did not design these tables.
GROUP_TRAITS: Final = Traits("", "rows with states defined by conditions", False, "any", True)
