"""The dialog of an action over a scripted operator: every step, by keyboard alone and with the mouse, at 80 x 24."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.message import Message
from textual.message_pump import MessagePump
from textual.widgets import Input

from qmon.errors import BadInput, ConnectionLost, PermissionMissing
from qmon.model.layout.layout import Layout, TableName
from qmon.model.operations import Choice, Kind, OwnerState, Plan, RedriveLimits
from qmon.operate.context import Permission
from qmon.tui.action_runner import Ended
from qmon.tui.actions.dialog import ActionDialog, DialogStep
from qmon.tui.actions.plan import effort
from qmon.tui.widgets.button import Button
from tests.tui.driving import Driver, dashboard
from tests.tui.scripted import TAKEN_AT, queue, view
from tests.tui.scripted_acting import Script, ScriptedOffice, ScriptedOperator, plan, typed_plan

SMALL = (80, 24)
EVIL = '[red]"; drop table x; -- 🎉[/]'


@asynccontextmanager
async def asked(
    script: Script, *keys: str, size: tuple[int, int] = SMALL, step: DialogStep = DialogStep.CONFIRM
) -> AsyncIterator[Driver]:
    """The dashboard with figures, after these keys, with the dialog at a step."""
    async with dashboard(size, runner=ScriptedOffice(script), read_only=False) as d:
        await d.give()
        await d.press(*keys)
        await d.until(
            lambda: isinstance(d.app.screen, ActionDialog) and dialog(d).step is step, f"the dialog at {step}"
        )
        yield d
        script.planning.set()
        script.goes.set()


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.9, "less than a second"), (1.0, "about 1.0 s"), (90.0, "about 1 m 30 s")]
)
def test_what_an_action_takes(seconds: float, words: str) -> None:
    made = plan(Kind.REQUEUE, "mails", seconds=seconds)
    assert effort(made) == f"1,204 messages in batches of 500, {words}"
    assert effort(replace(made, count=1)) == f"1 message, {words}"


def dialog(d: Driver) -> ActionDialog:
    """The dialog in front."""
    assert isinstance(d.app.screen, ActionDialog)
    return d.app.screen


async def reach(d: Driver, id: str) -> None:
    """Move the focus there by the tab key alone."""
    for _ in range(8):
        focused = d.app.screen.focused
        if focused is not None and id in (focused.id, getattr(focused.parent, "id", None)):
            return
        await d.press("tab")
    raise AssertionError(f"tab does not reach {id}")


async def test_a_plan_says_everything_and_cancel_has_the_focus() -> None:
    script = Script()
    async with asked(script, "r", size=(120, 40)) as d:
        told = d.text()
        for part in (
            "Requeue 1,204 messages of invoices", "orders-prod", "PROD", "in progress for more than 5 m",
            "3 owner alive · 12 locked", "in batches of 500, about 2.4 s", "can be partly undone: what is popped again",
            "▲ a popper that still works", "88123", "app-7/61 dead", "… and 1,198 more", "reason",
            "[> Cancel <]",
        ):  # fmt: skip
            assert part in told, part
        assert script.asked == [(Kind.REQUEUE, "invoices", Choice())]
        assert 'UPDATE "demo".' not in told
        await d.press("s")
        assert 'UPDATE "demo".' in d.text()
        await d.press("s")
        assert 'UPDATE "demo".' not in d.text()
        await d.press("enter")
        assert not isinstance(d.app.screen, ActionDialog)
    assert script.permissions == []


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        (("r",), Kind.REQUEUE), (("x",), Kind.PURGE), (("p",), Kind.PAUSE), (("P",), Kind.PAUSE), (("u",), Kind.UNDO),
        (("down", "down", "R"), Kind.REPAIR), (("E",), Kind.END_BLOCKER),
    ],
)  # fmt: skip
async def test_every_dialog_works_by_keyboard_at_80_by_24_and_cancel_is_the_default(
    keys: tuple[str, ...], kind: Kind
) -> None:
    script = Script(make=typed_plan)
    script.goes.set()
    async with asked(script, *keys) as d:
        assert script.asked[-1][0] is kind
        assert "[> Cancel <]" in d.text()
        assert d.app.screen.focused is not None
        assert d.app.screen.focused.id == "act-close"
        await reach(d, "act-reason")
        await d.press(*"why")
        await reach(d, "act-typed")
        shown = dialog(d).plan
        assert shown is not None
        await d.press(*("space" if each == " " else each for each in shown.queue))
        await reach(d, "act-do")
        await d.press("enter")
        await d.until(lambda: dialog(d).step is DialogStep.ENDED, "the end")
        await d.press("enter")
        assert not isinstance(d.app.screen, ActionDialog)
    assert [p.reason for p in script.permissions] == ["why"]


async def test_where_the_name_is_asked_for_a_reason_is_too_for_every_action() -> None:
    script = Script(make=typed_plan)
    async with asked(script, "p") as d:
        assert "needed: why" in d.text()
        await reach(d, "act-typed")
        await d.press(*"invoices")
        await reach(d, "act-do")
        await d.press("enter")
        assert "a reason is needed here" in d.text()
        assert dialog(d).step is DialogStep.CONFIRM
    assert script.permissions == []


async def test_the_next_action_begins_in_the_dialog_of_one_that_has_ended() -> None:
    script = Script()
    script.goes.set()
    async with asked(script, "p") as d:
        await d.press("p")
        assert script.asked[-1][0] is Kind.PAUSE and len(script.asked) == 1, "not while it is to be confirmed"
        await d.press("left", "enter")
        await d.until(lambda: dialog(d).step is DialogStep.ENDED, "the end")
        await d.press("r")
        await d.until(lambda: script.asked[-1][0] is Kind.REQUEUE and dialog(d).step is DialogStep.CONFIRM, "the next")


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_leaving_changes_nothing(key: str) -> None:
    script = Script()
    async with asked(script, "r") as d:
        await d.press(key)
        assert not isinstance(d.app.screen, ActionDialog)
        assert d.app.is_running
    assert script.permissions == []


async def test_keys_pressed_twice_in_a_hurry_close_it_once() -> None:
    async with asked(Script(), "r") as d:
        front = dialog(d)
        for _ in range(3):
            front.action_leave()
        await d.settle()
        assert d.app.is_running
        assert not isinstance(d.app.screen, ActionDialog)


async def test_the_keyboard_alone_confirms_at_80_by_24_and_sees_the_end() -> None:
    script = Script(make=typed_plan)
    async with asked(script, "r") as d:
        assert all(row in d.text() for row in ("messages", "reason", "type invoices", "Requeue"))
        await reach(d, "act-reason")
        await d.press(*"mailer", "space", *"died")
        await reach(d, "act-typed")
        await d.press(*"invoices")
        await reach(d, "act-do")
        await d.press("enter")
        await d.until(lambda: dialog(d).step is DialogStep.APPLYING, "applying")
        await d.until(lambda: "602" in d.text(), "progress")
        assert "256/s" in d.text()
        assert "about 2.3 s left" in d.text()
        assert "50 %" in d.text()
        script.goes.set()
        await d.until(lambda: dialog(d).step is DialogStep.ENDED, "the end")
        assert "done 1,201   skipped 2   changed 1" in d.text()
        assert "all of it is verified" in d.text()
        assert "op-1" in d.text()
        assert d.source.asked[-1] == ("poll_now", "invoices")
        await d.press("enter")
        assert not isinstance(d.app.screen, ActionDialog)
    assert [(p.reason, p.typed) for p in script.permissions] == [("mailer died", "invoices")]


async def test_without_name_and_reason_nothing_happens_and_it_is_said_what_is_missing() -> None:
    script = Script(make=typed_plan)
    async with asked(script, "r") as d:
        await reach(d, "act-do")
        await d.press("enter")
        assert "type the queue's name exactly: invoices" in d.text()
        assert isinstance(d.app.screen.focused, Input)
        await d.press(*"invoices")
        await reach(d, "act-do")
        await d.press("enter")
        assert "a reason is needed here" in d.text()
        assert dialog(d).step is DialogStep.CONFIRM
    assert script.permissions == []


async def test_enter_in_a_line_moves_on_and_never_confirms() -> None:
    script = Script()
    async with asked(script, "r") as d:
        await reach(d, "act-reason")
        await d.press(*"why", "enter")
        assert dialog(d).step is DialogStep.CONFIRM
        assert isinstance(d.app.screen.focused, Button)
    assert script.permissions == []


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


async def test_a_plan_that_takes_long_can_be_left() -> None:
    script = Script()
    script.planning.clear()
    async with asked(script, "r", step=DialogStep.PLANNING) as d:
        await d.until(lambda: "counting" in d.text(), "that it counts")
        await d.wait(3.4)
        await d.until(lambda: "counting for 3 s" in d.text(), "the time that passes")
        await d.press("escape")
        assert not isinstance(d.app.screen, ActionDialog)
        await d.press("2")
        assert d.app.current_mode == "queue"


async def test_the_owners_that_are_meant_can_be_changed_and_are_counted_anew() -> None:
    script = Script()
    async with asked(script, "r") as d:
        await reach(d, "act-option-0")
        await d.press("space")
        await d.until(lambda: len(script.asked) == 2 and dialog(d).step is DialogStep.CONFIRM, "planned again")
        choice = script.asked[-1][2]
        assert isinstance(choice, Choice)
        assert choice.owner_states == {OwnerState.DEAD, OwnerState.UNKNOWN}
        await d.press("left", "left")
        await d.until(lambda: len(script.asked) >= 3 and dialog(d).step is DialogStep.CONFIRM, "dead ones")
        choice = script.asked[-1][2]
        assert isinstance(choice, Choice)
        assert choice.state == "dead"
        await d.press("left")
        await d.until(lambda: len(script.asked) >= 4 and dialog(d).step is DialogStep.CONFIRM, "and again")
        choice = script.asked[-1][2]
        assert isinstance(choice, Choice)
        assert OwnerState.ALIVE in choice.owner_states


async def test_a_redrive_is_narrowed_down_and_paced_and_planned_anew_as_a_field_is_left() -> None:
    script = Script()
    async with dashboard(SMALL, runner=ScriptedOffice(script), read_only=False) as d:
        layout = replace(queue("invoices").layout, error="last_error", payload="body", enqueued_at="pushed_at")
        await d.give(replace(view(), queues=(replace(queue("invoices"), layout=layout),)))
        await d.press("d")
        await d.until(lambda: len(script.asked) == 1 and dialog(d).step is DialogStep.CONFIRM, "the first plan")
        await d.settle()
        for label in ("error", "payload", "age", "rate", "stop after", "reason", "[> Cancel <]"):
            assert label in d.text(), label
        await d.press("tab", *"refused", "tab", *"order 1", "tab", "right", "tab", "left", "tab", "right", "right")
        await d.until(
            lambda: dialog(d).step is DialogStep.CONFIRM and script.asked[-1][-1] == RedriveLimits(1.0, 100), "all"
        )
        choice = Choice(older_than_s=600.0, error="refused", payload="order 1")
        assert script.asked[-1] == (Kind.REDRIVE, "invoices", choice, RedriveLimits(1.0, 100))
        assert len(script.asked) == 7  # one for each change, and none for each letter
        await d.press("shift+tab", "shift+tab", "shift+tab", "shift+tab", *"z", "tab", "tab", "tab", "tab", "tab")
        await d.until(lambda: dialog(d).step is DialogStep.CONFIRM and len(script.asked) == 8, "what was typed last")
        assert script.asked[-1][2] == replace(choice, error="z")


async def test_a_refused_plan_has_no_button_but_close() -> None:
    script = Script(make=lambda kind, queue, _: plan(kind, queue, count=0, first=(), refused="nothing is stuck"))
    async with asked(script, "r", step=DialogStep.REFUSED) as d:
        assert "not done  nothing is stuck" in d.text()
        assert "left out  3 owner alive · 12 locked" in d.text()
        assert "can be undone" not in d.text() and "which" not in d.text()
        assert not d.app.screen.query_one("#act-do").display
        await d.press("enter")
        assert not isinstance(d.app.screen, ActionDialog)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (BadInput("no message has the id 17"), "no message has the id 17"),
        (PermissionMissing("permission denied for x", grant='GRANT UPDATE ON x TO "me"'), "GRANT UPDATE ON x"),
        (ZeroDivisionError("by zero"), "something in qmon went wrong: ZeroDivisionError"),
    ],
)
async def test_what_goes_wrong_while_planning_is_said(fault: Exception, told: str) -> None:
    async with asked(Script(fault=fault), "r", step=DialogStep.REFUSED) as d:
        assert told in d.text()


async def test_an_operation_that_breaks_off_says_what_was_done() -> None:
    script = Script(breaks=ConnectionLost("the server closed the connection"))
    async with asked(script, "r") as d:
        await reach(d, "act-do")
        await d.press("enter")
        await d.until(lambda: "602" in d.text(), "progress")
        script.goes.set()
        await d.until(lambda: dialog(d).step is DialogStep.ENDED, "the end")
        assert "the server closed the connection" in d.text()
        assert "602 were done by then" in d.text()


async def test_what_the_operator_refuses_at_the_last_moment_can_be_corrected() -> None:
    script = Script(refuses="a pause needs a reason, which everybody sees; nothing was changed")
    async with asked(script, "r") as d:
        await reach(d, "act-do")
        await d.press("enter")
        await d.until(lambda: "a pause needs a reason" in d.text(), "why not")
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
        assert "waiting for the next poll" in d.text()
        fresh = [replace(q, stuck=replace(q.stuck, value=0.0)) for q in view().queues]
        await d.give(replace(view(fresh, sequence=8, at=3.0), taken_at=TAKEN_AT + 3.0))
        assert "stuck 0 (7 before)" in d.text()


def hostile(kind: Kind, queue: str, choice: Choice) -> Plan:
    """A plan whose every text is an attack."""
    evil = f"{EVIL}\x1b[2J"
    made = plan(kind, EVIL, title=f"Purge {evil}", predicate=evil, sql=(evil,), consequences=(evil,), unit=evil)
    return replace(made, first=tuple(replace(row, id=evil, payload=evil, owner=evil) for row in made.first[:1]))


async def test_texts_from_the_database_are_text() -> None:
    async with dashboard(runner=ScriptedOffice(Script(make=hostile)), read_only=False) as d:
        await d.give(view([queue(EVIL)]))
        await d.press("x")
        await d.until(
            lambda: isinstance(d.app.screen, ActionDialog) and dialog(d).step is DialogStep.CONFIRM, "the plan"
        )
        assert d.text().count('[red]"; drop table x; --') >= 5
        assert "\x1b" not in d.text()


async def test_a_long_statement_scrolls_by_keyboard() -> None:
    script = Script(make=lambda kind, queue, _: plan(kind, queue, sql=tuple(f"SELECT {i}" for i in range(40))))
    async with asked(script, "r") as d:
        await d.press("s")
        await d.until(lambda: "PgDn" in d.text(), "that there is more")
        for _ in range(8):
            await d.press("pagedown")
        assert "SELECT 39" in d.text()
        assert "[> Cancel <]" in d.text()


async def test_b_lets_it_go_on_in_the_background_and_its_end_is_told() -> None:
    script = Script()
    async with asked(script, "r") as d:
        await d.press("left", "enter")
        await d.until(lambda: dialog(d).step is DialogStep.APPLYING, "applying")
        await d.press("b")
        assert not isinstance(d.app.screen, ActionDialog)
        for screen in "1237":
            await d.press(screen)
            assert "◆ UNDER WAY  Requeue 1,204 messages of invoices  50 %" in d.lines("under-way")
            assert "about 2.3 s left" in d.lines("under-way")
        await d.press("q")
        assert "Requeue 1,204 messages of invoices: still under way; press q again to stop it and leave" in d.said()
        assert d.app.is_running
        script.goes.set()
        await d.until(lambda: "done, 1,201 of 1,204; 6 lists it" in d.said(), "its end")
        assert ("poll_now", "invoices") in d.source.asked
        assert "UNDER WAY" not in d.text()


class Told(MessagePump):
    """Somebody who is told, and whether he read it or not."""

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
    task = ScriptedOffice(script).task(first)
    prepared = ScriptedOperator(script).requeue(
        Layout("mails", "fifo", TableName("public", "mails"), id="id"), Choice()
    )
    task.apply(prepared, Permission("", ""))
    assert task.thread is not None
    task.thread.join(10.0)
    task.hand_over(second)
    assert [each.words() for each in second.ends] == [each.words() for each in first.ends]
    assert second.ends[0].well


async def test_u_undoes_what_was_just_done_where_the_dialog_offers_it() -> None:
    script = Script()
    script.goes.set()
    async with asked(script, "x") as d:
        assert "u undoes it" not in d.text()
        await d.press("u")
        assert dialog(d).step is DialogStep.CONFIRM, "not before it is done"
        await d.press("left", "enter")
        await d.until(lambda: dialog(d).step is DialogStep.ENDED, "the end")
        assert "u undoes it" in d.text()
        await d.press("u")
        await d.until(lambda: script.asked[-1][0] is Kind.UNDO, "the undo is planned")
        await d.until(lambda: dialog(d).step is DialogStep.CONFIRM, "the plan")
        assert "[> Cancel <]" in d.text()


async def test_a_purge_of_a_queue_without_dead_messages_asks_which_are_meant() -> None:
    script = Script()
    async with asked(script, *["down"] * 4, "x", step=DialogStep.REFUSED) as d:
        assert "choose which messages" in d.text()
        assert script.asked == []
        await d.press("tab", "right")
        await d.until(lambda: dialog(d).step is DialogStep.CONFIRM, "a plan of what was chosen")
