"""The lists of messages of a queue. There is a list for each state that the queue's layout distinguishes."""

from __future__ import annotations

from typing import Final

from qmon.model.layout.layout import Layout
from qmon.texts import Text


class ListText(Text):
    """Why messages of a state cannot be listed."""

    RING_HAS_NO_DUE_TIME = "a ring has no due time"
    RING_HAS_NO_POP_TIME = "a ring does not record when a message was popped"
    RING_HAS_NO_BLOCKED = "a ring has no blocked messages"
    RING_HAS_NO_DEAD = "a ring has no dead messages"
    RING_HAS_NO_DONE = "a pop frees the slot, so a ring keeps no done messages"
    RING_HAS_NO_ERRORS = "a ring has no column for errors"
    LIBRARY_HAS_NO_ERRORS = "the tables of {library} have no column for the error of a message"
    NO_ERROR_COLUMN = 'no column for the last error is configured; if the table has one, set error = "…" in qmon.toml'
    NO_COLUMN_FOR_STATE = "no column of this table shows that a message is {state}"
    NO_ID = "the messages have no id"
    NO_DUE_TIME = "this table has no column for the due time"
    NO_PROGRESS = "the state column has no value for messages in progress"
    NO_START_TIME = "no column for the start time"
    NO_STATE = "this table has no state for {state} messages"
    NO_SEARCH_OF_RING = "the messages of a ring cannot be searched"
    NO_TEXT = "no column for the message or its error"


# States that may have a list, in the order in which messages pass through them.
STATES: Final = ("ready", "scheduled", "in_progress", "stuck", "blocked", "dead", "done")
_ROW_STATES: Final = {"stuck": "in_progress"}
# The list of failed and retried messages: dead messages, and messages in other states that have a last error.
FAILED: Final = "failed"
_FAILED_STATES: Final = ("dead", "in_progress", "ready", "scheduled")

# Why a ring has no list of messages in these states.
_RING_REASONS: Final = {
    "scheduled": ListText.RING_HAS_NO_DUE_TIME,
    "stuck": ListText.RING_HAS_NO_POP_TIME,
    "blocked": ListText.RING_HAS_NO_BLOCKED,
    "dead": ListText.RING_HAS_NO_DEAD,
    "done": ListText.RING_HAS_NO_DONE,
    FAILED: ListText.RING_HAS_NO_ERRORS,
}


def row_state(state: str) -> str:
    """Return the state of the rows in a list. Stuck messages have the state in progress."""
    return _ROW_STATES.get(state, state)


def listable_states(layout: Layout) -> tuple[str, ...]:
    """Return the states that may have a list for this queue."""
    return tuple(state for state in STATES if not reason_without_list(layout, state))


def failed_states(layout: Layout) -> tuple[str, ...]:
    """Return the states in which failed and retried messages of this queue are searched, dead messages first."""
    return tuple(state for state in _FAILED_STATES if not reason_without_list(layout, state))


def is_listed_descending(layout: Layout, state: str) -> bool:
    """Return whether a list is read in descending order.

    Most of a ring's messages in progress are close to its pop position.
    """
    return layout.ring is not None and state == "in_progress"


def reason_without_list(layout: Layout, state: str) -> str:
    """Return why this queue has no list of messages in a state, or an empty text if it may have such a list."""
    if state == FAILED and layout.ring is None and layout.error is None:
        library = layout.part.library if layout.part is not None and not layout.part.own else ""
        return ListText.LIBRARY_HAS_NO_ERRORS.render(library=library) if library else ListText.NO_ERROR_COLUMN
    if layout.part is not None and state == FAILED:
        return ""
    if layout.part is not None:
        there = row_state(state) in layout.part.kinds
        return "" if there else ListText.NO_COLUMN_FOR_STATE.render(state=state.replace("_", " "))
    if layout.ring is not None:
        return _RING_REASONS.get(state, "")
    if not layout.id_columns:
        return ListText.NO_ID
    states = layout.state
    if state == "scheduled" and layout.due_at is None:
        return ListText.NO_DUE_TIME
    if state in ("in_progress", "stuck") and (states is None or states.in_progress is None):
        return ListText.NO_PROGRESS
    if state == "stuck" and not layout.has_known_time(layout.started_at):
        return ListText.NO_START_TIME
    if state in ("blocked", "dead", "done") and (states is None or getattr(states, state) is None):
        return ListText.NO_STATE.render(state=state)
    return ""


def searched_texts(layout: Layout) -> tuple[str, ...]:
    """Return the parts of a message that a search of a list reads: ``payload``, ``error``."""
    return tuple(name for name in ("payload", "error") if getattr(layout, name) is not None)


def reason_without_search(layout: Layout) -> str:
    """Return why the lists of this queue cannot be searched, or an empty text if they can."""
    if layout.ring is not None:
        return ListText.NO_SEARCH_OF_RING
    return "" if searched_texts(layout) else ListText.NO_TEXT
