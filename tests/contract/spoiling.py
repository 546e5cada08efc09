"""Put a trap back: change an installed queue as a careless author might have written it. The fault must show."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from qmon.model.layout.layout import Layout
from tests.facts import query
from tests.queues import ENGINE, made

# Changes the installed queue of a layout in the database of a URL.
Spoil = Callable[[str, Layout], None]
# Uses a queue; true if the fault shows.
Story = Callable[[str, Layout], bool]

# Result of `trapped` if a trap is caught.
BROKEN: Final = ["broken"]


def rewritten(verb: str, pattern: str, replacement: str = "") -> Spoil:
    """Return a change that replaces each match of ``pattern`` in a routine. It fails if the body has none."""

    def spoil(url: str, layout: Layout) -> None:
        name = ENGINE.quote((layout.table.schema, f"{layout.queue}_{verb}"))
        asked = "SELECT pg_get_functiondef(CAST(CAST(? AS regproc) AS oid))"
        changed, count = re.subn(pattern, replacement, str(query(url, asked, name)[0][0]))
        assert count > 0, f"{verb} of {layout.design} has no {pattern}"
        query(url, changed)

    return spoil


def altered(*statements: str) -> Spoil:
    """Return a change that runs statements; ``{0}`` is the name of the queue."""

    def spoil(url: str, layout: Layout) -> None:
        for statement in statements:
            query(url, statement.format(layout.queue))

    return spoil


def both(*spoils: Spoil) -> Spoil:
    """Return a change that applies these one after the other."""

    def spoil(url: str, layout: Layout) -> None:
        for each in spoils:
            each(url, layout)

    return spoil


def trapped(url: str, design: str, spoil: Spoil, story: Story, *, ring_size: int = 16) -> list[str]:
    """Return which of two queues show the fault: ``sound`` as installed, ``broken`` with the trap put back."""
    shown = []
    for name in ("sound", "broken"):
        layout = made(url, design, name, ring_size=ring_size)
        if name == "broken":
            spoil(url, layout)
        if story(url, layout):
            shown.append(name)
    return shown
