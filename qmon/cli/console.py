"""Consoles that know few characters: signs become the nearest ASCII ones, other characters their numbers."""

from __future__ import annotations

import codecs
import io
import sys
from typing import Final

_SIGNS: Final = {
    "–−─━┄‑": "-", "—": "--", "…": "...", "·•◦": ".", "×✕": "x", "→›▶": ">", "←‹": "<", "≥": ">=", "≤": "<=",
    "▲△↑▴": "^", "▽▼↓▾": "v", "±": "+-", "■█▇▆▅●◆▓": "#", "◇◌○": "o", "▄▃▒": "=", "▂▁░": "_", "│┃╵╸¦‖": "|", "└├": "+",
    "▏▎▍▌▋▊▉": "|", "⏎": "Enter", "↻": "@", "✓": "v", "⇥": "Tab", "µ": "u", "«»“”„": '"', "‘’": "'", "§": "S",
}  # fmt: skip
_ASCII: Final = {ord(sign): text for signs, text in _SIGNS.items() for sign in signs}
_HANDLER: Final = "qmon-signs"


def prepare() -> None:
    """Let nothing that is printed fail for want of characters."""
    codecs.register_error(_HANDLER, _nearest)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not says_all(stream.encoding):
            stream.reconfigure(errors=_HANDLER)


def says_all(encoding: str | None) -> bool:
    """Whether a stream of this encoding takes every character."""
    return (encoding or "").lower().replace("-", "").replace("_", "").startswith("utf")


def _nearest(problem: UnicodeError) -> tuple[str, int]:
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    missing = problem.object[problem.start : problem.end]
    found = (_ASCII.get(ord(c)) or c.encode("ascii", "backslashreplace").decode() for c in missing)
    return "".join(found), problem.end
