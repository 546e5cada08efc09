"""Compress pictures of a terminal that Textual exports, and combine several into an animation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_BLANK: Final = re.compile(r"<text [^>]*>(?:&#160;)*\n?</text>")
_LINE: Final = re.compile(r' clip-path="url\(#[^"]*-line-\d+\)"')
_LINES: Final = re.compile(r'<clipPath id="[^"]*-line-\d+">.*?</clipPath>\s*', re.DOTALL)
_RECT: Final = re.compile(r'<rect fill="([^"]*)" x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)" ([^>]*)/>')
# Fraction of a pixel within which two cells touch.
_NEAR: Final = 0.05


def smaller(svg: str) -> str:
    """Return the same picture without blanks, and with adjacent cells of one background merged."""
    svg = _LINES.sub("", _LINE.sub("", _BLANK.sub("", svg))).replace("&#160;", "\u00a0")
    return re.sub(f"(?:{_RECT.pattern})+", _merged, svg)


def _merged(run: re.Match[str]) -> str:
    out: list[list[str]] = []
    for fill, x, y, width, *more in _RECT.findall(run[0]):
        last = out[-1] if out else None
        if last is not None and last[0] == fill and last[2] == y:
            end = float(last[1]) + float(last[3])
            if abs(end - float(x)) < _NEAR:
                last[3] = f"{end + float(width) - float(last[1]):g}"
                continue
        out.append([fill, x, y, width, *more])
    return "".join(
        f'<rect fill="{fill}" x="{x}" y="{y}" width="{width}" height="{height}" {more}/>'
        for fill, x, y, width, height, more in out
    )


def one_after_the_other(pictures: Sequence[str], each_s: float) -> str:
    """Return one picture that shows these pictures of equal size in turn, for ``each_s`` seconds each."""
    box = re.search(r'viewBox="([^"]*)"', pictures[0])
    assert box is not None
    share, whole_s = 100 / len(pictures), each_s * len(pictures)
    style = [
        f"@keyframes shown {{ 0% {{ visibility: visible }} {share:.3f}%, 100% {{ visibility: hidden }} }}",
        f".turn {{ visibility: hidden; animation: shown {whole_s:g}s step-end infinite }}",
        *(f".turn-{n} {{ animation-delay: {n * each_s:g}s }}" for n in range(1, len(pictures))),
        ".turn-0 { visibility: visible }",
    ]
    turns = "\n".join(f'<g class="turn turn-{n}">\n{picture}\n</g>' for n, picture in enumerate(pictures))
    return (
        f'<svg viewBox="{box[1]}" xmlns="http://www.w3.org/2000/svg">\n<style>\n'
        + "\n".join(style)
        + f"\n</style>\n{turns}\n</svg>\n"
    )
