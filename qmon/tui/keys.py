"""All key bindings. The palette, the help and the key line are made from these bindings.

No key has two meanings on one screen. A key that changes data has the same meaning everywhere, including dialogs and
replays. The binding of such a key is in the group `ACTING`, and the ids of all bindings with this key have the same
part after the last dot.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from textual.binding import Binding, BindingType

from qmon.tui.screen_list import ENTRIES, FLEET_ENTRIES, ScreenEntry

SCREENS: Final = Binding.Group("Screens")
ACTING: Final = Binding.Group("Acting")
QUEUE: Final = Binding.Group("Queue")
TABLE: Final = Binding.Group("Table")
READINGS: Final = Binding.Group("Readings")
DISPLAY: Final = Binding.Group("Display")

# The groups in display order.
GROUPS: Final = (SCREENS, ACTING, QUEUE, TABLE, READINGS, DISPLAY)


# How keys with names are shown. Other keys have their own name.
_SHOWN: Final = {
    "slash": "/",
    "greater_than_sign": ">",
    "less_than_sign": "<",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "full_stop": ".",
    "comma": ",",
    "plus": "+",
    "minus": "-",
    "at": "@",
    "colon": ":",
    "question_mark": "?",
    "escape": "esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "left": "←",
    "right": "→",
    "space": "space",
    "tab": "tab",
    "enter": "enter",
    "ctrl+s": "^s",
    "ctrl+z": "^z",
}


def _key(
    key: str,
    action: str,
    name: str,
    tooltip: str,
    group: Binding.Group,
    *,
    id: str,
    shown: str = "",
    bar: bool = True,
    first: bool = False,
) -> Binding:
    """Build a binding.

    ``shown``: how the key is shown, if this does not follow from its name. ``bar``: also show the key in the key line.
    ``first``: handle the key before any later key, so that later keys go to the dialog or field that this key opens.
    """
    key_name = key.partition(",")[0]
    shown = shown or _SHOWN.get(key_name, "") or (key_name if key_name.isupper() else "")
    return Binding(
        key, action, name, show=bar, key_display=shown or None, priority=first, tooltip=tooltip, id=id, group=group
    )


def _screen_keys(entries: Iterable[ScreenEntry]) -> list[Binding]:
    return [
        _key(entry.digit, f"screen('{entry.name}')", entry.title, entry.about, SCREENS, id=entry.name, bar=False)
        for entry in entries
    ]


def bindings_in(bindings: Iterable[BindingType]) -> list[Binding]:
    """Return the entries that are ``Binding`` objects."""
    return [binding for binding in bindings if isinstance(binding, Binding)]


APP: Final[list[BindingType]] = [
    *_screen_keys(ENTRIES),
    _key("plus,equals_sign", "faster", "faster", "Poll more often", READINGS, id="faster", bar=False),
    _key("minus", "slower", "slower", "Poll less often", READINGS, id="slower", bar=False),
    _key("n", "poll_now", "now", "Poll now", READINGS, id="poll-now"),
    _key("z", "freeze", "freeze", "Freeze the display; polling continues", READINGS, id="freeze"),
    _key(
        "i",
        "screen.server_health",
        "server",
        "Show the server: the cost of polling, log, temporary space, replicas, limits, settings",
        READINGS,
        id="server-health",
    ),
    _key("t", "screen.choose_theme", "theme", "Choose a theme: dark, light or another", DISPLAY, id="theme", bar=False),
    _key(
        "a", "acknowledge", "acknowledge", "Acknowledge the alert in the banner", READINGS, id="acknowledge", bar=False
    ),
    _key("m", "mute", "mute", "Mute alerts for 15 m, 1 h or 4 h, or unmute them", READINGS, id="mute", bar=False),
    _key(
        "question_mark,h,f1",
        "screen.help",
        "help",
        "Explain this verdict, column or wait and what to do; list all keys",
        DISPLAY,
        id="help",
    ),
    _key(
        "colon,ctrl+p",
        "screen.palette",
        "go to",
        "Find a queue or an action by name",
        DISPLAY,
        id="palette",
        first=True,
    ),
    _key(
        "ctrl+s",
        "screen.save",
        "save",
        "Save the table as CSV or JSON, or the screen as SVG",
        DISPLAY,
        id="save",
        bar=False,
    ),
    _key(
        "N",
        "screen.note",
        "note",
        "Write an incident note for a handover: what was wrong, what was done, open questions",
        DISPLAY,
        id="note",
        bar=False,
    ),
    _key("q,ctrl+q", "quit", "quit", "Quit qmon", DISPLAY, id="quit", shown="q"),
    _key(
        "ctrl+c",
        "copy_or_quit",
        "copy or quit",
        "Copy the selected text; if no text is selected, press twice to quit",
        DISPLAY,
        id="copy-or-quit",
        bar=False,
    ),
    _key(
        "ctrl+z",
        "suspend_process",
        "suspend",
        "Suspend qmon; type fg in the shell to return",
        DISPLAY,
        id="suspend",
        bar=False,
    ),
]

# A replay and the history share these keys.
_JUMPS: Final[list[BindingType]] = [
    _key("greater_than_sign", "jump(1)", "next", "Go to the next incident or operation", READINGS, id="next-mark"),
    _key(
        "less_than_sign", "jump(-1)", "previous", "Go to the previous incident or operation", READINGS, id="last-mark"
    ),
]

# Replaces `APP` in a replay.
REPLAY: Final[list[BindingType]] = [
    _key("A", "play", "autoplay", "Play or pause", READINGS, id="play"),
    _key("n", "step(1)", "step", "Go to the next snapshot", READINGS, id="step"),
    _key("b", "step(-1)", "back", "Go to the previous snapshot", READINGS, id="step-back", bar=False),
    _key("plus,equals_sign", "speed(1)", "faster", "Play faster", READINGS, id="play-faster", bar=False),
    _key("minus", "speed(-1)", "slower", "Play slower", READINGS, id="play-slower", bar=False),
    *_JUMPS,
    _key("at", "go_to", "go to", "Go to a time", READINGS, id="go-to"),
    *(
        key
        for key in bindings_in(APP)
        if key.id not in ("faster", "slower", "poll-now", "freeze", "acknowledge", "mute")
    ),
]

# Replaces `APP` if several targets are watched.
FLEET_APP: Final[list[BindingType]] = [*_screen_keys(FLEET_ENTRIES), *APP]

TABLES: Final[list[BindingType]] = [
    _key(
        "slash",
        "filter",
        "filter",
        "Show only rows that contain a text; !text hides rows with the text",
        TABLE,
        id="filter",
        first=True,
    ),
    _key("s", "sort", "sort", "Sort by the next column", TABLE, id="sort"),
    _key("S", "reverse", "reverse", "Reverse the order", TABLE, id="reverse", bar=False),
    _key("escape", "back", "back", "Clear the marks or the filter, or go back", SCREENS, id="back", bar=False),
]

UNDO: Final = _key("u", "act('undo')", "undo", "Undo the last operation that can be undone", ACTING, id="undo")

QUEUE_ACTIONS: Final[list[BindingType]] = [
    _key("r", "act('requeue')", "requeue", "Requeue the stuck messages, or the marked messages", ACTING, id="requeue"),
    _key(
        "d",
        "act('redrive')",
        "redrive",
        "Retry the dead messages you choose; limits the rate, stops if too many fail again",
        ACTING,
        id="redrive",
        bar=False,
    ),
    _key("x", "act('purge')", "purge", "Move the marked messages, or dead messages, to the trash", ACTING, id="purge"),
    _key("p", "act('pause')", "pause", "Pause or resume the producers", ACTING, id="pause"),
    UNDO,
    _key(
        "P",
        "act('pause-consumers')",
        "pause consumers",
        "Pause or resume the consumers",
        ACTING,
        id="pause-consumers",
        bar=False,
    ),
    _key(
        "R",
        "act('repair')",
        "repair ring",
        "Repair a ring: fill holes and requeue orphans",
        ACTING,
        id="repair",
        bar=False,
    ),
    _key(
        "E",
        "act('end-session')",
        "end blocker",
        "End the session that blocks the most sessions",
        ACTING,
        id="end-session",
        bar=False,
    ),
]

FAILURES_KEY: Final = _key(
    "D",
    "detail('failures')",
    "failures",
    "Show why messages of this queue failed: failed and retried messages, grouped by error",
    QUEUE,
    id="failures",
    bar=False,
)

CONSUMERS_KEY: Final = _key(
    "c",
    "detail('consumers')",
    "consumers",
    "Show who works on this queue: consumers with host, messages and rate",
    QUEUE,
    id="consumers",
    bar=False,
)

COLUMNS: Final = _key("C", "choose_columns", "columns", "Choose and order columns", DISPLAY, id="columns", bar=False)
FOLD: Final = _key("H", "fold", "hide plot", "Hide or show the plot", DISPLAY, id="fold", bar=False)

PROPOSE: Final = _key(
    "W",
    "propose",
    "add queues",
    "List tables that may be queues; write marked tables to qmon.toml",
    QUEUE,
    id="propose",
    bar=False,
)

OVERVIEW: Final[list[BindingType]] = [
    *QUEUE_ACTIONS,
    *TABLES,
    FAILURES_KEY,
    CONSUMERS_KEY,
    PROPOSE,
    COLUMNS,
    FOLD,
    _key("e", "count_exactly", "exact count", "Run one exact count of this queue", QUEUE, id="count", bar=False),
]

TARGETS: Final[list[BindingType]] = list(TABLES)

ALL_QUEUES: Final[list[BindingType]] = [*QUEUE_ACTIONS, *TABLES, COLUMNS]

CONSUMERS: Final[list[BindingType]] = list(TABLES)

FAILURES: Final[list[BindingType]] = [
    *(binding for binding in bindings_in(QUEUE_ACTIONS) if binding.id in ("requeue", "redrive", "purge", "undo")),
    *TABLES,
    _key("n", "poll_now", "now", "Poll now and read the failures again", READINGS, id="poll-now", bar=False),
]

QUEUE_SCREEN: Final[list[BindingType]] = [
    *QUEUE_ACTIONS,
    _key("space", "mark", "mark", "Mark or unmark this message for requeue or purge", QUEUE, id="mark"),
    *TABLES,
    _key("e", "count_exactly", "exact count", "Run one exact count of this queue", QUEUE, id="count"),
    FAILURES_KEY,
    CONSUMERS_KEY,
    PROPOSE,
    FOLD,
    _key(
        "o", "only_stuck", "only stuck", "List only stuck messages, or all messages in progress", QUEUE, id="only-stuck"
    ),
    _key(
        "l",
        "list(1)",
        "list",
        "Show the next list: ready, scheduled, in progress, stuck, dead or done",
        QUEUE,
        id="list",
    ),
    _key("L", "list(-1)", "previous list", "Show the previous list", QUEUE, id="list-before", bar=False),
    _key(
        "full_stop",
        "turn(1)",
        "next page",
        "Go to the next page; also PgDn on the last row",
        QUEUE,
        id="next-page",
        bar=False,
    ),
    _key(
        "comma",
        "turn(-1)",
        "previous page",
        "Go to the previous page; also PgUp on the first row",
        QUEUE,
        id="page-before",
        bar=False,
    ),
    _key(
        "left_square_bracket", "neighbour(-1)", "previous", "Go to the previous queue", QUEUE, id="previous", bar=False
    ),
    _key("right_square_bracket", "neighbour(1)", "next", "Go to the next queue", QUEUE, id="next", bar=False),
]

MESSAGE: Final[list[BindingType]] = [
    *(binding for binding in bindings_in(QUEUE_ACTIONS) if binding.id in ("requeue", "purge", "undo")),
    _key("slash", "filter", "search", "Search the message", TABLE, id="search", first=True),
    _key("greater_than_sign", "jump(1)", "next", "Go to the next match", TABLE, id="find-next", bar=False),
    _key("less_than_sign", "jump(-1)", "before", "Go to the previous match", TABLE, id="find-before", bar=False),
    _key("left_square_bracket", "neighbour(-1)", "previous", "Go to the previous message", QUEUE, id="message-before"),
    _key("right_square_bracket", "neighbour(1)", "next", "Go to the next message", QUEUE, id="message-after"),
    _key("n", "poll_now", "now", "Poll now and read the message again", READINGS, id="poll-now"),
    _key("tab", "app.focus_next", "columns", "Switch between the payload and the columns", TABLE, id="other-side"),
    _key("y", "copy", "copy", "Copy the queue, message or session of the row", TABLE, id="copy"),
    _key("Y", "copy_row", "copy payload", "Copy the payload of the open message", TABLE, id="copy-payload"),
    *(binding for binding in bindings_in(TABLES) if binding.id == "back"),
]

OPERATIONS: Final[list[BindingType]] = [UNDO, *TABLES]

BLOCKING: Final[list[BindingType]] = [
    _key(
        "E",
        "act('end-session')",
        "end session",
        "End the session under the cursor, or the holder of the horizon",
        ACTING,
        id="end-session",
    ),
    *(binding for binding in TABLES if isinstance(binding, Binding) and binding.id in ("filter", "back")),
]

WAITS: Final[list[BindingType]] = [
    *bindings_in(BLOCKING),
    *(binding for binding in bindings_in(QUEUE_SCREEN) if binding.id in ("previous", "next")),
]

HISTORY: Final[list[BindingType]] = [
    _key(
        "left",
        "cursor(-1)",
        "cursor",
        "Move the cursor back; at the edge, show an earlier range",
        READINGS,
        id="cursor-left",
        shown="←→",
    ),
    _key(
        "right",
        "cursor(1)",
        "cursor right",
        "Move the cursor forward; at the edge, show a later range",
        READINGS,
        id="cursor-right",
        bar=False,
    ),
    _key(
        "space", "mark", "mark", "Mark a range from here; press again to zoom into the range", READINGS, id="mark-range"
    ),
    _key("w", "zoom(1)", "wider", "Show a longer range", READINGS, id="wider"),
    _key("v", "zoom(-1)", "narrower", "Show a shorter range", READINGS, id="narrower"),
    _key("pageup,ctrl+b", "page(-1)", "earlier", "Move half a range back", READINGS, id="earlier"),
    _key("pagedown,ctrl+f", "page(1)", "later", "Move half a range forward", READINGS, id="later", bar=False),
    _key("f", "figure(1)", "figure", "Plot the next figure", READINGS, id="figure"),
    _key("F", "figure(-1)", "previous figure", "Plot the previous figure", READINGS, id="figure-before", bar=False),
    *_JUMPS,
    _key("enter", "open", "go there", "Move the replay to the cursor", READINGS, id="go-there", bar=False),
    _key("home,g", "end(-1)", "begin", "Go to the oldest data", READINGS, id="begin", shown="g", bar=False),
    _key("end,G", "end(1)", "end", "Go to the newest data", READINGS, id="end", shown="G", bar=False),
    *(binding for binding in bindings_in(QUEUE_SCREEN) if binding.id in ("previous", "next")),
    *(binding for binding in bindings_in(TABLES) if binding.id == "back"),
]

TIMELINE: Final[list[BindingType]] = [
    *(binding for binding in bindings_in(TABLES) if binding.id in ("filter", "back")),
]

GRID: Final[list[BindingType]] = [
    _key("enter", "open", "open", "Open the row", SCREENS, id="open"),
    _key("up,k", "move(-1)", "up", "Move up one row", TABLE, id="up", shown="↑ k", bar=False),
    _key("down,j", "move(1)", "down", "Move down one row", TABLE, id="down", shown="↓ j", bar=False),
    _key("pageup,ctrl+b", "page(-1)", "page up", "Move up one page", TABLE, id="page-up", bar=False),
    _key("pagedown,ctrl+f", "page(1)", "page down", "Move down one page", TABLE, id="page-down", bar=False),
    _key(
        "left",
        "cursor(-1)",
        "previous column",
        "Select the previous column; ? explains it",
        TABLE,
        id="column-before",
        bar=False,
    ),
    _key("right", "cursor(1)", "column", "Select the next column; ? explains it", TABLE, id="column", bar=False),
    _key("y", "copy", "copy", "Copy the queue, message or session of the row", TABLE, id="copy", bar=False),
    _key("Y", "copy_row", "copy row", "Copy the whole row", TABLE, id="copy-row", bar=False),
    _key("home,g", "end(-1)", "first", "Go to the first row", TABLE, id="first", shown="g", bar=False),
    _key("end,G", "end(1)", "last", "Go to the last row", TABLE, id="last", shown="G", bar=False),
]

PAGER: Final[list[BindingType]] = [
    binding for binding in bindings_in(GRID) if binding.id in ("up", "down", "page-up", "page-down", "first", "last")
]

PALETTE: Final[list[BindingType]] = [
    Binding("escape,ctrl+p", "close", "close", id="palette.close"),
    Binding("up", "move(-1)", "up", id="palette.up"),
    Binding("down", "move(1)", "down", id="palette.down"),
]

PROPOSAL_DIALOG: Final[list[BindingType]] = [
    Binding("escape,q", "close", "close", id="proposal.close"),
    Binding("space", "mark", "mark", id="proposal.mark"),
    Binding("W", "write", "write", id="proposal.propose", group=ACTING),
]

COLUMN_DIALOG: Final[list[BindingType]] = [
    Binding("escape,q,C", "close", "close", id="choosing.close"),
    Binding("space", "mark", "show or hide", id="choosing.mark"),
    Binding("less_than_sign", "shift(-1)", "move left", id="choosing.left"),
    Binding("greater_than_sign", "shift(1)", "move right", id="choosing.right"),
    Binding("D", "usual", "default columns", id="choosing.usual"),
]

SAVE_DIALOG: Final[list[BindingType]] = [
    Binding("tab", "next_extension", "next ending", priority=True, id="save.ending")
]

HELP: Final[list[BindingType]] = [Binding("escape,h,f1,q,question_mark", "close", "close", id="help.close")]

ACTION_DIALOG: Final[list[BindingType]] = [
    Binding("escape,ctrl+c,ctrl+q", "leave", "cancel or stop", id="act.leave"),
    Binding("tab", "go(1)", "next", priority=True, id="act.next"),  # so that the field receives the next keys
    Binding("shift+tab", "go(-1)", "previous", priority=True, id="act.previous"),
    Binding("up,left", "go(-1)", "previous", id="act.up"),
    Binding("down,right", "go(1)", "next", id="act.down"),
    Binding("pageup,ctrl+b", "scroll(-1)", "page up", id="act.page-up"),
    Binding("pagedown,ctrl+f", "scroll(1)", "page down", id="act.page-down"),
    Binding("s", "sql", "show or hide the SQL", id="act.sql"),
    Binding("b", "background", "continue in the background", id="act.background"),
    Binding("u", "undo", "undo the operation", id="act.undo", group=ACTING),
    *(
        Binding(each.key, f"next('{each.id}')", each.description, id=f"act.{each.id}", group=ACTING)
        for each in bindings_in(QUEUE_ACTIONS)
        if each.id not in (UNDO.id, "end-session")
    ),
]

SESSION: Final[list[BindingType]] = [
    Binding("escape,enter,q", "close", "close", id="session.close"),
    Binding("E", "act", "end", id="session.end-session", group=ACTING),
]

SERVER_DIALOG: Final[list[BindingType]] = [Binding("escape,enter,q,i", "close", "close", id="server.close")]

TEXT_DIALOG: Final[list[BindingType]] = [Binding("escape,enter,q", "close", "close", id="details.close")]

DETAILS: Final[list[BindingType]] = [
    *TEXT_DIALOG,
    Binding("u", "act", "undo", id="details.undo", group=ACTING),
]
