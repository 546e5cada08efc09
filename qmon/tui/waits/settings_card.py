"""The database card of screen 3: version, edition and settings, and the settings that hurt queues, with reasons."""

from __future__ import annotations

from collections.abc import Sequence

from qmon.model.formatting import count_text
from qmon.model.settings import NOT_REPORTED, Setting
from qmon.tui.spans import Line, entry_lines


def settings_lines(settings: Sequence[Setting], cells: int, *, whole: bool) -> list[Line]:
    """Return the lines of the card. The first line contains the number of settings that hurt a queue.

    If ``whole``, a line for each of these settings follows.
    """
    hurt = [each for each in settings if each.harm]
    if not whole:
        told = [_setting_text(each) for each in settings if each.value is not None and not each.harm][:2]
        many = [f"{count_text(len(hurt), 'setting')} hurt{'s' if len(hurt) == 1 else ''} a queue [i]"] if hurt else []
        return entry_lines("database", "   ".join(told + many), cells, most=1)
    fine = "   ".join(_setting_text(each) for each in settings if each.value is not None and not each.harm)
    unknown = ", ".join(each.display_name for each in settings if each.value is None)
    out = entry_lines("database", fine, cells, most=4)
    for each in hurt:
        out += entry_lines("hurts", f"{_setting_text(each)}: {each.harm}", cells, "accent", most=3)
    return out + entry_lines("unknown", f"{unknown}: {NOT_REPORTED}" if unknown else "", cells, "faint", most=3)


def _setting_text(setting: Setting) -> str:
    return f"{setting.name} {setting.value}" + (f" ({setting.object})" if setting.object else "")
