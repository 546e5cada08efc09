"""Write targets and queues in the format of ``qmon.toml``."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import replace

from qmon.model.layout.layout import Layout
from qmon.model.layout.layout_io import layout_to_dict


def target_to_toml(name: str, connect: str) -> str:
    """Return the lines of one target. ``connect`` must not contain a password."""
    return f"[target.{_format_key(name)}]\nconnect = {_format_value(connect)}\n"


def queues_to_toml(target: str, layouts: Iterable[Layout]) -> str:
    """Return the lines of the queues of a target in the given order. Each queue is one TOML table."""
    return "\n".join(queue_to_toml(target, layout_to_dict(_without_unsure_state(layout))) for layout in layouts)


def _without_unsure_state(layout: Layout) -> Layout:
    """Remove the state if no row has shown yet which value means in progress. Each connect then looks for it again."""
    state = layout.state
    unsure = state is not None and state.learnt and state.in_progress is None and layout.traits.completes
    return replace(layout, state=None) if unsure else layout


def queue_to_toml(target: str, queue: Mapping[str, object]) -> str:
    """Return the lines of a queue with these keys. A list of states or steps has one line for each of them."""
    lines = [f"{_format_key(name)} = {_format_entries(value)}" for name, value in queue.items()]
    return "\n".join([f"[[target.{_format_key(target)}.queue]]", *lines]) + "\n"


def to_comment(text: str) -> str:
    """Return the lines of a comment. Unprintable characters are escaped, so that no line break ends the comment."""
    shown = "".join(c if _is_printable(c) else f"\\x{ord(c):02x}" for c in text)
    return "".join(f"# {line}\n" for line in textwrap.wrap(shown, 116, break_long_words=False, break_on_hyphens=False))


def _format_entries(value: object) -> str:
    """Format a value. A list of tables is formatted over several lines."""
    if not isinstance(value, list) or not all(isinstance(each, Mapping) for each in value):
        return _format_value(value)
    return "[\n" + "".join(f"    {_format_value(each)},\n" for each in value) + "]"


def _format_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quote_text(name)


def _format_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_format_key(name)} = {_format_value(inner)}" for name, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_format_value(inner) for inner in value) + "]"
    return str(value) if isinstance(value, int | float) else _quote_text(str(value))


def _quote_text(text: str) -> str:
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}
    return (
        '"'
        + "".join(
            escapes.get(character) or (character if _is_printable(character) else _escape(character))
            for character in text
        )
        + '"'
    )


def _is_printable(character: str) -> bool:
    return character.isprintable()


def _escape(character: str) -> str:
    return f"\\U{ord(character):08x}"
