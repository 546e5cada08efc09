"""The dialog of a confirmed action: progress, its end, and the next steps it offers; at 80 x 24."""

from __future__ import annotations

from dataclasses import replace

from textual.message import Message
from textual.message_pump import MessagePump

from qmon.errors import ConnectionLost
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.operation_records import Choice, OperationKind
from qmon.operate.context import Permission
from qmon.tui.action_runner import Ended, EndedText
from qmon.tui.actions.action_dialog import ActionDialog, DialogStep
from qmon.tui.actions.dialog_text import StepText
from qmon.tui.app import AppText
from qmon.tui.shared.banner import BannerText
from tests.tui.asking import asked, dialog, reach
from tests.tui.scripted import TAKEN_AT, view
from tests.tui.scripted_acting import Script, ScriptedOffice, ScriptedOperator
from tests.wordings import has


async def test_the_next_action_begins_in_the_dialog_of_one_that_has_ended() -> None:
    script = Script()
    script.goes.set()
    async with asked(script, "p") as d:
        await d.press("p")
        assert script.asked[-1][0] is OperationKind.PAUSE and len(script.asked) == 1, "not before it is confirmed"
        await d.press("left", "enter")
        await d.until(lambda: dialog(d).step is DialogStep.ENDED, "the end")
        await d.press("r")
        await d.until(
            lambda: script.asked[-1][0] is OperationKind.REQUEUE and dialog(d).step is DialogStep.CONFIRM, "the next"
        )


async def test_the_mouse_confirms_and_stops() -> None:
    script = Script()
    async with asked(script, "r") as d:
        await d.pilot.click("#act-do")
        await d.until(lambda: dialog(d).step is DialogStep.APPLYING, "applying")
        await d.pilot.click("#act-close")
        await d.until(lambda: dialog(d).step is DialogStep.ENDED, "stopped")
        assert "stopped after" in d.text()
        await d.pilot.click("#act-close")
        await d.settle()
        assert not isinstance(d.app.screen, ActionDialog)


async def test_one_key_stops_and_what_was_done_is_said() -> None:
    script = Script()
    async with asked(script, "r") as d:
        await reach(d, "act-do")
        await d.press("enter", "escape")
        await d.until(lambda: dialog(d).step is DialogStep.ENDED, "the end")
        assert "done 602" in d.text()


async def test_an_operation_that_breaks_off_says_what_was_done() -> None:
    script = Script(breaks=ConnectionLost("the server closed the connection"))
    async with asked(script, "r") as d:
        await reach(d, "act-do")
        await d.press("enter")
        await d.until(lambda: "602" in d.text(), "progress")
        script.goes.set()
        await d.until(lambda: dialog(d).step is DialogStep.ENDED, "the end")
        assert "the server closed the connection" in d.text()
        assert has(d.lines("act-text"), StepText.PARTLY_DONE, done=602)


async def test_what_the_operator_refuses_at_the_last_moment_can_be_corrected() -> None:
    script = Script(refuses="a pause needs a reason, which everybody sees; nothing was changed")
    async with asked(script, "r") as d:
        await reach(d, "act-do")
        await d.press("enter")
        await d.until(lambda: "a pause needs a reason" in d.text(), "the reason")
        assert dialog(d).step is DialogStep.CONFIRM
        script.refuses = ""
        script.goes.set()
        await d.press(*"why")
        await reach(d, "act-do")
        await d.press("enter")
        await d.until(lambda: dialog(d).step is DialogStep.ENDED, "the end")
    assert [p.reason for p in script.permissions] == ["", "why"]


async def test_the_end_shows_figures_of_a_later_poll_beside_those_before() -> None:
    script = Script()
    async with asked(script, "r") as d:
        await reach(d, "act-do")
        await d.press("enter")
        script.goes.set()
        await d.until(lambda: dialog(d).step is DialogStep.ENDED, "the end")
        assert has(d.lines("act-text"), StepText.WAITING_FOR_POLL)
        fresh = [replace(q, stuck=replace(q.stuck, value=0.0)) for q in view().queues]
        await d.give(replace(view(fresh, sequence=8, at=3.0), taken_at=TAKEN_AT + 3.0))
        assert has(d.lines("act-text"), StepText.FIGURE, figure="stuck", now="0", before="7")


async def test_b_lets_it_go_on_in_the_background_and_its_end_is_told() -> None:
    script = Script()
    async with asked(script, "r") as d:
        await d.press("left", "enter")
        await d.until(lambda: dialog(d).step is DialogStep.APPLYING, "applying")
        await d.press("b")
        assert not isinstance(d.app.screen, ActionDialog)
        for screen in "1237":
            await d.press(screen)
            assert "◆ RUNNING  Requeue 1,204 messages of invoices  50 %" in d.lines("under-way")
            assert has(d.lines("under-way"), BannerText.TIME_LEFT, duration="2.3 s")
        await d.press("q")
        assert has(d.said(), AppText.STILL_RUNNING, operations="Requeue 1,204 messages of invoices")
        assert d.app.is_running
        script.goes.set()
        await d.until(lambda: has(d.said(), EndedText.RESULT, state="done", done=1_201, count=1_204, why=""), "its end")
        assert ("poll_now", "invoices") in d.source.asked
        assert "RUNNING" not in d.text()


class Told(MessagePump):
    """A receiver of messages that keeps the ends of operations, read or not."""

    def __init__(self) -> None:
        super().__init__()
        self.ends: list[Ended] = []

    def post_message(self, message: Message) -> bool:
        """Keep the end of an operation."""
        if isinstance(message, Ended):
            self.ends.append(message)
        return True


async def test_an_end_that_nobody_has_read_is_told_to_who_takes_over() -> None:
    script, first, second = Script(), Told(), Told()
    script.goes.set()
    task = ScriptedOffice(script).new_task(first)
    prepared = ScriptedOperator(script).requeue(
        Layout("mails", "fifo", ObjectName("public", "mails"), id="id"), Choice()
    )
    task.start_applying(prepared, Permission("", ""))
    assert task.thread is not None
    task.thread.join(120)
    task.move_to_background(second)
    assert [each.result_text() for each in second.ends] == [each.result_text() for each in first.ends]
    assert second.ends[0].has_succeeded


async def test_u_undoes_what_was_just_done_where_the_dialog_offers_it() -> None:
    script = Script()
    script.goes.set()
    async with asked(script, "x") as d:
        assert not has(d.lines("act-text"), StepText.CAN_UNDO)
        await d.press("u")
        assert dialog(d).step is DialogStep.CONFIRM, "not before it is done"
        await d.press("left", "enter")
        await d.until(lambda: dialog(d).step is DialogStep.ENDED, "the end")
        assert has(d.lines("act-text"), StepText.CAN_UNDO)
        await d.press("u")
        await d.until(lambda: script.asked[-1][0] is OperationKind.UNDO, "the undo is planned")
        await d.until(lambda: dialog(d).step is DialogStep.CONFIRM, "the plan")
        assert "[> Cancel <]" in d.text()
