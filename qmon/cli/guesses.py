"""Rewrites other spellings of commands and options, and gives hints for commands and options that do not exist."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qmon.texts import Text


class GuessText(Text):
    """Advice after a mistyped command or option."""

    SERVE_QUEUE = (
        "qmon serve has no --queue: it reads all queues of a target; choose a queue when you connect: qmon connect URL"
        " --queue QUEUE"
    )
    NO_COMMAND = "no such command {name!r}; use: {hint}"


# Other names for commands, from similar programs.
ALIASES: Final[dict[str, tuple[str, ...]]] = {
    "ls": ("queues",),
    "list": ("queues",),
    "watch": ("connect",),
    "top": ("connect",),
    "open": ("connect",),
    "dashboard": ("connect",),
    "stats": ("status",),
    "retry": ("requeue", "--state", "dead"),
    "delete": ("purge",),
    "stop": ("pause",),
    "start": ("resume",),
    "kill": ("end-session",),
    "history": ("operations",),
    "audit": ("operations",),
    "metrics": ("serve",),
    "version": ("--version",),
    "man": ("help",),
}
# Commands that do not exist, each with the command to use instead.
HINTS: Final[dict[str, str]] = {
    **{name: f"qmon design {name}" for name in ("archive", "bench", "install", "load", "show", "uninstall")},
    **{name: f"qmon pipeline {name}" for name in ("run", "baselines", "messages", "tidy", "views", "forget")},
    **dict.fromkeys(("designs", "design-list"), "qmon design list"),
    **dict.fromkeys(("redrive", "dlq", "dead", "failed", "replay-dead"), "qmon requeue TARGET QUEUE --state dead"),
    **dict.fromkeys(("stuck", "release"), "qmon requeue TARGET QUEUE"),
    **dict.fromkeys(("ps", "depth", "info", "show-queues", "get", "describe"), "qmon status TARGET"),
    **dict.fromkeys(("tail", "follow", "monitor", "peek", "browse"), "qmon connect TARGET"),
    **dict.fromkeys(("clear", "drop", "empty", "flush"), "qmon purge TARGET QUEUE"),
    **dict.fromkeys(("blockers", "locks", "sessions"), "qmon connect TARGET, then qmon end-session TARGET SESSION"),
    **dict.fromkeys(("config", "configure", "add"), "qmon init TARGET"),
    **dict.fromkeys(("roles", "grant", "rights"), "qmon setup TARGET"),
    **dict.fromkeys(("test", "ping", "diagnose"), "qmon doctor TARGET"),
    "restore": "qmon undo TARGET OPERATION",
    "gate": "qmon setup TARGET --gate QUEUE",
    "notify": "qmon check --test-notice NAME",
    "alerts": "qmon check TARGET",
    "libraries": "qmon help libraries",
    "dsn": "qmon targets",
    "tour": "qmon demo --tour",
}
# Options that some commands do not have, each with advice on what to do instead.
_OPTION_HINTS: Final = {("serve", "--queue"): GuessText.SERVE_QUEUE}
_TARGET_OPTIONS: Final = ("--dsn", "--url", "--uri")


def hint_for(name: str, arguments: Sequence[str] = ()) -> str:
    """Return the error message for a command or option that does not exist. Empty if qmon has no hint for it."""
    for text in arguments:
        if hint := _OPTION_HINTS.get((name, text.partition("=")[0])):
            return hint
    return GuessText.NO_COMMAND.render(name=name, hint=HINTS[name]) if name in HINTS else ""


def rewrite_arguments(arguments: Sequence[str]) -> list[str]:
    """Return a command line in qmon's own spelling.

    ``--json`` becomes ``--output json``, and ``--dsn URL`` becomes the target ``URL``. As the first argument, ``--dsn
    URL`` opens the dashboard. Arguments after ``--`` are not changed.
    """
    own = list(arguments)
    end = own.index("--") if "--" in own else len(own)
    found: list[str] = []
    for text in own[:end]:
        name, symbol, value = text.partition("=")
        if text == "--json":
            found += ["--output", "json"]
        elif name in _TARGET_OPTIONS:
            if not found:
                found.append("connect")
            found += [value] if symbol else []
        else:
            found.append(text)
    return found + own[end:]
