"""The dashboard with an action's dialog in front, over a scripted operator."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from qmon.tui.actions.action_dialog import ActionDialog, DialogStep
from tests.tui.driving import Driver, dashboard
from tests.tui.scripted_acting import Script, ScriptedOffice

SMALL = (80, 24)


@asynccontextmanager
async def asked(
    script: Script, *keys: str, size: tuple[int, int] = SMALL, step: DialogStep = DialogStep.CONFIRM
) -> AsyncIterator[Driver]:
    """Run the dashboard with figures after these keys, with the dialog at a step."""
    async with dashboard(size, runner=ScriptedOffice(script), read_only=False) as d:
        await d.give()
        await d.press(*keys)
        await d.until(at(d, step), f"the dialog at {step}")
        yield d
        script.planning.set()
        script.goes.set()


def at(d: Driver, step: DialogStep) -> Callable[[], bool]:
    """Return a condition: the dialog is in front, and at this step."""
    return lambda: isinstance(d.app.screen, ActionDialog) and d.app.screen.step is step


def dialog(d: Driver) -> ActionDialog:
    """Return the dialog in front."""
    assert isinstance(d.app.screen, ActionDialog)
    return d.app.screen


async def reach(d: Driver, id: str) -> None:
    """Move the focus there with the tab key alone."""
    for _ in range(8):
        focused = d.app.screen.focused
        if focused is not None and id in (focused.id, getattr(focused.parent, "id", None)):
            return
        await d.press("tab")
    raise AssertionError(f"tab does not reach {id}")
