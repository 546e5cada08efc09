"""The database card of screen 3: version, edition and settings, and the settings that hurt queues, with reasons."""

from __future__ import annotations

from collections.abc import Sequence

from qmon.model.settings import NOT_REPORTED, Setting
from qmon.model.texts import Text
from qmon.tui.spans import Line, entry_lines


class SettingsText(Text):
    """The texts of the card."""

    ONE_HURTS = "1 setting hurts a queue [i]"
    SOME_HURT = "{count} settings hurt a queue [i]"
    HARM = "{setting}: {harm}"
    NOT_REPORTED = "{settings}: {why}"


def settings_lines(settings: Sequence[Setting], cells: int, *, whole: bool) -> list[Line]:
    """Return the lines of the card. The first line contains the number of settings that hurt a queue.

    If ``whole``, a line for each of these settings follows.
    """
    hurt = [each for each in settings if each.harm]
    if not whole:
        told = [_setting_text(each) for each in settings if each.value is not None and not each.harm][:2]
        if hurt:
            told.append(SettingsText.ONE_HURTS if len(hurt) == 1 else SettingsText.SOME_HURT.render(count=len(hurt)))
        return entry_lines("database", "   ".join(told), cells, most=1)
    fine = "   ".join(_setting_text(each) for each in settings if each.value is not None and not each.harm)
    unknown = ", ".join(each.display_name for each in settings if each.value is None)
    out = entry_lines("database", fine, cells, most=4)
    for each in hurt:
        harm = SettingsText.HARM.render(setting=_setting_text(each), harm=each.harm)
        out += entry_lines("hurts", harm, cells, "accent", most=3)
    words = SettingsText.NOT_REPORTED.render(settings=unknown, why=NOT_REPORTED) if unknown else ""
    return out + entry_lines("unknown", words, cells, "faint", most=3)


def _setting_text(setting: Setting) -> str:
    return f"{setting.name} {setting.value}" + (f" ({setting.object})" if setting.object else "")
