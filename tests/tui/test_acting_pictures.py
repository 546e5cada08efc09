"""The dialogs as pictures. After an intended change, look at the report and run with ``--snapshot-update``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from textual.pilot import Pilot

from qmon.model.operation_records import Choice, Consent, LeftOut, OperationKind, OwnerState, Plan, Undo
from qmon.tui.actions.action_dialog import ActionDialog, DialogStep
from qmon.tui.app import QmonApp
from qmon.tui.watched_target import DashboardTarget
from tests.tui.pictures import Compare
from tests.tui.pilot_waits import pilot_until
from tests.tui.scripted import Clock, Scripted, view
from tests.tui.scripted_acting import Script, ScriptedOffice, plan, typed_plan

SIZES = [(80, 24), (120, 40)]
IDS = ["80x24", "120x40"]


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the same time zone on every machine, because screens show local times."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def purge_plan(kind: OperationKind, queue: str, choice: Choice) -> Plan:
    """Return a purge of many messages."""
    return plan(
        kind,
        queue,
        title=f"Purge 40,112 messages of {queue}",
        count=40_112,
        predicate="ready, ids up to 9,160,422",
        left_out=(),
        seconds=41.0,
        consent=Consent.TYPED,
        undo=Undo(True, (), 1_780_600_000.0),
        consequences=(
            "consumers no longer get the messages",
            "the messages are kept in the trash for at least 7 d 00 h",
        ),
        risks=(),
    )


def redrive_plan(kind: OperationKind, queue: str, choice: Choice) -> Plan:
    """Return a redrive of some dead messages."""
    first = tuple(
        replace(
            row,
            state="dead",
            owner=None,
            owner_state=OwnerState.NONE,
            attempts=5,
            error="connection refused: smtp-2:25",
        )
        for row in plan().first[:4]
    )
    return plan(
        kind,
        queue,
        title=f"Redrive 240 messages of {queue}",
        count=240,
        predicate="dead",
        left_out=(),
        first=first,
        batch=2,
        seconds=24.0,
        consequences=(
            "at most 10 per second; the redrive stops once 5 messages have failed again",
            "the messages return to their old place by id, before messages that were pushed later",
            "messages that become ready get: attempts = 0, started_at = NULL, owner = NULL",
        ),
        risks=("consumers may process these messages twice: they were popped before",),
    )


def pause_plan(kind: OperationKind, queue: str, choice: Choice) -> Plan:
    """Return a pause of the producers."""
    return plan(
        kind,
        queue,
        title=f"Pause the producers of {queue} for 15 m 00 s",
        count=1,
        unit="switch",
        first=(),
        left_out=(),
        predicate="every push of this queue from now on, until 14:47:07",
        batch=None,
        seconds=None,
        consequences=("every push fails with QM001, or waits if its session has set qmon.pause_wait_ms",),
        risks=("statements that use the table directly are not paused",),
        sql=("SELECT setval('demo.orders_push_until', :until)",),
        undo=Undo(True, ()),
    )


def resume_plan(kind: OperationKind, queue: str, choice: Choice) -> Plan:
    """Return the end of a pause."""
    return plan(
        OperationKind.RESUME,
        queue,
        title=f"Resume the producers of {queue}?",
        count=1,
        unit="pause",
        first=(),
        left_out=(),
        predicate="the producers of demo.invoices",
        batch=None,
        seconds=0.1,
        risks=(),
        consequences=("paused by bob@laptop since 14:02, until 14:47:07: deploy",),
        sql=("SELECT setval('demo.invoices_push_until', :until)",),
        undo=Undo(False, ("pause stops the producers again",)),
    )


def undo_plan(kind: OperationKind, queue: str, choice: Choice) -> Plan:
    """Return an undo of a purge."""
    return plan(
        kind,
        queue,
        title=f"Undo the purge of 4,671 messages of {queue} by anna@app-7",
        count=4_671,
        batch=None,
        predicate="operation 261121-071402-k7qd: ready, since before 14:20:00",
        seconds=None,
        left_out=(LeftOut("another row has its id now", 2),),
        undo=Undo(False, ("repeat the operation instead",)),
        consequences=("the messages are as they were before the operation: in the queue",),
        risks=("the table no longer has the column note",),
    )


def repair_plan(kind: OperationKind, queue: str, choice: Choice) -> Plan:
    """Return a repair of a ring."""
    return plan(
        kind,
        queue,
        title=f"Repair 1 hole and 2 orphans of {queue}?",
        count=3,
        unit="numbers",
        left_out=(),
        batch=None,
        predicate="holes 17; orphans 18, 19; not moved for 1.0 s or longer",
        seconds=0.03,
        undo=Undo(False, ("filled holes stay filled; requeued messages keep their new numbers",)),
        first=plan().first[:2],
        consequences=("an orphan is delivered under a new number, behind the messages now in the ring",),
        risks=("if the consumer of an orphan has already worked on the message, the work may be done again",),
    )


def blocker_plan(kind: OperationKind, queue: str, choice: Choice) -> Plan:
    """Return the end of a session."""
    return plan(
        kind,
        queue,
        title="End session 61?",
        count=1,
        unit="session",
        first=(),
        left_out=(),
        batch=None,
        seconds=None,
        predicate="session 61, begun 2026-11-21 12:20:00.123 UTC, in its transaction begun 2026-11-21 12:28:03.456 UTC",
        undo=Undo(False, ("the session's transaction is rolled back, and its work must be done again",)),
        consequences=(
            "mailer, login shop from app-7, database orders",
            "idle in transaction for 2 h 04 m; the transaction began 2 h 04 m ago",
            "last statement: UPDATE invoices SET …",
            "the session blocks 1 session, 1 directly: mailer; the longest wait is 12 s",
        ),
        risks=(
            "the transaction has changed or locked rows: the changes are rolled back and the locks released"
            " immediately",
            "the client loses the connection (57P01), but may reconnect and do the same again",
        ),
        sql=("SELECT pg_terminate_backend(a.pid) AS signalled",),
    )


def refused_plan(kind: OperationKind, queue: str, choice: Choice) -> Plan:
    """Return a plan without any messages."""
    return replace(plan(kind, queue, count=0, first=(), sql=()), refused="no message matches: nothing to do")


class Dialog:
    """An app whose dialog is at a step."""

    def __init__(
        self, make: Callable[[OperationKind, str, Choice], Plan], *keys: str, step: DialogStep, plain: bool = False
    ) -> None:
        self.script = Script(make=make)
        self.source, self.keys, self.step = Scripted(), keys, step
        self.app = QmonApp(
            DashboardTarget(self.source, self.source.fold, prod=True, runner=ScriptedOffice(self.script)),
            clock=Clock(),
            plain=plain,
        )

    async def ready(self, pilot: Pilot[None]) -> None:
        """Give figures, press the keys, and wait for the dialog's step."""
        await pilot.pause()
        self.source.give(view())
        for _ in range(3):
            await pilot.pause()
        for key in self.keys:
            await pilot.press(key)
            await pilot.pause()
        if self.keys:
            await self.until(pilot, lambda: self.at() not in (None, DialogStep.PLANNING))
        if self.step in (DialogStep.APPLYING, DialogStep.ENDED):
            await pilot.click("#act-do")
            await self.until(pilot, lambda: "602" in self.written())
        if self.step is DialogStep.ENDED:
            self.script.goes.set()
        await self.until(pilot, lambda: self.at() is self.step)
        for _ in range(3):
            await pilot.pause()

    def at(self) -> DialogStep | None:
        """Return the step of the dialog."""
        return self.app.screen.step if isinstance(self.app.screen, ActionDialog) else None

    def written(self) -> str:
        """Return its text."""
        return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())

    async def until(self, pilot: Pilot[None], ask: Callable[[], bool]) -> None:
        """Let the app go on until ``ask`` is true."""
        await pilot_until(pilot, ask, self.written)


def simple_plan(kind: OperationKind, queue: str, choice: Choice) -> Plan:
    """The plan as it is."""
    return plan(kind, queue)


CASES: dict[str, tuple[Callable[[OperationKind, str, Choice], Plan], tuple[str, ...], DialogStep]] = {
    "requeue": (typed_plan, ("r",), DialogStep.CONFIRM),
    "redrive": (redrive_plan, ("d",), DialogStep.CONFIRM),
    "purge": (purge_plan, ("x",), DialogStep.CONFIRM),
    "pause": (pause_plan, ("p",), DialogStep.CONFIRM),
    "resume": (resume_plan, ("p",), DialogStep.CONFIRM),
    "undo": (undo_plan, ("u",), DialogStep.CONFIRM),
    "repair": (repair_plan, ("down", "down", "R"), DialogStep.CONFIRM),
    "end-session": (blocker_plan, ("E",), DialogStep.CONFIRM),
    "refused": (refused_plan, ("r",), DialogStep.REFUSED),
    "applying": (simple_plan, ("r",), DialogStep.APPLYING),
    "ended": (simple_plan, ("r",), DialogStep.ENDED),
}


@pytest.mark.parametrize("size", SIZES, ids=IDS)
@pytest.mark.parametrize("case", CASES)
def test_dialog(snap_compare: Compare, case: str, size: tuple[int, int]) -> None:
    make, keys, step = CASES[case]
    shown = Dialog(make, *keys, step=step)
    assert snap_compare(shown.app, terminal_size=size, run_before=shown.ready)


def test_dialog_without_colours(snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    shown = Dialog(typed_plan, "r", step=DialogStep.CONFIRM, plain=True)
    assert snap_compare(shown.app, terminal_size=(80, 24), run_before=shown.ready)


@pytest.mark.parametrize("size", SIZES, ids=IDS)
@pytest.mark.parametrize("key", ["", "enter"], ids=["list", "details"])
def test_operations(snap_compare: Compare, size: tuple[int, int], key: str) -> None:
    shown = Dialog(simple_plan, step=DialogStep.CONFIRM)

    async def ready(pilot: Pilot[None]) -> None:
        await pilot.pause()
        shown.source.give(view())
        await pilot.pause()
        await pilot.press("6")
        await shown.until(pilot, lambda: "40,112" in shown.written())
        if key:
            await pilot.press(key)
            await pilot.pause()
        await pilot.pause()

    assert snap_compare(shown.app, terminal_size=size, run_before=ready)
