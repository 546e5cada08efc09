"""The dashboard on a real server, driven by a pilot."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import Input

from qmon.model.layout.layout import Layout
from qmon.monitor.open import open_poller
from qmon.monitor.state.target_history import TargetHistory
from qmon.operate.context import OperatorContext
from qmon.operate.operator_context import create_context
from qmon.tui import ActionRunner, redacting_fold
from qmon.tui.actions.action_dialog import ActionDialog, DialogStep
from qmon.tui.app import QmonApp
from qmon.tui.watched_target import DashboardTarget
from qmon.tui.widgets.lines import Lines
from tests.contract.watching import ROOMY, target_of
from tests.jobs import layout
from tests.tui.pilot_waits import pilot_until


class Real:
    """The dashboard on one database, driven by a pilot."""

    def __init__(self, app: QmonApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def dialog(self) -> ActionDialog | None:
        """Return the dialog in front, if there is one."""
        return self.app.screen if isinstance(self.app.screen, ActionDialog) else None

    def text(self) -> str:
        """Return the whole screen."""
        return "\n".join(strip.text for strip in self.app.screen._compositor.render_strips())

    async def until(self, ask: Callable[[], object], what: str) -> None:
        """Let the app go on until the condition holds."""
        await pilot_until(self.pilot, ask, lambda: f"{what}\n{self.text()}")

    async def step(self, step: DialogStep) -> None:
        """Wait until the dialog is there."""
        await self.until(lambda: self.dialog is not None and self.dialog.step is step, f"the dialog at {step}")

    async def does(self, key: str, reason: str = "") -> None:
        """Press a key, confirm its plan, and wait for its end."""
        await self.pilot.press(key)
        await self.step(DialogStep.CONFIRM)
        if reason:
            self.app.screen.query_one("#act-reason Input", Input).focus()
            await self.pilot.press(*reason)
        while self.app.screen.focused is None or self.app.screen.focused.id != "act-do":
            await self.pilot.press("tab")
        await self.pilot.press("enter")
        await self.step(DialogStep.ENDED)
        assert "done after" in self.text(), self.text()


@asynccontextmanager
async def looking(
    url: str,
    tmp_path: Path,
    *,
    queue: str = "jobs",
    read_only: str | None = None,
    layouts: Sequence[Layout] | None = None,
) -> AsyncIterator[Real]:
    """Run the live dashboard."""
    target = target_of(url)
    context: OperatorContext = replace(create_context(target, read_only=read_only), audit=tmp_path / "audit.jsonl")
    runner = ActionRunner(context)
    poller = open_poller(target, [layout(queue)] if layouts is None else layouts, interval_s=0.5, budget=ROOMY)
    app = QmonApp(
        DashboardTarget(poller, redacting_fold(TargetHistory().record_snapshot, context.redact), runner=runner),
        plain=False,
    )
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            real = Real(app, pilot)
            await real.until(lambda: "live" in real.text() and queue[:4] in real.text(), "live")
            yield real
    finally:
        runner.close(5.0)
        poller.close()


def header(app: QmonApp) -> str:
    """Return the header's text."""
    return "\n".join(app.screen.query_one("#header", Lines).plain_lines)


async def until(pilot: Pilot[None], ask: Callable[[], bool], what: str) -> None:
    """Let the app go on until ``ask`` is true."""
    await pilot_until(pilot, ask, lambda: f"{what}; the header says {header(pilot.app)!r}")  # type: ignore[arg-type]
