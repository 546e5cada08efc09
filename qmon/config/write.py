"""Writes targets and queues in the format of ``qmon.toml``."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import replace

from qmon.model.layout.io import layout_to_dict
from qmon.model.layout.layout import Layout


def target_to_toml(name: str, connect: str) -> str:
    """Return the lines of one target. ``connect`` must not contain a password."""
    return f"[target.{_key(name)}]\nconnect = {_value(connect)}\n"


def queues_to_toml(target: str, layouts: Iterable[Layout]) -> str:
    """Return the lines of the queues of a target, one table each, in the given order."""
    return "\n".join(queue_to_toml(target, layout_to_dict(_learnt_again(layout))) for layout in layouts)


def _learnt_again(layout: Layout) -> Layout:
    """Remove the state if no row has shown yet which value means in progress: each connect looks again."""
    state = layout.state
    unsure = state is not None and state.learnt and state.in_progress is None and layout.traits.completes
    return replace(layout, state=None) if unsure else layout


def queue_to_toml(target: str, queue: Mapping[str, object]) -> str:
    """Return the lines of a queue with these keys. A list of states has one line for each."""
    lines = [f"{_key(name)} = {_rows(value) if name == 'state' else _value(value)}" for name, value in queue.items()]
    return "\n".join([f"[[target.{_key(target)}.queue]]", *lines]) + "\n"


def comment(text: str) -> str:
    """Return the lines of a comment. Unprintable characters are escaped, so a line break cannot end the comment."""
    shown = "".join(c if _plain(c) else f"\\x{ord(c):02x}" for c in text)
    return "".join(f"# {line}\n" for line in textwrap.wrap(shown, 116, break_long_words=False, break_on_hyphens=False))


def _rows(value: object) -> str:
    """Format a list of states over several lines."""
    if not isinstance(value, list):
        return _value(value)
    return "[\n" + "".join(f"    {_value(each)},\n" for each in value) + "]"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_value(inner)}" for name, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_value(inner) for inner in value) + "]"
    return str(value) if isinstance(value, int | float) else _text(str(value))


def _text(text: str) -> str:
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
    return (
        '"'
        + "".join(
            escapes.get(character) or (character if _plain(character) else _escaped(character)) for character in text
        )
        + '"'
    )


def _plain(character: str) -> bool:
    return character.isprintable()


def _escaped(character: str) -> str:
    return f"\\U{ord(character):08x}"
