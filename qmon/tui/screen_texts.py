"""Texts that several screens show."""

from __future__ import annotations

from qmon.texts import Text


class ScreenText(Text):
    """A text that several screens show."""

    NO_QUEUE_SELECTED = "no queue is selected"
    QUEUE_GONE = "{queue} is no longer among the queues"
    NO_FIGURES_YET = "waiting for the first figures"
    NO_MATCH = "no {what} matches {filter}"
    READ_AGO = "read {age} ago"
    ROW_OF = "the row of {name}"
    COPIED = "copied: {what}"
    KEY_6 = "key 6 lists operations"
