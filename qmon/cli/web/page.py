"""Builds the page of ``qmon serve --web``, and reads the messages of the page's script.

The page contains the terminal of the library textual-serve. The page loads nothing from other sites.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any, Final
from urllib.parse import quote

# Maximum size of a terminal, in cells. A larger terminal would need much memory and time.
_MAX_SIZE: Final = {"width": 500, "height": 200}
_INVALID: Final = (ArithmeticError, LookupError, TypeError, ValueError)

# Response headers of the page and its files.
HEADERS: Final = {
    # The script sets inline styles. The page does not need fonts, scripts or connections of other sites.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src "
    "'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "clipboard-read=()",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_STYLE: Final = (
    "body{margin:0;background:#0c181f;color:#ddd;font:16px sans-serif}"
    ".textual-terminal{width:100vw;height:100vh;overflow:hidden}"
    ".starting{position:fixed;top:2em;left:2em}.-first-byte .starting,.-closed .starting{display:none}"
    ".ended{display:none;padding:2em}.-closed .ended{display:block}"
    ".-closed .textual-terminal{display:none}a{color:#8cf}"
)
# Gives the terminal the focus once the dashboard is drawn, so that keys work without a click.
_FOCUS: Final = b"""const timer = setInterval(() => {
  if (document.body.classList.contains("-first-byte")) {
    clearInterval(timer);
    document.querySelector(".xterm-helper-textarea").focus();
  }
}, 100);
"""
_HEAD: Final = '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>qmon</title>'
_PAGE: Final = (
    f'{_HEAD}<link rel="stylesheet" href="/xterm.css"><style>{_STYLE}</style>'
    '<script src="/textual.js"></script><script src="/focus.js"></script></head>'
    '<body><div class="textual-terminal" data-session-websocket-url="/ws/{name}" data-font-size="16"></div>'
    '<p class="starting">Starting …</p>'
    '<p class="ended">The dashboard has ended. <a href="/view/{name}">Open it again</a></p></body></html>\n'
)


def page_files() -> dict[str, tuple[bytes, str]]:
    """Return the files of the page with their types, by path. Raises ``ModuleNotFoundError`` without textual-serve."""
    static = resources.files("textual_serve") / "static"
    script, style = "text/javascript; charset=utf-8", "text/css; charset=utf-8"
    return {
        "/textual.js": (static.joinpath("js", "textual.js").read_bytes(), script),
        "/xterm.css": (static.joinpath("css", "xterm.css").read_bytes(), style),
        "/focus.js": (_FOCUS, script),
    }


def dashboard_page(target: str) -> bytes:
    """Return the page with the dashboard of a target."""
    return _PAGE.replace("{name}", quote(target, safe="")).encode()


def target_list(targets: Sequence[str]) -> bytes:
    """Return the page with a link to each target."""
    links = (f'<li><a href="/view/{quote(each, safe="")}">{escape(each)}</a></li>' for each in targets)
    return f"{_HEAD}<style>{_STYLE}</style></head><body><ul>{''.join(links)}</ul></body></html>\n".encode()


def driver_packet_for(message: str) -> bytes:
    """Return the packet of Textual's web driver for a message of the page. Empty for other or invalid messages."""
    try:
        kind, *values = json.loads(message)
        if kind == "stdin":
            return _packet(b"D", values[0].encode("utf-8", "replace"))
        if kind == "resize" and (size := clamp_terminal_size(values[0])):
            return _packet(b"M", json.dumps({"type": "resize"} | size).encode())
        if kind in ("focus", "blur"):
            return _packet(b"M", json.dumps({"type": kind}).encode())
    except (*_INVALID, AttributeError, RecursionError):
        pass
    return b""


def clamp_terminal_size(values: Mapping[str, Any]) -> dict[str, int]:
    """Return ``width`` and ``height`` in cells, within the limits. Empty if one of the values is not a number."""
    try:
        return {side: min(most, max(1, int(values[side]))) for side, most in _MAX_SIZE.items()}
    except _INVALID:
        return {}


def _packet(kind: bytes, payload: bytes) -> bytes:
    return struct.pack(">cI", kind, len(payload)) + payload
