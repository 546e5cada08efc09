"""Archiving: done messages that lie in the queue's table, and whether anybody takes them out. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Archiving:
    """The done messages of one queue. ``growth``: messages per second over the last ``over_s`` seconds.

    ``silent_s``: seconds since rows were last deleted, as far as was watched; ``usual_s``: the longest time between two
    deletions seen so far, ``None`` where fewer than two were.
    """

    done: float
    growth: float
    over_s: float
    silent_s: float
    usual_s: float | None
