"""A new view repaints changed lines only, and copies nothing that redaction leaves unchanged."""

from __future__ import annotations

from dataclasses import replace

from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.strip import Strip

from qmon.tui import redacting_fold
from qmon.tui.widgets.compositor import ChangedLinesCompositor
from qmon.tui.widgets.lines import Lines
from tests.tui.scripted import later_view, snapshot


class CountingLines(Lines):
    """A panel that counts how often it is rendered."""

    renders = 0

    def render_lines(self, crop: object) -> list[Strip]:
        self.renders += 1
        return super().render_lines(crop)  # type: ignore[arg-type]


class ThreePanels(Screen[None]):
    """Three panels below each other."""

    CSS = "CountingLines { height: 2; }"

    def __init__(self) -> None:
        super().__init__()
        self._compositor = ChangedLinesCompositor()

    def compose(self) -> ComposeResult:
        for name in ("top", "middle", "bottom"):
            yield CountingLines(id=name)

    def show(self, name: str, text: str) -> CountingLines:
        panel = self.query_one(f"#{name}", CountingLines)
        panel.show(lambda cells, rows: [((text, "text"),)] * rows)
        return panel

    @property
    def painted(self) -> list[str]:
        return [strip.text.rstrip() for strip in self._compositor.render_strips()]


async def test_panels_between_changed_panels_are_not_rendered() -> None:
    screen = ThreePanels()
    app = App[None]()
    async with app.run_test(size=(20, 6)) as pilot:
        await app.push_screen(screen)
        middle = screen.show("middle", "same")
        screen.show("top", "one")
        screen.show("bottom", "one")
        await pilot.pause()
        assert screen.painted == ["one", "one", "same", "same", "one", "one"]
        rendered = middle.renders
        top = screen.show("top", "two")
        before = top.renders
        screen.show("bottom", "two")
        await pilot.pause()
        assert top.renders > before
        assert middle.renders == rendered
        assert screen.painted == ["two", "two", "same", "same", "two", "two"]


def test_queues_that_redaction_leaves_unchanged_are_not_copied() -> None:
    given = later_view(1, taken_at=0.0)
    view = replace(given, queues=tuple(replace(queue, messages=None) for queue in given.queues))
    assert redacting_fold(lambda _: view, lambda text: text)(snapshot(1)).queues is view.queues
    hidden = redacting_fold(lambda _: view, lambda _: "•••")(snapshot(1))
    assert {verdict.proof for queue in hidden.queues for verdict in (queue.verdict, *queue.verdicts)} == {"•••"}
