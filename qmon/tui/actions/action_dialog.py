"""The dialog of every action: planning, confirmation, progress and result. No step blocks a key press."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.events import DescendantFocus
from textual.widgets import Input

from qmon.model.operation_records import Consent, OperationKind, OperationResult, Plan, Progress
from qmon.model.view import QueueView
from qmon.operate.context import Permission
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.action_runner import ActionRunner, ActionTask, Ended, Planned, Progressed
from qmon.tui.actions import dialog_text
from qmon.tui.actions.plan_text import VERBS, can_undo
from qmon.tui.actions.request import ActionRequest, options_for, text_fields_for
from qmon.tui.app import QmonApp
from qmon.tui.sanitize import clean, shorten, text_width
from qmon.tui.widgets.button import Button
from qmon.tui.widgets.dialog import Dialog
from qmon.tui.widgets.lines import Lines
from qmon.tui.widgets.segmented_control import SegmentedControl

if TYPE_CHECKING:
    from qmon.operate.run.running_operation import PreparedAction

_TICK_S: Final = 0.5
_SHORT_NAME: Final = 4
# The number of rows of the dialog that do not scroll.
_OTHER_ROWS: Final = 9


class ConfirmationText(Text):
    """The hints in the fields of the dialog, and requests to fill the fields."""

    REASON = "why; written to the audit log"
    REASON_REQUIRED = "required: why; written to the audit log"
    NAME = "exact name"
    TYPE_NAME = "type the queue's name exactly: {name}"
    ENTER_REASON = "enter a reason; it is written to the audit log"


class DialogStep(StrEnum):
    """The step of the dialog. Its value is the CSS class that shows and hides the rows."""

    PLANNING = "-planning"
    REFUSED = "-refused"
    CONFIRM = "-confirm"
    APPLYING = "-applying"
    ENDED = "-ended"


class ActionDialog(Dialog[OperationResult | None], inherit_bindings=False):
    """The dialog of one action. Its result is the operation's result, or ``None`` if it was not started."""

    BINDINGS = keys.ACTION_DIALOG
    AUTO_FOCUS = "#act-close"
    app = getters.app(QmonApp)

    def __init__(self, request: ActionRequest, runner: ActionRunner) -> None:
        super().__init__()
        self.step = DialogStep.PLANNING
        # The original request, without the choices made in the dialog.
        self._base_request = request
        self._options, self._texts = options_for(request), text_fields_for(request)
        self._request = self._request_with([each.at for each in self._options], [""] * len(self._texts))
        self._runner = runner
        self._action_task: ActionTask | None = None
        self._prepared: PreparedAction | None = None
        self._result: OperationResult | None = None
        self._problem = ""
        self._progress: Progress | None = None
        self._queue_before: QueueView | None = None
        self._phase_began_at = self._planned_at = self._ended_at = 0.0
        self._shows_sql = False

    @property
    def plan(self) -> Plan | None:
        """The plan, once planning has finished."""
        return self._prepared.plan if self._prepared is not None else None

    @property
    def _is_resume(self) -> bool:
        """True if the pause key was pressed for a paused queue. Then the dialog offers no duration."""
        return self.plan is not None and self.plan.kind is OperationKind.RESUME

    def compose(self) -> ComposeResult:
        with Vertical(id="act"):
            yield Lines(id="act-title")
            with VerticalScroll(id="act-body", can_focus=False):
                yield Lines(id="act-text", most=1_000)
            for number, text in enumerate(self._texts):
                with Horizontal(id=f"act-text-{number}", classes="field choice"):
                    yield Lines(classes="label")
                    yield Input(compact=True, max_length=500, placeholder=text.about, classes="choice")
            for number, option in enumerate(self._options):
                with Horizontal(id=f"act-option-{number}", classes="field choice"):
                    yield Lines(classes="label")
                    yield SegmentedControl([words for words, _ in option.values], option.at)
            with Horizontal(id="act-reason", classes="field"):
                yield Lines(classes="label")
                yield Input(compact=True, max_length=500, placeholder=ConfirmationText.REASON)
            with Horizontal(id="act-typed", classes="field"):
                yield Lines(classes="label")
                yield Input(compact=True, placeholder=ConfirmationText.NAME)
            yield Lines(id="act-problem", most=2)
            with Horizontal(id="act-buttons"):
                yield Lines(id="act-hint")
                yield Button(VERBS[self._request.kind], changes_data=True, id="act-do")
                yield Button("Cancel", id="act-close")

    def on_mount(self) -> None:
        self.watch(self.app, "shown", self._figures_came, init=False)
        self.watch(self.query_one("#act-body"), "show_vertical_scrollbar", self._draw_hint, init=False)
        self.set_interval(_TICK_S, self._draw)
        self._start_planning()

    # -------------------------------------------------------------------------------------------------- the steps

    def _go_to_step(self, step: DialogStep) -> None:
        self.remove_class(*DialogStep)
        self.step = step
        self.add_class(step)
        self.query_one("#act-close", Button).set_label(dialog_text.STEPS[step].closes)
        self._draw()

    def _start_planning(self) -> None:
        if self._action_task is not None:
            self._action_task.cancel()
        self._prepared, self._problem, self._phase_began_at = None, "", self.app.clock()
        self._action_task = self._runner.new_task(self)
        self._action_task.start_planning(self._request.prepare)
        self._go_to_step(DialogStep.PLANNING)

    def on_planned(self, message: Planned) -> None:
        """Show the plan for confirmation, or the reason why the plan cannot be applied."""
        if self._action_task is None or message.number != self._action_task.number:
            return
        self._prepared, self._planned_at = message.prepared, self.app.clock()
        plan = self.plan
        self._problem = message.problem or (plan.refused or "" if plan is not None else "")
        if plan is not None:
            self.query_one("#act-do", Button).set_label(VERBS[plan.kind])
            self.set_class(plan.consent is Consent.TYPED, "-typed")
            self.query_one("#act-reason Input", Input).placeholder = (
                ConfirmationText.REASON_REQUIRED if plan.needs_reason else ConfirmationText.REASON
            )
        self._go_to_step(DialogStep.REFUSED if self._problem or plan is None else DialogStep.CONFIRM)
        if not (
            isinstance(self.focused, SegmentedControl)
            or (self.focused is not None and self.focused.has_class("choice"))
        ):
            self.query_one("#act-close", Button).focus()

    @on(SegmentedControl.Changed)
    @on(Input.Blurred, "Input.choice")
    @on(Input.Submitted, "Input.choice")
    def _replan_if_changed(self) -> None:
        if self.step in (DialogStep.PLANNING, DialogStep.REFUSED, DialogStep.CONFIRM):
            now = self._current_request()
            if now != self._request:
                self._request = now
                self._start_planning()

    def _request_with(self, at: Sequence[int], typed: Sequence[str]) -> ActionRequest:
        """Return the request with these chosen values and typed texts."""
        request = self._base_request
        for option, place in zip(self._options, at, strict=True):
            request = option.values[place][1](request)
        for field, text in zip(self._texts, typed, strict=True):
            request = field.change(request, text.strip())
        return request

    def _current_request(self) -> ActionRequest:
        """Return the request with the current choices and typed texts."""
        return self._request_with(
            [each.at for each in self.query(SegmentedControl)],
            [each.value for each in self.query("Input.choice").results(Input)],
        )

    def _start_applying(self) -> None:
        plan = self.plan
        if self._prepared is None or plan is None or self._action_task is None or self.step is not DialogStep.CONFIRM:
            return
        if self._current_request() != self._request:
            self._replan_if_changed()
            return
        reason, typed = (self.query_one(f"#act-{name} Input", Input) for name in ("reason", "typed"))
        name = self.app.confirmation_name(plan.queue)
        same = typed.value in (name, clean(name))  # the user may also type the name as it is shown
        if plan.consent is Consent.TYPED and not same:
            self._show_problem(ConfirmationText.TYPE_NAME.render(name=name), typed)
            return
        if plan.needs_reason and not reason.value.strip():
            self._show_problem(ConfirmationText.ENTER_REASON, reason)
            return
        self._queue_before = self._current_queue()
        self._phase_began_at = self.app.clock()
        self._problem = ""
        self._action_task.start_applying(self._prepared, Permission(reason.value.strip(), plan.queue if same else ""))
        self.query_one("#act-close", Button).focus()
        self._go_to_step(DialogStep.APPLYING)

    def _show_problem(self, problem: str, at: Input) -> None:
        self._problem = problem
        at.focus()
        self._draw()

    def on_progressed(self, message: Progressed) -> None:
        self._progress = message.progress
        if self.step is DialogStep.APPLYING:
            self._draw()

    def on_ended(self, message: Ended) -> None:
        """Show the result and poll again."""
        self._result, self._problem = message.result, message.problem
        if message.refused and self._progress is None:
            self._go_to_step(DialogStep.CONFIRM)
            self.query_one("#act-reason Input", Input).focus()
            return
        self._ended_at = self.app.clock()
        self._go_to_step(DialogStep.ENDED)
        self.query_one("#act-close", Button).focus()
        self.app.source.poll_now(changed=self._queue_name)

    def _figures_came(self) -> None:
        if self.step is DialogStep.ENDED:
            self._draw()

    # ---------------------------------------------------------------------------------------------------- drawing

    @property
    def _queue_name(self) -> str:
        return self.plan.queue if self.plan is not None else self._request.queue

    def _current_queue(self) -> QueueView | None:
        view = self.app.shown.view
        return view.queue(self._queue_name) if view is not None else None

    def _since_end_s(self) -> float:
        """Return the seconds from the end of the operation to the start of the shown poll of its queue.

        Zero or less if the poll started before the end of the operation.
        """
        view, queue = self.app.shown.view, self._current_queue()
        if view is None or queue is None or self.step is not DialogStep.ENDED:
            return 0.0
        began = view.taken_at - view.server.client_ms / 1000 - view.since_read_s(queue)
        return began - self._ended_at

    def _dialog_text(self) -> dialog_text.DialogText:
        now = self.app.clock()
        took = (self._ended_at if self.step is DialogStep.ENDED else now) - self._phase_began_at
        stopping = self._action_task is not None and self._action_task.is_stopping
        since_end_s = self._since_end_s()
        return dialog_text.DialogText(
            self._request,
            self.plan,
            self._problem,
            took,
            self._progress,
            stopping,
            self._result,
            self._queue_before,
            self._current_queue() if since_end_s > 0 else None,
            self._shows_sql,
            since_end_s,
            now - self._planned_at,
        )

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        content, step, shown = self._dialog_text(), self.step.value, self.app.shown
        writer = dialog_text.STEPS[step].write
        self.query_one("#act-title", Lines).show(lambda cells, _: [dialog_text.title_line(content, step, shown, cells)])
        self.query_one("#act-text", Lines).show(lambda cells, _: writer(content, cells))
        problem = self._problem if self.step is DialogStep.CONFIRM else ""
        self.set_class(bool(problem), "-problem")
        choices = len(self._texts) + len(self._options)
        self.query_one("#act-body").styles.max_height = max(4, self.size.height - _OTHER_ROWS - max(0, choices - 1))
        self.query_one("#act-problem", Lines).show(lambda cells, _: dialog_text.problem_lines(problem, cells))
        self._draw_hint()
        name = clean(self.app.confirmation_name(self.plan.queue)) if self.plan is not None else ""
        labels = {"reason": "reason", "typed": f"type {shorten(name, 24)}"}
        labels |= {f"text-{number}": text.name for number, text in enumerate(self._texts)}
        labels |= {f"option-{number}": option.name for number, option in enumerate(self._options)}
        for row, label in labels.items():
            lines = self.query_one(f"#act-{row} .label", Lines)
            lines.show(lambda cells, _, label=label: [((f" {label}", "muted"),)])  # type: ignore[misc]
        self.set_class(not self._is_resume, "-optional")
        self.query_one("#act").set_class(text_width(name) > _SHORT_NAME, "-long")

    def _draw_hint(self) -> None:
        """Show the available keys. ``PgDn`` is only included if the text scrolls, which is known after the layout."""
        more = self.query_one("#act-body", VerticalScroll).show_vertical_scrollbar
        hint: str = dialog_text.STEPS[self.step].hint
        if self.step is DialogStep.CONFIRM and isinstance(self.focused, SegmentedControl):
            hint = dialog_text.KeyHint.CHOICE
        elif self.step is DialogStep.CONFIRM and isinstance(self.focused, Input):
            hint = dialog_text.KeyHint.FIELD
        hint += " · PgDn" if more and self.step in (DialogStep.CONFIRM, DialogStep.REFUSED) else ""
        self.query_one("#act-hint", Lines).show(lambda cells, _: [((f" {shorten(hint, cells - 1)}", "muted"),)])

    # ------------------------------------------------------------------------------------------------------- keys

    @on(DescendantFocus)
    def _focus_moved(self) -> None:
        self._draw_hint()

    @on(Button.Pressed, "#act-do")
    def _run_pressed(self) -> None:
        self._start_applying()

    @on(Button.Pressed, "#act-close")
    def _close_pressed(self) -> None:
        self.action_leave()

    @on(Input.Submitted)
    def _filled_in(self) -> None:
        self.focus_next()

    def action_leave(self) -> None:
        """Close the dialog, or stop the running operation.

        The first call stops the operation after the current batch. The second call stops the operation immediately,
        without waiting for the server.
        """
        if self.step is DialogStep.APPLYING and self._action_task is not None:
            if self._action_task.is_stopping:
                self._action_task.cancel()
                self.action_background()
            self._action_task.stop()
            self._draw()
            return
        if self.step is DialogStep.PLANNING and self._action_task is not None:
            self._action_task.cancel()
        self.finish(self._result)

    def action_sql(self) -> None:
        """Show or hide the statements of the plan."""
        self._shows_sql = not self._shows_sql
        self._draw()

    def action_background(self) -> None:
        """Close the dialog and let the operation continue. The app reports its result."""
        if self.step is DialogStep.APPLYING and self._action_task is not None and self.is_active:
            self._action_task.move_to_background(self.app)
            self.finish()

    def action_undo(self) -> None:
        """Request the undo of this operation."""
        result, plan = self._result, self.plan
        if self.step is DialogStep.ENDED and result is not None and can_undo(plan, result) and self.is_active:
            request = ActionRequest(
                OperationKind.UNDO, self._queue_name, self._request.layout, operation=result.operation
            )
            self.finish(result)
            self.app.push_screen(ActionDialog(request, self._runner))

    def action_next(self, action: str) -> None:
        """Once the operation has ended, close the dialog and request the next action on the screen below."""
        if self.step is DialogStep.ENDED and self.is_active:
            self.finish(self._result)
            self.app.call_next(self.app.run_action, f"screen.act('{action}')")

    def action_scroll(self, by: int) -> None:
        """Scroll the text one page up or down."""
        body = self.query_one("#act-body", VerticalScroll)
        body.scroll_page_down(animate=False) if by > 0 else body.scroll_page_up(animate=False)

    def action_go(self, by: int) -> None:
        """Focus the next or previous field or button."""
        self.focus_next() if by > 0 else self.focus_previous()
