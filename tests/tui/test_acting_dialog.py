"""The dialog of an action over a scripted operator, up to its confirmation: by keyboard alone, at 80 x 24."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.widgets import Input

from qmon.errors import BadInput, PermissionMissing
from qmon.log import LogText
from qmon.model.formatting import duration
from qmon.model.operation_records import Choice, OperationKind, OwnerState, Plan, RedriveLimits
from qmon.operate.plan.plan_description import PlanText
from qmon.tui.actions.action_dialog import ActionDialog, ConfirmationText, DialogStep
from qmon.tui.actions.dialog_text import StepText
from qmon.tui.actions.plan_text import PlanDialogText, effort_text
from qmon.tui.actions.request import ActionRequestText
from qmon.tui.widgets.button import Button
from tests.tui.asking import SMALL, asked, at, dialog, reach
from tests.tui.driving import dashboard
from tests.tui.scripted import queue, view
from tests.tui.scripted_acting import Script, ScriptedOffice, plan, typed_plan
from tests.wordings import has

EVIL = '[red]"; drop table x; -- 🎉[/]'


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.9, PlanText.UNDER_A_SECOND),
        (1.0, PlanText.ABOUT.render(duration="1.0 s")),
        (90.0, PlanText.ABOUT.render(duration="1 m 30 s")),
    ],
)
def test_what_an_action_takes(seconds: float, words: str) -> None:
    made = plan(OperationKind.REQUEUE, "mails", seconds=seconds)
    assert effort_text(made) == f"{PlanDialogText.IN_BATCHES.render(count='1,204 messages', batch=500)}, {words}"
    assert effort_text(replace(made, count=1)) == f"1 message, {words}"


async def test_a_plan_says_everything_and_cancel_has_the_focus() -> None:
    script = Script()
    async with asked(script, "r", size=(120, 40)) as d:
        told = d.text()
        for part in (
            "Requeue 1,204 messages of invoices",
            "orders-prod",
            "PROD",
            "in progress for more than 5 m",
            "3 owner alive · 12 locked",
            "▲ a consumer that still works",
            "88123",
            "app-7/61 dead",
            "reason",
            "[> Cancel <]",
        ):
            assert part in told, part
        told = d.lines("act-text")
        assert has(told, PlanDialogText.IN_BATCHES, batch=500) and has(told, PlanText.ABOUT, duration="2.4 s")
        assert has(told, PlanText.PARTLY_UNDO, until="")
        assert has(told, PlanDialogText.MORE_ROWS, count=1_198)
        assert script.asked == [(OperationKind.REQUEUE, "invoices", Choice())]
        assert 'UPDATE "demo".' not in told
        await d.press("s")
        assert 'UPDATE "demo".' in d.text()
        await d.press("s")
        assert 'UPDATE "demo".' not in d.text()
        await d.press("enter")
        assert not isinstance(d.app.screen, ActionDialog)
    assert script.permissions == []


async def test_a_plan_that_is_left_open_says_how_old_it_is_and_its_messages_age() -> None:
    async with asked(Script(), "r", size=(120, 40)) as d:
        age = next(row.age_s for row in plan(OperationKind.REQUEUE, "invoices").first if row.age_s is not None)
        assert duration(age) in d.text()
        assert not has(d.lines("act-text"), PlanDialogText.PLANNED_AGO)
        d.clock.now += 65.0
        await d.until(
            lambda: has(d.lines("act-text"), PlanDialogText.PLANNED_AGO, age="1 m 05 s"), "the age of the plan"
        )
        assert duration(age + 65.0) in d.text()


async def test_every_dialog_works_by_keyboard_at_80_by_24_and_cancel_is_the_default() -> None:
    dialogs: tuple[tuple[tuple[str, ...], OperationKind], ...] = (
        (("r",), OperationKind.REQUEUE),
        (("x",), OperationKind.PURGE),
        (("p",), OperationKind.PAUSE),
        (("P",), OperationKind.PAUSE),
        (("u",), OperationKind.UNDO),
        (("E",), OperationKind.END_SESSION),
        (("down", "down", "R"), OperationKind.REPAIR),
    )
    script = Script(make=typed_plan)
    script.goes.set()
    async with dashboard(SMALL, runner=ScriptedOffice(script), read_only=False) as d:
        await d.give()
        for number, (keys, kind) in enumerate(dialogs, start=1):
            await d.press(*keys)
            await d.until(at(d, DialogStep.CONFIRM), f"the dialog of {kind}")
            assert (len(script.asked), script.asked[-1][0]) == (number, kind)
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
            assert len(script.permissions) == number - 1
            await d.press("enter")
            await d.until(lambda: dialog(d).step is DialogStep.ENDED, "the end")
            await d.press("enter")
            assert not isinstance(d.app.screen, ActionDialog)
            assert [p.reason for p in script.permissions] == ["why"] * number


async def test_where_the_name_is_asked_for_a_reason_is_too_for_every_action() -> None:
    script = Script(make=typed_plan)
    async with asked(script, "p") as d:
        assert has(d.text(), ConfirmationText.REASON_REQUIRED)
        await reach(d, "act-typed")
        await d.press(*"invoices")
        await reach(d, "act-do")
        await d.press("enter")
        assert has(d.lines("act-problem"), ConfirmationText.ENTER_REASON)
        assert dialog(d).step is DialogStep.CONFIRM
    assert script.permissions == []


async def test_leaving_changes_nothing_and_keys_pressed_in_a_hurry_close_it_once() -> None:
    script = Script()
    async with asked(script, "r") as d:
        for key in ("escape", "ctrl+c"):
            await d.press(key)
            assert not isinstance(d.app.screen, ActionDialog)
            assert d.app.is_running
            await d.press("r")
            await d.until(at(d, DialogStep.CONFIRM), "the dialog again")
        front = dialog(d)
        for _ in range(3):
            front.action_leave()
        await d.settle()
        assert d.app.is_running
        assert not isinstance(d.app.screen, ActionDialog)
    assert script.permissions == []


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
        assert has(d.lines("act-text"), StepText.SKIPPED) and has(d.lines("act-text"), StepText.CHANGED)
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
        assert has(d.lines("act-problem"), ConfirmationText.TYPE_NAME, name="invoices")
        assert isinstance(d.app.screen.focused, Input)
        await d.press(*"invoices")
        await reach(d, "act-do")
        await d.press("enter")
        assert has(d.lines("act-problem"), ConfirmationText.ENTER_REASON)
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


async def test_a_plan_that_takes_long_can_be_left() -> None:
    script = Script()
    script.planning.clear()
    async with asked(script, "r", step=DialogStep.PLANNING) as d:
        await d.until(lambda: has(d.lines("act-text"), StepText.COUNTING, waited=""), "it counts")
        await d.wait(3.4)
        waited = StepText.FOR_TIME.render(duration="3 s")
        await d.until(lambda: has(d.lines("act-text"), StepText.COUNTING, waited=waited), "the elapsed time")
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
        assert script.asked[-1] == (OperationKind.REDRIVE, "invoices", choice, RedriveLimits(1.0, 100))
        assert len(script.asked) == 7  # one for each change, and none for each letter
        await d.press("shift+tab", "shift+tab", "shift+tab", "shift+tab", *"z", "tab", "tab", "tab", "tab", "tab")
        await d.until(lambda: dialog(d).step is DialogStep.CONFIRM and len(script.asked) == 8, "the last typed text")
        assert script.asked[-1][2] == replace(choice, error="z")


async def test_a_refused_plan_has_no_button_but_close() -> None:
    script = Script(make=lambda kind, queue, _: plan(kind, queue, count=0, first=(), refused="nothing is stuck"))
    async with asked(script, "r", step=DialogStep.REFUSED) as d:
        assert "not done  nothing is stuck" in d.text()
        assert "left out  3 owner alive · 12 locked" in d.text()
        assert not has(d.text(), PlanText.UNDO) and "which" not in d.text()
        assert not d.app.screen.query_one("#act-do").display
        await d.press("enter")
        assert not isinstance(d.app.screen, ActionDialog)


async def test_what_goes_wrong_while_planning_is_said() -> None:
    faults = {
        "no message has the id 17": BadInput("no message has the id 17"),
        "GRANT UPDATE ON x": PermissionMissing("permission denied for x", grant='GRANT UPDATE ON x TO "me"'),
        LogText.DEFECT.partition("{")[0] + "ZeroDivisionError": ZeroDivisionError("by zero"),
    }
    script = Script()
    async with dashboard(SMALL, runner=ScriptedOffice(script), read_only=False) as d:
        await d.give()
        for told, script.fault in faults.items():
            await d.press("r")
            await d.until(at(d, DialogStep.REFUSED), told)
            assert told in d.text()
            await d.press("escape")
            assert told not in d.text()


def hostile(kind: OperationKind, queue: str, choice: Choice) -> Plan:
    """Return a plan whose every text is an attack."""
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
        await d.until(lambda: "PgDn" in d.text(), "there is more")
        for _ in range(8):
            await d.press("pagedown")
        assert "SELECT 39" in d.text()
        assert "[> Cancel <]" in d.text()


async def test_a_purge_of_a_queue_without_dead_messages_asks_which_are_meant() -> None:
    script = Script()
    async with asked(script, *["down"] * 4, "x", step=DialogStep.REFUSED) as d:
        assert has(d.lines("act-text"), ActionRequestText.CHOOSE_MESSAGES)
        assert script.asked == []
        await d.press("tab", "right")
        await d.until(lambda: dialog(d).step is DialogStep.CONFIRM, "a plan of the choice")
