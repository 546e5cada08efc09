"""The database card of screen 3: version, edition and settings, and which settings hurt queues, with reasons."""

from __future__ import annotations

from collections.abc import Sequence

from qmon.model.settings import NOT_TOLD, Setting
from qmon.model.text import counted
from qmon.tui.spans import Line, entry


def lines(found: Sequence[Setting], cells: int, *, whole: bool) -> list[Line]:
    """Return the card: one line with the number of settings that hurt a queue; if ``whole``, each of them."""
    hurt = [each for each in found if each.harm]
    if not whole:
        told = [_told(each) for each in found if each.value is not None and not each.harm][:2]
        many = [f"{counted(len(hurt), 'setting')} hurt{'s' if len(hurt) == 1 else ''} a queue [i]"] if hurt else []
        return entry("database", "   ".join(told + many), cells, most=1)
    fine = "   ".join(_told(each) for each in found if each.value is not None and not each.harm)
    unknown = ", ".join(each.called for each in found if each.value is None)
    out = entry("database", fine, cells, most=4)
    for each in hurt:
        out += entry("hurts", f"{_told(each)}: {each.harm}", cells, "accent", most=3)
    return out + entry("unknown", f"{unknown}: {NOT_TOLD}" if unknown else "", cells, "faint", most=3)


def _told(found: Setting) -> str:
    return f"{found.name} {found.value}" + (f" ({found.object})" if found.object else "")
