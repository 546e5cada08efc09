"""The keys, the palette and the help: all read the same list."""

from __future__ import annotations

import inspect
import pkgutil
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.dom import DOMNode

from qmon import manual, tui
from qmon.model.figure import Figure
from qmon.model.queue_figures import QUEUE_FIGURES
from qmon.model.reasons import Reason
from qmon.tui import keys
from qmon.tui.app import AppText, QmonApp
from qmon.tui.fleet.fleet_app import FleetApp
from qmon.tui.palette_items import PaletteItem, word_items
from qmon.tui.sanitize import text_width
from qmon.tui.screen_list import ENTRIES, ScreenEntry
from qmon.tui.shared import topics
from qmon.tui.shared.header import HeaderText
from qmon.tui.shared.help_dialog import Help, all_bindings, help_lines
from qmon.tui.shared.keybar import keybar_lines
from qmon.tui.shared.palette import Palette, PaletteHint, matching_items
from qmon.tui.themes import DARK, LIGHT, PLAIN
from qmon.tui.watched_target import DashboardTarget
from qmon.tui.widgets.button import Button
from qmon.tui.widgets.filter_bar import FilterBar
from tests.recording.days import written
from tests.tui.driving import Driver, dashboard
from tests.tui.fleet import fleet
from tests.tui.histories import shown
from tests.tui.scripted import Scripted, view
from tests.tui.scripted_acting import Script, ScriptedOffice
from tests.wordings import has

OTHER_POLL = [key for key in keys.bindings_in(keys.APP) if key.id != "poll-now"]
SCREENS = {
    "overview": [*keys.APP, *keys.OVERVIEW, *keys.GRID],
    "queue": [*keys.APP, *keys.QUEUE_SCREEN, *keys.GRID],
    "message": [*keys.MESSAGE, *OTHER_POLL, *keys.PAGER],
    "consumers": [*keys.APP, *keys.CONSUMERS, *keys.GRID],
    "failures": [*keys.FAILURES, *OTHER_POLL, *keys.GRID],
    "waits": [*keys.APP, *keys.WAITS, *keys.GRID],
    "blocking": [*keys.APP, *keys.BLOCKING, *keys.GRID],
    "history": [*keys.APP, *keys.HISTORY],
    "operations": [*keys.APP, *keys.OPERATIONS, *keys.GRID],
    "timeline": [*keys.APP, *keys.TIMELINE, *keys.GRID],
    "targets": [*keys.FLEET_APP, *keys.TARGETS, *keys.GRID],
    "all queues": [*keys.FLEET_APP, *keys.ALL_QUEUES, *keys.GRID],
}
OTHERS = {
    "overview in a replay": [*keys.REPLAY, *keys.OVERVIEW, *keys.GRID],
    "queue in a replay": [*keys.REPLAY, *keys.QUEUE_SCREEN, *keys.GRID],
    "proposal": [*keys.PROPOSAL_DIALOG, *keys.GRID],
    "columns": [*keys.COLUMN_DIALOG, *keys.GRID],
    "action": keys.ACTION_DIALOG,
}


@pytest.mark.parametrize("screen", [*SCREENS, *OTHERS])
def test_no_key_means_two_things(screen: str) -> None:
    pressed = [key for b in keys.bindings_in((SCREENS | OTHERS)[screen]) for key in b.key.split(",")]
    assert len(pressed) == len(set(pressed))


def test_a_key_means_the_same_on_every_screen() -> None:
    meaning: dict[str, str] = {}
    for bindings in SCREENS.values():
        for binding in keys.bindings_in(bindings):
            for key in binding.key.split(","):
                assert meaning.setdefault(key, binding.action) == binding.action


# The actions of bindings that change data, or open a dialog that does.
CHANGING = {"act", "next", "undo", "write"}
# The keys that change data, and the last part of the ids of their bindings.
CHANGING_KEYS = {
    "r": "requeue",
    "d": "redrive",
    "x": "purge",
    "p": "pause",
    "P": "pause-consumers",
    "u": "undo",
    "R": "repair",
    "E": "end-session",
    "W": "propose",
}


def key_bindings() -> Iterator[Binding]:
    """Every binding of every app, screen, dialog and widget of the dashboard, once per key.

    Buttons are left out, because their text explains their keys.
    """
    for found in pkgutil.walk_packages(tui.__path__, f"{tui.__name__}."):
        module = import_module(found.name)
        for _, each in inspect.getmembers(module, inspect.isclass):
            if each.__module__ == found.name and issubclass(each, DOMNode) and each is not Button:
                for binding in keys.bindings_in(vars(each).get("BINDINGS", ())):
                    for key in binding.key.split(","):
                        yield replace(binding, key=key)


def test_a_key_that_changes_data_has_no_other_meaning_anywhere() -> None:
    meanings, changing = defaultdict(set), set()
    for binding in key_bindings():
        meanings[binding.key].add((binding.id or "").rpartition(".")[2])
        if binding.group is keys.ACTING:
            changing.add(binding.key)
    assert changing == CHANGING_KEYS.keys()
    assert {key: found for key, found in meanings.items() if key in changing and len(found) > 1} == {}


def changing_keys_here(app: QmonApp) -> dict[str, str]:
    """Return the keys that change data in the current screen or dialog, with the effect of each."""
    active = app.screen.active_bindings
    return {key: (active[key].binding.id or "").rpartition(".")[2] for key in CHANGING_KEYS if key in active}


async def check_changing_keys(d: Driver, *opened: tuple[str, ...]) -> None:
    """Check the keys on this screen and in the dialogs that these keys open, one after the other."""
    for pressed in ((), *opened):
        before = d.app.screen
        await d.press(*pressed)
        assert not pressed or d.app.screen is not before, f"{pressed} opens nothing"
        assert changing_keys_here(d.app).items() <= CHANGING_KEYS.items(), pressed
        if pressed:
            await d.press("escape")


DIALOGS = (("colon",), ("t",), ("question_mark",), ("ctrl+s",))


async def test_a_key_that_changes_data_has_this_meaning_on_every_screen_and_in_every_dialog() -> None:
    async with dashboard(runner=ScriptedOffice(Script()), read_only=False) as d:
        await d.give()
        await check_changing_keys(d, *DIALOGS, ("C",), ("r",))
        assert changing_keys_here(d.app) == CHANGING_KEYS
        for entry in ENTRIES:
            await d.press(entry.digit)
            await check_changing_keys(d)
        await d.press("6")
        await d.until(lambda: d.grid.row_keys, "the operations")
        await check_changing_keys(d, ("enter",))
        await d.press("2", "enter")
        await check_changing_keys(d)
        assert changing_keys_here(d.app).keys() == {"r", "x", "u"}


async def test_a_key_that_changes_data_has_this_meaning_in_a_fleet() -> None:
    async with fleet() as d:
        await d.three()
        await check_changing_keys(d, *DIALOGS)
        for entry in FleetApp.ENTRIES:
            await d.press(entry.digit)
            await check_changing_keys(d)


async def test_a_key_that_changes_data_has_this_meaning_in_a_replay(tmp_path: Path) -> None:
    written(tmp_path, 9.0, snapshots=9.0)
    async with shown(tmp_path) as d:
        await check_changing_keys(d, *DIALOGS, ("at",))
        for entry in ENTRIES:
            await d.press(entry.digit)
            await check_changing_keys(d)


@pytest.mark.parametrize("opens", ["t", "colon", "slash"])
async def test_keys_that_change_data_are_text_in_a_chooser_and_in_the_filter(opens: str) -> None:
    script = Script()
    async with dashboard(runner=ScriptedOffice(script), read_only=False) as d:
        await d.give()
        await d.press(opens, *CHANGING_KEYS)
        assert d.app.screen.query_one(FilterBar).text == "".join(CHANGING_KEYS)
        assert not script.asked


def test_every_binding_that_changes_data_is_in_the_group_of_actions() -> None:
    found = list(key_bindings())
    of = {binding.action.partition("(")[0].removeprefix("screen.") for binding in found}
    assert of >= CHANGING
    for binding in found:
        changes = binding.action.partition("(")[0].removeprefix("screen.") in CHANGING
        assert changes is (binding.group is keys.ACTING), binding


def test_a_key_of_the_dashboard_means_the_same_in_a_replay_or_nothing() -> None:
    live = {key: b.id for b in keys.bindings_in(keys.APP) for key in b.key.split(",")}
    replay = {key: b.id for b in keys.bindings_in(keys.REPLAY) for key in b.key.split(",")}
    different = {key for key in live.keys() & replay.keys() if live[key] != replay[key]}
    assert different == {"n", "plus", "equals_sign", "minus"}, "a step, or the speed of polls or of the replay"


def test_every_key_has_an_id_a_name_a_group_and_says_what_it_does() -> None:
    for binding in all_bindings():
        assert binding.id
        assert binding.description
        assert binding.tooltip
        assert binding.group in keys.GROUPS


@pytest.mark.parametrize("cells", [80, 99, 100, 110, 120, 140, 162, 200])
@pytest.mark.parametrize("entries", [ENTRIES, FleetApp.ENTRIES], ids=["target", "fleet"])
def test_the_key_lines_name_the_screens_from_100_columns_on(cells: int, entries: tuple[ScreenEntry, ...]) -> None:
    bindings = keys.bindings_in([*keys.OVERVIEW, *keys.APP])
    lines = [
        "".join(words for words, _ in line) for line in keybar_lines(bindings, "overview", "", cells, entries=entries)
    ]
    assert [f" {each.digit} {each.title}" in lines[0] for each in entries] == [
        cells >= 100 or each.name == "overview" for each in entries
    ]
    assert len(lines) == (2 if 100 <= cells < (140 if entries is ENTRIES else 162) else 1)
    assert all(words in lines[-1] for words in ("r requeue", "? help", ": go to", "q quit"))
    assert all(text_width(line) <= cells for line in lines)


async def test_a_click_on_a_screen_or_a_key_presses_it() -> None:
    async with dashboard() as d:
        await d.give()
        screens, pressed = d.lines("keys").splitlines()
        for at in (screens.index("3 waits"), screens.index("waits") + 4):
            await d.press("1")
            await d.pilot.click("#keys", offset=(at, 0))
            await d.settle()
            assert d.app.current_mode == "waits"
        await d.press("1")
        await d.pilot.click("#keys", offset=(pressed.index("? help") + 2, 1))
        await d.settle()
        assert isinstance(d.app.screen, Help)


async def test_plus_and_minus_change_the_interval_live() -> None:
    async with dashboard() as d:
        await d.give()
        assert has(d.lines("header"), HeaderText.EVERY, duration="1.0 s")
        await d.press("minus", "minus")
        assert ("interval", 2.0) in d.source.asked
        assert ("interval", 5.0) in d.source.asked
        assert has(d.lines("header"), HeaderText.EVERY, duration="5.0 s")
        await d.press("plus", "plus", "plus", "plus", "equals_sign")
        assert d.source.interval_s == 0.5
        assert has(d.lines("header"), HeaderText.EVERY, duration="0.5 s")


async def test_n_polls_now() -> None:
    async with dashboard() as d:
        await d.give()
        assert "poll_now" not in d.source.asked
        await d.press("n")
        assert d.source.asked[-1] == "poll_now"


async def test_t_chooses_between_dark_light_and_the_other_themes() -> None:
    async with dashboard() as d:
        await d.give()
        assert d.app.theme == DARK
        await d.press("t", "down", "enter")
        assert d.app.theme == LIGHT
        assert d.app.screen.styles.background.brightness > 0.8
        await d.press("t", "escape")
        assert d.app.theme == LIGHT
        await d.press("t", "enter")
        assert d.app.theme == DARK


async def test_without_colours_no_colour_is_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with dashboard(plain=None) as d:
        await d.give()
        await d.press("t", "enter")
        assert d.app.theme == PLAIN
        for strip in d.app.screen._compositor.render_strips():
            for segment in strip:
                for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                    assert colour is None or colour.is_default, segment


async def test_the_palette_lists_every_action_with_its_key() -> None:
    async with dashboard((120, 50)) as d:
        await d.give()
        await d.press("colon")
        assert isinstance(d.app.screen, Palette)
        listed = set(d.grid.row_keys)
        expected = {b.id for b in keys.bindings_in([*keys.APP, *keys.OVERVIEW, *keys.GRID])} - {"palette"}
        assert listed == expected
        (slower,) = [b for b in keys.bindings_in(keys.APP) if b.id == "slower"]
        assert slower.tooltip in d.text()


async def test_the_palette_narrows_and_does_what_is_chosen() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("colon", *"less", "enter")
        assert ("interval", 2.0) in d.source.asked
        await d.press("colon", "down", "down", "enter")
        assert d.app.current_mode == "overview"
        await d.press("colon", *"freeze", "escape")
        assert not d.app.shown.frozen
        assert not isinstance(d.app.screen, Palette)
        await d.press("colon", *"reverse", "enter")
        assert "VERDICT▴" in d.text()


async def test_the_palette_goes_to_any_queue_by_some_of_its_letters() -> None:
    async with dashboard() as d:
        await d.give()
        for wanted, name in (("invcs", "invoices"), ("drop", '"; drop table x; --')):
            await d.press("colon", *wanted, "enter")
            assert d.app.current_mode == "queue"
            assert d.app.selected == name
        await d.press("3", "ctrl+p", *"zzzz")
        assert has(d.text(), PaletteHint.NO_MATCH)
        await d.press("enter")
        assert d.app.current_mode == "waits", "nothing was chosen"


@pytest.mark.parametrize("word", manual.ALIASES)
def test_the_palette_finds_every_word_and_the_action_behind_it(word: str) -> None:
    async def nothing(_: object = None) -> None: ...

    actions = [
        PaletteItem(each.id or "", each.key, each.description, each.tooltip, "", nothing)
        for each in keys.bindings_in(keys.QUEUE_ACTIONS)
    ]
    found = [each.name for each in matching_items([*actions, *word_items(nothing)], word)]
    assert word in found
    if manual.ALIASES[word] in {each.name for each in actions}:
        assert manual.ALIASES[word] == found[0]


async def test_the_palette_explains_a_word() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("colon", *"backlog", "enter")
        assert isinstance(d.app.screen, Help)
        assert "Ready" in d.text() or "ready" in d.text()


async def test_the_palette_offers_only_what_works_here() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("enter", "colon")
        assert "find-next" not in d.grid.row_keys
        assert "only-stuck" in d.grid.row_keys


async def test_the_help_names_every_key_and_every_sign() -> None:
    told = "\n".join("".join(t for t, _ in line) for line in help_lines(70))
    for binding in all_bindings():
        assert binding.tooltip in told
    for sign in ("~", "≥", "–", "●", "◌", "✕", "◇", "■", "▲"):
        assert sign in told
    async with dashboard((80, 24)) as d:
        await d.give()
        await d.press("h")
        assert isinstance(d.app.screen, Help)
        assert "estimated" in d.text()
        await d.press("escape")
        assert d.app.current_mode == "overview"


async def test_the_help_explains_the_queue_under_the_cursor() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("h")
        assert "r requeues messages of dead owners" in " ".join(d.text().split())
    given = next(each for each in view().queues if each.verdict.code == "stuck in progress")
    untold = replace(given, gap=Figure.unknown(Reason.IDS_NOT_NUMBERS.render(type="uuid")))
    told = ["".join(t for t, _ in line) for line in help_lines(70, topics.queue_topics(untold))]
    assert (
        told.index("stuck in progress") < told.index(Reason.IDS_NOT_NUMBERS.render(type="uuid")) < told.index("SYMBOLS")
    )
    assert not any("stuck in progress" in line for line in ["".join(t for t, _ in line) for line in help_lines(70)])


async def test_the_help_explains_the_chosen_column_first() -> None:
    async with dashboard() as d:
        await d.give()
        column = 1 + d.grid.visible_titles.index("OLDEST")
        await d.press(*["right"] * column, "question_mark")
        told = " ".join(d.lines("help-lines").split())
        assert f"OLDEST of {d.app.selected}" in told
        assert QUEUE_FIGURES[5].about in told
        assert manual.explanation_text("oldest")[:60] in told
        await d.press("escape", "right", "left", *["left"] * column, "question_mark")
        assert "OLDEST of" not in d.lines("help-lines"), "left of the first column none is chosen"


async def test_the_help_says_why_the_figure_in_the_chosen_column_is_unknown() -> None:
    given = view()
    first = next(each for each in given.queues if each.verdict.code == "stuck in progress")
    reason = Reason.IDS_NOT_NUMBERS.render(type="uuid")
    untold = replace(first, gap=Figure.unknown(reason))
    async with dashboard((200, 50)) as d:
        await d.give(replace(given, queues=tuple(untold if each is first else each for each in given.queues)))
        d.grid.select(first.name)
        await d.press(*["right"] * (1 + d.grid.visible_titles.index("GAP")), "question_mark")
        told = d.lines("help-lines").partition("stuck in progress")[0]
        assert reason in told


async def test_the_help_explains_every_known_figure_of_the_queue_screen() -> None:
    async with dashboard((120, 60)) as d:
        await d.give()
        await d.press("enter")
        shown = d.app.shown.view
        assert shown is not None
        queue = shown.queue(d.app.selected or "")
        assert queue is not None
        [told] = topics.queue_figure_topics(queue)
        assert {topic.name.rpartition(" ")[0] for topic in told.topics} >= {"ready", "push rate", "pop rate"}
        assert all(len(topic.text) > 60 for topic in told.topics), "each has its section in the manual"
        await d.press("question_mark")
        assert f"figures of {queue.name}" in d.lines("help-lines")


def test_every_figure_has_its_section_in_the_manual() -> None:
    for each in QUEUE_FIGURES:
        assert manual.explanation_text(each.screen_name), each.screen_name
        assert topics.figure_topics(each.field), each.field


async def test_figures_go_on_below_a_modal() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("h")
        d.source.give(d.source.views[7])
        await d.pilot.pause()
        await d.press("h")
        assert HeaderText.LIVE in d.lines("header")


async def test_it_ends_by_itself_if_asked_to() -> None:
    source = Scripted()
    app = QmonApp(DashboardTarget(source, source.fold), for_s=0.2)
    async with app.run_test() as pilot:
        while app.is_running:
            await pilot.pause(0.05)
    assert app.return_code == 0


@pytest.mark.parametrize("key", ["q", "ctrl+q"])
async def test_leaving(key: str) -> None:
    async with dashboard() as d:
        await d.give()
        await d.press(key)
        assert not d.app.is_running


async def test_ctrl_c_asks_before_it_leaves() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("ctrl+c")
        assert d.app.is_running
        assert has(d.said(), AppText.PRESS_AGAIN)
        await d.press("ctrl+c")
        assert not d.app.is_running


async def test_what_ctrl_c_has_asked_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qmon.tui.app.QUIT_CONFIRM_S", 0.05)
    async with dashboard() as d:
        await d.give()
        await d.press("ctrl+c")
        await d.until(lambda: not d.said(), "the question is gone")
        await d.press("ctrl+c")
        assert d.app.is_running


async def test_badges() -> None:
    async with dashboard() as d:
        await d.give()
        assert "PROD" in d.lines("header")
        assert "READ-ONLY" in d.lines("header")
    async with dashboard(prod=False, read_only=False) as d:
        await d.give()
        assert "PROD" not in d.lines("header")
