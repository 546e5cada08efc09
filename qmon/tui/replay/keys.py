"""The keys of a replay: those of the dashboard, of which some do to the recording what they else do to the polling."""

from __future__ import annotations

from typing import Final

from textual.binding import Binding, BindingType

from qmon.tui import keys

_OFF: Final = ("faster", "slower", "poll-now", "freeze", "acknowledge", "mute")


def _key(key: str, action: str, name: str, about: str, *, id: str, shown: str = "", bar: bool = True) -> Binding:
    return Binding(key, action, name, show=bar, key_display=shown or None, tooltip=about, id=id, group=keys.READINGS)


APP: Final[list[BindingType]] = [
    _key("z", "play", "play", "Play, or stand still", id="play"),
    _key("n", "step(1)", "step", "The next snapshot", id="step"),
    _key("b", "step(-1)", "back", "The snapshot before", id="step-back", bar=False),
    _key("plus,equals_sign", "speed(1)", "faster", "Play faster", id="play-faster", shown="+", bar=False),
    _key("minus", "speed(-1)", "slower", "Play slower", id="play-slower", shown="-", bar=False),
    _key("greater_than_sign", "jump(1)", "next", "The next incident or operation", id="next-mark", shown=">"),
    _key("less_than_sign", "jump(-1)", "before", "The incident or operation before", id="last-mark", shown="<"),
    _key("at", "go_to", "go to", "Go to a time", id="go-to", shown="@"),
    _key("c", "compare", "compare", "Remember this moment, then compare it with another", id="compare"),
    *(each for each in keys.plain(keys.APP) if each.id not in _OFF),
]
"""In place of the keys of ``keys.APP``."""
