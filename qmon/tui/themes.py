"""The themes: dark, light, a theme without colours for ``NO_COLOR``, and Textual's themes. Tones style spans.

Red is critical. Amber is a warning, or another state that needs action. Blue marks queues that were paused on purpose.
Grey is fine. Push, pop and depth have their own colours, which only plots use.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from rich.style import Style
from textual.color import WHITE, Color
from textual.theme import BUILTIN_THEMES, Theme

DARK: Final = "qmon-dark"
LIGHT: Final = "qmon-light"
PLAIN: Final = "qmon-plain"

Tones = Mapping[str, Style]

# The series that have their own colour in plots. Push and pop also differ in brightness.
DRAWN: Final = ("push", "pop", "depth")

_COLOURS: Final[dict[str, dict[str, str]]] = {
    DARK: {
        "background": "#15181d",
        "surface": "#1b1f26",
        "cursor": "#2a313c",
        "text": "#cdd2da",
        "strong": "#f0f2f5",
        "muted": "#98a0ac",
        "faint": "#626b78",
        "critical": "#ff6d63",
        "accent": "#f0b23c",
        "held": "#7cb7ff",
        "on_badge": "#17130a",
        "push": "#a9cdff",
        "pop": "#35a883",
        "depth": "#b48cf5",
        "area": "#2b2740",
        "push_fill": "#6f93c8",
        "pop_fill": "#2f9474",
        "depth_fill": "#8c7cb8",
        "band": "#7a828e",
        "stale": "#929aa6",
    },
    LIGHT: {
        "background": "#fbfaf7",
        "surface": "#f1efe9",
        "cursor": "#e3e0d7",
        "text": "#2b2f36",
        "strong": "#0c0e12",
        "muted": "#5a606a",
        "faint": "#84837c",
        "critical": "#b00038",
        "accent": "#8a5600",
        "held": "#1a56b0",
        "on_badge": "#fffaf2",
        "push": "#0f3d94",
        "pop": "#1c8a63",
        "depth": "#7b47c2",
        "area": "#e6dff2",
        "push_fill": "#5a7dbf",
        "pop_fill": "#2f9069",
        "depth_fill": "#8d6fc0",
        "band": "#85837c",
        "stale": "#5d636d",
    },
}


def _qmon_theme(name: str, dark: bool) -> Theme:
    c = _COLOURS[name]
    return Theme(
        name=name,
        dark=dark,
        primary=c["accent"],
        secondary=c["muted"],
        accent=c["accent"],
        warning=c["accent"],
        error=c["critical"],
        success=c["pop"],
        foreground=c["text"],
        background=c["background"],
        surface=c["surface"],
        panel=c["cursor"],
    )


def _plain_theme() -> Theme:
    names = ("primary", "secondary", "accent", "warning", "error", "success", "foreground", "background", "surface")
    colours = dict.fromkeys((*names, "panel", "boost"), "ansi_default")
    variables = {"ansi-background": "ansi_default", "ansi-foreground": "ansi_default"}
    return Theme(name=PLAIN, ansi=True, variables=variables, **colours)  # type: ignore[arg-type]  # all of these are colours


# The themes that the app registers.
THEMES: Final = (_qmon_theme(DARK, True), _qmon_theme(LIGHT, False), _plain_theme())
# The themes that users can choose from.
NAMES: Final = (DARK, LIGHT, *(name for name, theme in BUILTIN_THEMES.items() if not theme.ansi))
_LIGHT_NAMES: Final = {LIGHT, *(name for name, theme in BUILTIN_THEMES.items() if not theme.dark)}
_READABLE: Final = 4.5
_VISIBLE: Final = 3.0
_STEPS: Final = 10
_SOURCE_COLOURS: Final = (
    "background",
    "surface",
    "panel",
    "foreground",
    "primary",
    "secondary",
    "warning",
    "error",
    "success",
)


def _textual_colours(theme: Theme) -> dict[str, str]:
    """Return the colours of a theme of Textual, adjusted for enough contrast on its background and its cursor."""
    made = theme.to_color_system().generate()
    given = {name: Color.parse(made[name]) for name in _SOURCE_COLOURS}
    background, cursor, text = given["background"], given["panel"], given["foreground"]
    towards = WHITE if theme.dark else Color(0, 0, 0)

    def readable_colour(colour: Color, least: float) -> Color:
        grounds = (background, cursor) if least == _READABLE else (background,)
        steps = (colour.blend(towards, step / _STEPS) for step in range(_STEPS))
        return next((each for each in steps if min(_contrast(each, on) for on in grounds) >= least), towards)

    text = readable_colour(text, _READABLE)
    drawn = {"push": given["primary"], "pop": given["success"], "depth": given["secondary"]}
    return {
        name: colour.hex6
        for name, colour in {
            "background": background,
            "surface": given["surface"],
            "cursor": cursor,
            "text": text,
            "strong": text.blend(towards, 0.5),
            "muted": readable_colour(text.blend(background, 0.3), _READABLE),
            "faint": readable_colour(text.blend(background, 0.6), _VISIBLE),
            "critical": readable_colour(given["error"], _READABLE),
            "accent": readable_colour(given["warning"], _READABLE),
            "held": readable_colour(given["primary"], _READABLE),
            "on_badge": background,
            "area": given["secondary"].blend(background, 0.8),
            "band": readable_colour(text.blend(background, 0.5), _VISIBLE),
            "stale": readable_colour(text.blend(background, 0.35), _READABLE),
            **{name: readable_colour(colour, _READABLE) for name, colour in drawn.items()},
            **{f"{name}_fill": readable_colour(colour, _VISIBLE) for name, colour in drawn.items()},
        }.items()
    }


def _contrast(one: Color, other: Color) -> float:
    """Return the contrast ratio, 1 to 21, as WCAG 2.1 defines it."""
    least, most = sorted(map(_luminance, (one, other)))
    return (most + 0.05) / (least + 0.05)


def _luminance(colour: Color) -> float:
    each = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), each, strict=True))


def _colour_tones(colours: Mapping[str, str]) -> Tones:
    return {
        "text": Style(color=colours["text"]),
        "strong": Style(color=colours["strong"], bold=True),
        "muted": Style(color=colours["muted"]),
        "faint": Style(color=colours["faint"]),
        "title": Style(color=colours["muted"], bold=True),
        "key": Style(color=colours["strong"]),
        "accent": Style(color=colours["accent"]),
        "alarm": Style(color=colours["critical"], bold=True),
        "held": Style(color=colours["held"]),
        "badge": Style(color=colours["on_badge"], bgcolor=colours["accent"], bold=True),
        "alarm badge": Style(color=colours["on_badge"], bgcolor=colours["critical"], bold=True),
        "held badge": Style(color=colours["on_badge"], bgcolor=colours["held"], bold=True),
        "tag": Style(color=colours["text"], bgcolor=colours["cursor"]),
        "push": Style(color=colours["push"]),
        "pop": Style(color=colours["pop"]),
        "depth": Style(color=colours["depth"]),
        "band": Style(color=colours["band"]),
        "area": Style(color=colours["area"], bgcolor=colours["area"]),
        **{f"{name} fill": Style(color=colours[f"{name}_fill"]) for name in DRAWN},
        **{f"{name} on area": Style(color=colours[name], bgcolor=colours["area"]) for name in DRAWN},
        **{f"{name} fill on area": Style(color=colours[f"{name}_fill"], bgcolor=colours["area"]) for name in DRAWN},
        "cursor": Style(bgcolor=colours["cursor"]),
    }


def _plain_tones() -> Tones:
    """Return the tones without colours. Bold, dim, reverse and underline replace the colours."""
    normal, bold, dim = Style(), Style(bold=True), Style(dim=True)
    return {
        "text": normal,
        "strong": bold,
        "muted": normal,
        "faint": dim,
        "title": bold,
        "key": bold,
        "accent": bold,
        "alarm": bold,
        "held": normal,
        "badge": Style(bold=True, reverse=True),
        "alarm badge": Style(bold=True, reverse=True),
        "held badge": Style(bold=True, reverse=True),
        "tag": Style(underline=True),
        "push": bold,
        "pop": normal,
        "depth": normal,
        "band": dim,
        "area": dim,
        **{f"{name} fill": dim for name in DRAWN},
        **dict.fromkeys(("push on area", "pop on area", "depth on area"), normal) | {"push on area": bold},
        **{f"{name} fill on area": dim for name in DRAWN},
        "cursor": Style(reverse=True),
    }


def _grey_tones(fresh: Tones, grey: Style) -> Tones:
    """Return the tones for stale figures. All tones have the same grey."""
    kept = ("cursor", "faint", "area")
    fills = {name: fresh["faint"] for name in fresh if name.endswith(" fill")}
    lines = {name: grey + Style(bgcolor=fresh[name].bgcolor) for name in fresh if name.endswith(" on area")}
    return {**dict.fromkeys(fresh, grey), **{name: fresh[name] for name in kept}, **fills, **lines}


_NULL_STYLE: Final = Style.null()
_FRESH: Final[dict[str, Tones]] = {name: _colour_tones(c) for name, c in _COLOURS.items()} | {PLAIN: _plain_tones()}
_STALE: Final[dict[str, Tones]] = {
    name: _grey_tones(_FRESH[name], Style(color=c["stale"])) for name, c in _COLOURS.items()
} | {PLAIN: _grey_tones(_FRESH[PLAIN], Style(dim=True))}


@lru_cache(maxsize=64)
def tones(theme: str, *, stale: bool = False, base: Style = _NULL_STYLE) -> Tones:
    """Return the styles of a theme, keyed by tone, on top of ``base``. If ``stale``, all styles are grey."""
    return {name: base + style for name, style in _tones_for(theme, stale).items()}


@lru_cache(maxsize=8)
def _tones_for(theme: str, stale: bool) -> Tones:
    if theme in _FRESH or theme not in BUILTIN_THEMES:
        return (_STALE if stale else _FRESH).get(theme, _FRESH[DARK])
    colours = _textual_colours(BUILTIN_THEMES[theme])
    fresh = _colour_tones(colours)
    return _grey_tones(fresh, Style(color=colours["stale"])) if stale else fresh


def is_light(theme: str) -> bool:
    """Return True if the theme has a light background."""
    return theme in _LIGHT_NAMES


def is_color_disabled() -> bool:
    """Return True if ``NO_COLOR`` is set, even to an empty value (like Textual; see https://no-color.org)."""
    return "NO_COLOR" in os.environ


def is_plain(theme: str) -> bool:
    """Return True if the theme has no colours, so that shapes must carry the meaning."""
    return theme == PLAIN
