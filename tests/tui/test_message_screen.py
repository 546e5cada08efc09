"""One message, opened from screen 2 and driven by keys."""

from __future__ import annotations

import json

import pytest

from qmon.errors import LockTimeout
from qmon.operate.message import MessageColumn
from qmon.tui.message.message_panel import MessagePanelText, payload_lines
from qmon.tui.message.message_screen import MessageScreen, MessageScreenText
from qmon.tui.message.payload import payload_text
from qmon.tui.queue.message_rows import ListTitle
from qmon.tui.screen_texts import ScreenText
from qmon.tui.widgets.pager import Pager, PagerText
from tests.tui.driving import Driver, dashboard, later
from tests.tui.opening import PAYLOAD, found, shown
from tests.tui.scripted_acting import Script, ScriptedOffice
from tests.wordings import has


def pager(d: Driver, name: str = "payload") -> list[str]:
    """Return the text of a side."""
    return d.app.screen.query_one(f"#{name}", Pager).plain_rows


async def test_the_whole_payload_is_one_key_away() -> None:
    script = Script(message=found())
    async with dashboard(runner=ScriptedOffice(script)) as d:
        await shown(d)
        assert script.asked == [("message", "invoices", "9120311", "app-7/61")]
        assert json.loads("".join(pager(d))) == json.loads(PAYLOAD)
        assert '      "count": 2' in pager(d)
        assert "JSON, 91 B" in d.lines("payload-heading")
        assert has(d.lines("payload-heading"), ScreenText.READ_AGO, age="0 s")
        assert "message 9120311   " in d.lines("title") and "   ▲ stuck" in d.lines("title")
        assert has(d.lines("title"), MessagePanelText.OF_QUEUE, queue="invoices")
        assert has(d.lines("title"), MessageScreenText.POSITION, number=1, count=12)
        assert "in queue 4 m 48 s   in progress 2 h 05 m   attempts 1" in d.lines("facts")
        assert has(d.lines("facts"), MessagePanelText.OWNER, owner="app-7/61")
        assert "session 61 (mailer, shop, app-7): idle in transaction for 2 h 05 m" in d.lines("facts")
        await d.press("escape")
        assert d.app.current_mode == "queue"
        assert not isinstance(d.app.screen, MessageScreen)


async def test_every_column_with_its_type_and_nothing_that_a_terminal_obeys() -> None:
    async with dashboard((120, 60), runner=ScriptedOffice(Script(message=found()))) as d:
        await shown(d)
        lines = [line.strip() for line in pager(d, "columns")]
        assert lines[:4] == ["id  bigint", "9120311", "status  text", "in_progress"]
        assert "[red]x[/] ␛[31mALARM␇�" in lines
        assert "00 01 fe ff" in lines
        assert lines[lines.index("nothing  inet") + 1] == "NULL"
        told = " ".join(lines)
        assert has(told, MessagePanelText.NOT_ALLOWED) and "GRANT SELECT" in told
        assert "\x1b" not in d.text()


async def test_the_next_message_and_the_one_before_to_the_ends_of_the_list() -> None:
    script = Script(message=found())
    async with dashboard(runner=ScriptedOffice(script)) as d:
        await shown(d)
        await d.press("left_square_bracket")
        assert has(d.said(), MessageScreenText.FIRST)
        await d.press("right_square_bracket", "right_square_bracket")
        assert has(d.lines("title"), MessageScreenText.POSITION, number=3, count=12)
        assert [each[2] for each in script.asked] == ["9120311", "9120324", "9120337"]
        await d.press("left_square_bracket")
        assert "message 9120324" in d.lines("title")


async def test_a_search_goes_from_place_to_place() -> None:
    text = "\n".join(f"line {n} {'NEEDLE' if n % 100 == 50 else ''}" for n in range(1_000))
    async with dashboard((80, 24), runner=ScriptedOffice(Script(message=found(text)))) as d:
        await shown(d)
        assert pager(d)[0] == "line 0 "
        await d.press("slash", *"needle", "enter")
        assert has(d.lines("payload-heading"), MessageScreenText.FOUND, number=1, count=10)
        assert "line 50 NEEDLE" in pager(d)
        await d.press("greater_than_sign", "greater_than_sign")
        assert "line 250 NEEDLE" in pager(d)
        await d.press("less_than_sign", "less_than_sign", "less_than_sign")
        assert "line 950 NEEDLE" in pager(d)
        assert has(d.lines("payload-heading"), MessageScreenText.FOUND, number=10, count=10)
        await d.press("escape")
        assert not has(d.lines("payload-heading"), MessageScreenText.FOUND)
        assert isinstance(d.app.screen, MessageScreen)


async def test_it_scrolls_by_rows_screens_and_to_its_ends() -> None:
    text = "\n".join(f"line {n}" for n in range(1_000))
    async with dashboard((80, 24), runner=ScriptedOffice(Script(message=found(text)))) as d:
        await shown(d)
        await d.press("down", "j")
        assert pager(d)[0] == "line 2"
        assert has(d.lines("payload-heading"), PagerText.LINES, first=3, count=1_000)
        await d.press("end")
        assert pager(d)[-1] == "line 999"
        await d.press("pageup")
        assert pager(d)[-1] != "line 999"
        await d.press("g")
        assert pager(d)[0] == "line 0"
        await d.press("tab", "down")
        assert pager(d)[0] == "line 0"
        assert pager(d, "columns")[0] == "  9120311"


async def test_a_cut_payload_says_how_long_it_is() -> None:
    script = Script(message=found("x" * 5_000, cut=True, size=5_242_880))
    async with dashboard(runner=ScriptedOffice(script)) as d:
        await shown(d)
        assert f"text, 5.0 MB{MessagePanelText.CUT}" in d.lines("payload-heading")


async def test_it_is_read_again_on_a_key_and_not_by_itself() -> None:
    script = Script(message=found())
    async with dashboard(runner=ScriptedOffice(script)) as d:
        await shown(d)
        await d.give(later(1.0, sequence=2))
        await d.wait(9.4)
        assert has(d.lines("payload-heading"), ScreenText.READ_AGO, age="9 s")
        assert len(script.asked) == 1
        await d.press("n")
        just_read = ScreenText.READ_AGO.render(age="0 s")
        await d.until(lambda: len(script.asked) == 2 and just_read in d.lines("payload-heading"))


async def test_one_that_is_gone_or_locked_says_so_with_what_the_list_knew() -> None:
    script = Script()
    async with dashboard(runner=ScriptedOffice(script)) as d:
        await shown(d)
        assert has(" ".join(pager(d)), MessageScreenText.GONE)
        assert "gone" in d.lines("title")
        assert has(d.lines("payload-heading"), ScreenText.READ_AGO, age="0 s")
        assert '  {"to": "ada@example.org", "template": "welcome"}'[:40] in "".join(pager(d, "columns"))
        script.fault = LockTimeout("locked by session 61 (mailer)")
        await d.press("n")
        await d.until(lambda: "locked by session 61 (mailer)" in " ".join(pager(d)))
        script.fault, script.message = None, found()
        await d.press("n")
        await d.until(lambda: '  "to": "ada@example.org",' in pager(d))


async def test_without_a_connection_it_says_why() -> None:
    async with dashboard() as d:
        await shown(d)
        assert has(" ".join(pager(d)), MessageScreenText.VIEW_ONLY)
        assert "ada@example.org" in " ".join(pager(d, "columns"))


async def test_id_and_payload_are_copied() -> None:
    async with dashboard(runner=ScriptedOffice(Script(message=found('{"a":\n\t"\x1b"}')))) as d:
        await shown(d)
        await d.press("y")
        assert d.app.clipboard == "9120311"
        await d.press("Y")
        assert d.app.clipboard == '{"a":\n\t"␛"}'


async def test_text_is_selected_with_the_mouse_and_copied() -> None:
    async with dashboard(runner=ScriptedOffice(Script(message=found()))) as d:
        await shown(d)
        payload = d.app.screen.query_one("#payload", Pager)
        await d.pilot.mouse_down(payload, offset=(3, 1))
        await d.pilot.hover(payload, offset=(11, 1))
        await d.pilot.mouse_up(payload, offset=(11, 1))
        await d.settle()
        await d.press("ctrl+c")
        assert d.app.clipboard == '"to": "ad'
        assert d.app.is_running


@pytest.mark.parametrize("digit", ["1", "2", "3"])
async def test_a_digit_leaves_the_message(digit: str) -> None:
    async with dashboard(runner=ScriptedOffice(Script(message=found()))) as d:
        await shown(d)
        await d.press(digit)
        assert not isinstance(d.app.screen, MessageScreen)
        await d.press("2")
        assert not isinstance(d.app.screen, MessageScreen)
        assert ListTitle.IN_PROGRESS in d.text()


async def test_an_action_is_on_this_message_alone() -> None:
    script = Script(message=found())
    async with dashboard(runner=ScriptedOffice(script), read_only=False) as d:
        await shown(d)
        await d.press("r")
        kind, queue, choice = script.asked[-1][:3]
        assert (str(kind), queue, choice.ids) == ("requeue", "invoices", ("9120311",))  # type: ignore[attr-defined]


def test_names_in_json_are_told_from_values() -> None:
    column = MessageColumn("payload", "json")
    lines = payload_lines(column, payload_text('{"to": "ada: \\"x\\"", "a \\"b\\":": [1]}'))
    assert [line.text[: line.name].strip() for line in lines] == ["", '"to":', '"a \\"b\\":":', "", "", ""]
    assert {line.name for line in payload_lines(column, payload_text('"to": no JSON'))} == {0}
