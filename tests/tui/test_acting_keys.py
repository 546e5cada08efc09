"""The keys of actions: their requests, the reasons why they are disabled, marks, and the screen of operations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.errors import BadInput
from qmon.model.layout.layout import LayoutSource
from qmon.model.operation_records import Choice, OperationKind, Side, UndoState
from qmon.model.samples.polled_samples import MessageSample, PauseSample
from qmon.model.view import View
from qmon.model.waits.lock_chains import LockChains, build_lock_chains
from qmon.operate.plan.allowed_actions import NotAllowed
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.actions.action_dialog import ActionDialog, DialogStep
from qmon.tui.actions.availability import DisabledText, head_blocker
from qmon.tui.actions.request import ActionRequest, ActionRequestText
from qmon.tui.operations.operations_screen import OperationDetails, OperationsText
from qmon.tui.queue.queue_screen import QueueScreenText
from qmon.tui.shared.banner import BannerText, pause_lines
from qmon.tui.shared.palette import PaletteHint
from qmon.tui.shown_state import ShownState
from tests.tui.blocked import waits
from tests.tui.driving import Driver, dashboard
from tests.tui.scripted import SAMPLED_AT, TAKEN_AT, messages, queue, target, view
from tests.tui.scripted_acting import Script, ScriptedOffice, ScriptedOperator, operation
from tests.wordings import has, pattern


async def planned(d: Driver, script: Script, count: int = 1) -> tuple[object, ...]:
    """Return the operator's last request, once there is a plan."""
    await d.until(
        lambda: isinstance(d.app.screen, ActionDialog) and d.app.screen.step is not DialogStep.PLANNING, "a plan"
    )
    assert len(script.asked) == count
    return script.asked[-1]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("r", (OperationKind.REQUEUE, "invoices", Choice())),
        ("x", (OperationKind.PURGE, "invoices", Choice(state="dead"))),
        ("p", (OperationKind.PAUSE, "invoices", Choice(), Side.PRODUCERS, 900.0)),
        ("P", (OperationKind.PAUSE, "invoices", Choice(), Side.CONSUMERS, 900.0)),
        ("u", (OperationKind.UNDO, "invoices", Choice(), "261121-071401-k7qd")),
        ("E", (OperationKind.END_SESSION, "session 61", Choice(), 61, None)),
    ],
)
@pytest.mark.parametrize("screen", ["1", "2"])
async def test_each_key_asks_for_its_action(key: str, expected: tuple[object, ...], screen: str) -> None:
    script = Script()
    async with dashboard(runner=ScriptedOffice(script), read_only=False) as d:
        await d.give()
        await d.press(screen, key)
        assert await planned(d, script) == expected


def test_what_is_undone_is_the_newest_of_this_queue_that_can_be() -> None:
    history = (
        operation(1),
        operation(2, queue="mails", undo_state=UndoState.UNDONE),
        operation(3, OperationKind.UNDO, queue="mails"),
        operation(4, OperationKind.PURGE, queue="mails", undo_state=UndoState.PARTLY_UNDONE),
        operation(5, queue="mails"),
    )
    script = Script(history=history)
    ActionRequest(OperationKind.UNDO, "mails").prepare(ScriptedOperator(script))
    assert script.asked[-1][3] == history[3].id
    with pytest.raises(BadInput, match=pattern(ActionRequestText.NOTHING_TO_UNDO)):
        ActionRequest(OperationKind.UNDO, "mails").prepare(ScriptedOperator(Script(history=history[:3])))


async def test_repair_is_for_rings() -> None:
    script = Script()
    async with dashboard(runner=ScriptedOffice(script), read_only=False) as d:
        await d.give()
        await d.press("R")
        await d.until(lambda: has(d.said(), NotAllowed.RING_WITHOUT_TURN), "the reason")
        await d.press("down", "down", "R")
        assert await planned(d, script) == (OperationKind.REPAIR, "orders", Choice())


async def test_p_resumes_what_is_paused() -> None:
    script = Script(
        paused=(PauseSample("invoices", "", Side.PRODUCERS, SAMPLED_AT, SAMPLED_AT + 600, "bob", "why", "switch"),)
    )
    async with dashboard(runner=ScriptedOffice(script), read_only=False) as d:
        await d.give()
        await d.press("p")
        assert await planned(d, script) == (OperationKind.RESUME, "invoices", Choice(), Side.PRODUCERS)


def test_a_table_may_be_paused_under_another_name() -> None:
    made = queue("invoices")
    pause = PauseSample(
        "rechnungen", str(made.layout.table), Side.PRODUCERS, SAMPLED_AT, SAMPLED_AT, "bob", "", "switch"
    )
    script = Script(paused=(pause,))
    ActionRequest(OperationKind.PAUSE, "invoices", made.layout).prepare(ScriptedOperator(script))
    ActionRequest(OperationKind.PAUSE, "invoices", made.layout, side=Side.CONSUMERS).prepare(ScriptedOperator(script))
    assert [kind for kind, *_ in script.asked] == [OperationKind.RESUME, OperationKind.PAUSE]


@pytest.mark.parametrize("screen", ["1", "2", "6"])
async def test_a_pause_is_on_every_screen_with_who_and_until_when(screen: str) -> None:
    pause = PauseSample(
        "mails", "", Side.PRODUCERS, SAMPLED_AT, SAMPLED_AT + 754, "bob@laptop", "[red]deploy[/]", "switch"
    )
    paused = [replace(q, pauses=(pause,) if q.name == "mails" else ()) for q in view().queues]
    async with dashboard((80, 24), runner=ScriptedOffice()) as d:
        await d.give()
        assert "PAUSED" not in d.text()
        await d.give(view(paused, sequence=8))
        await d.press(screen)
        assert "‖ PAUSED" in d.lines("banner") and "mails producers" in d.lines("banner")
        assert has(d.lines("banner"), BannerText.PAUSED_BY, user="bob@laptop")
        assert has(d.lines("banner"), BannerText.PAUSED_UNTIL, left="12 m 33 s")
        await d.wait(760)
        assert "PAUSED" not in d.text()


def test_many_pauses_are_counted() -> None:
    pauses = tuple(
        PauseSample(f"q{i}", "", Side.CONSUMERS, 0.0, SAMPLED_AT + 60 + i, "bob", "", "gate") for i in range(6)
    )
    made = ShownState("t", view([replace(queue("q"), pauses=pauses)]))
    told = ["".join(t for t, _ in line) for line in pause_lines(made, TAKEN_AT, 120)]
    assert len(told) == 3
    assert has(told[2], BannerText.MORE_PAUSES, count=4, queues="q2, q3, q4, q5")


async def test_the_length_of_a_pause_is_chosen_in_the_dialog() -> None:
    script = Script()
    async with dashboard(runner=ScriptedOffice(script), read_only=False) as d:
        await d.give()
        await d.press("p")
        await planned(d, script)
        await d.press("tab", "right")
        await d.until(lambda: len(script.asked) == 2, "planned again")
        assert script.asked[-1][-1] == 3_600.0


async def test_marked_messages_are_what_is_meant() -> None:
    script = Script()
    async with dashboard(runner=ScriptedOffice(script), read_only=False) as d:
        await d.give()
        await d.press("2", "space", "down", "space")
        assert has(d.lines("rows-heading"), QueueScreenText.MARKED, count=2)
        assert "◆ 9120311" in d.text()
        await d.press("space", "x")
        assert await planned(d, script) == (
            OperationKind.PURGE,
            "invoices",
            Choice(ids=("9120311",), state="in_progress"),
        )
        await d.press("escape")
        assert has(d.lines("rows-heading"), QueueScreenText.MARKED, count=1)
        await d.press("]")
        assert not has(d.lines("rows-heading"), QueueScreenText.MARKED)


async def test_a_list_with_marks_keeps_its_order_and_esc_removes_them() -> None:
    def shop(*ids: int) -> View:
        listed = tuple(
            MessageSample(str(id), "in_progress", 500.0 - place, f"worker-{place}", 1, None)
            for place, id in enumerate(ids)
        )
        found = next(each for each in view().queues if each.name == "invoices")
        return view([replace(found, messages=listed)])

    async with dashboard() as d:
        await d.give(shop(11, 12, 13))
        await d.press("2", "down", "space")
        await d.give(shop(14, 13, 12, 11))
        assert d.grid.row_keys == ("11", "12", "13", "14")
        await d.press("down", "space")
        await d.give(shop(14, 12, 11))
        assert has(d.lines("rows-heading"), QueueScreenText.MARKED, count=1)
        assert has(d.lines("rows-heading"), QueueScreenText.MARKED_GONE, messages="1 marked message")
        await d.press("escape")
        assert not has(d.lines("rows-heading"), QueueScreenText.MARKED)
        assert d.app.screen.NAME == "queue"  # type: ignore[attr-defined]
        await d.press("escape")
        assert d.app.screen.NAME == "overview"  # type: ignore[attr-defined]


async def test_marks_are_gone_once_they_were_acted_on() -> None:
    script = Script()
    script.goes.set()
    async with dashboard(runner=ScriptedOffice(script), read_only=False) as d:
        await d.give()
        await d.press("2", "space", "x")
        await planned(d, script)
        await d.pilot.click("#act-do")
        await d.until(
            lambda: isinstance(d.app.screen, ActionDialog) and d.app.screen.step is DialogStep.ENDED, "the end"
        )
        await d.press("escape")
        assert not has(d.lines("rows-heading"), QueueScreenText.MARKED)


async def test_read_only_dims_every_key_with_the_reason() -> None:
    script = Script()
    runner = ScriptedOffice(script, read_only="started read-only")
    async with dashboard(runner=runner, read_only=False) as d:
        await d.give()
        assert "READ-ONLY" in d.lines("header")
        assert "(read-only)" in d.lines("keys")
        for key in ("r", "x", "d", "p", "u", "P", "R", "E"):
            await d.press(key)
            assert not isinstance(d.app.screen, ActionDialog), key
        assert "started read-only" in d.said()
        await d.press("colon")
        assert d.text().count(PaletteHint.NOT_NOW.render(why="started read-only")) == 8
    assert script.asked == []


@pytest.mark.parametrize(
    ("case", "why"),
    [
        ("ring", NotAllowed.RING_REQUEUE),
        ("found", NotAllowed.ONLY_GUESSED),
        ("standby", DisabledText.STANDBY),
        ("nobody", DisabledText.VIEW_ONLY),
    ],
)
async def test_what_a_queue_does_not_allow_is_said(case: str, why: Text) -> None:
    script = Script()
    runner = None if case == "nobody" else ScriptedOffice(script)
    made = queue("it", case if case == "ring" else "status", messages=messages(2))
    if case == "found":
        made = replace(made, layout=replace(made.layout, source=LayoutSource.DISCOVERY))
    async with dashboard(runner=runner, read_only=False) as d:
        await d.give(view([made], server=target(in_recovery=case == "standby")))
        await d.press("r")
        await d.until(lambda: has(d.said(), why), "the reason")
        assert not isinstance(d.app.screen, ActionDialog)
    assert script.asked == []


async def test_the_operations_screen_lists_shows_and_undoes() -> None:
    script = Script()
    async with dashboard(runner=ScriptedOffice(script), read_only=False) as d:
        await d.give()
        await d.press("6")
        await d.until(lambda: "40,112" in d.text(), "the history")
        assert "interrupted" in d.text()
        await d.press("down", "enter")
        assert isinstance(d.app.screen, OperationDetails)
        assert "ticket 4711" in d.text()
        await d.press("u")
        assert (await planned(d, script))[3] == "261121-071402-k7qd"
        await d.press("escape", "down", "u")
        await d.until(lambda: has(d.said(), OperationsText.NO_UNDO), "the reason")
        await d.press("slash", *"webhooks", "enter")
        assert d.grid.row_keys == ("261121-071406-k7qd",)


async def test_operations_that_cannot_be_read_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise PermissionError("denied here")

    monkeypatch.setattr(ScriptedOperator, "read_operations", denied)
    async with dashboard(runner=ScriptedOffice(), read_only=False) as d:
        await d.give()
        await d.press("6")
        await d.until(lambda: "denied here" in d.text(), "the reason")
        assert d.grid.row_keys == ()


async def test_a_click_on_the_line_of_keys_presses_the_key() -> None:
    script = Script()
    async with dashboard(runner=ScriptedOffice(script), read_only=False) as d:
        await d.give()
        at = d.lines("keys").splitlines()[1].index("x purge")
        await d.pilot.click("#keys", offset=(at, 1))
        assert (await planned(d, script))[0] is OperationKind.PURGE


def test_the_head_blocker_is_who_most_wait_for() -> None:
    rows = [*waits(5, 4), *waits(4, 3), *waits(9, 8), *waits(21, 22), *waits(22, 21), *waits(95, 0)]
    blocker = head_blocker(view(server=target(blocking=build_lock_chains(rows))))
    assert blocker is not None
    assert blocker.session == 3
    assert head_blocker(view(server=target(blocking=build_lock_chains(waits(95, 0))))) is None
    assert head_blocker(view(server=target(blocking=LockChains()))) is None
    assert head_blocker(view(server=target(blocking=None))) is None


def test_every_acting_key_is_known_to_the_help_and_has_no_second_meaning() -> None:
    pressed = [key for b in keys.bindings_in(keys.QUEUE_ACTIONS) for key in b.key.split(",")]
    assert sorted(pressed) == sorted(["r", "x", "d", "p", "u", "P", "R", "E"])
