"""Screen 4: lock chains at every size, with every kind of head blocker, and a key that ends one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.cost_budget import PollingCost, Throttled
from qmon.model.figure import Severity, Verdict
from qmon.model.operation_records import OperationKind
from qmon.model.samples.polled_samples import BlockingSample
from qmon.model.snapshot import ProbeFailure
from qmon.model.view import View
from qmon.model.waits.lock_chains import LockChains, build_lock_chains
from qmon.tui import redacting_fold
from qmon.tui.actions.action_dialog import ActionDialog
from qmon.tui.blocking.blocking_screen import BlockingScreenText, SessionDetails
from qmon.tui.blocking.tree import BlockingText, detail_lines
from qmon.tui.figures import UnreadText
from qmon.tui.screen_texts import ScreenText
from qmon.tui.shared.header import HeaderText
from qmon.tui.widgets.lines import Lines
from tests.tui.blocked import blocked_view, chain, head, tree, waits
from tests.tui.driving import dashboard
from tests.tui.pictures import SIZES, Compare, Shot
from tests.tui.scripted import NASTY, SAMPLED_AT, queue, snapshot, target, view
from tests.tui.scripted_acting import Script, ScriptedOffice
from tests.wordings import has


def shot_of(*keys: str, found: View | None = None, plain: bool = False) -> Shot:
    """The app on screen 4."""
    return Shot("4", *keys, found=found or blocked_view(), plain=plain)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_blocking(snap_compare: Compare, size: tuple[int, int]) -> None:
    shot = shot_of("down")
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)


@pytest.mark.parametrize("case", ["details", "deep", "plain"])
def test_blocking_otherwise(snap_compare: Compare, case: str) -> None:
    shots = {
        "details": shot_of("enter"),
        "deep": shot_of("G", found=blocked_view(chain(60))),
        "plain": shot_of("down", plain=True),
    }
    assert snap_compare(shots[case].app, terminal_size=(80, 24), run_before=shots[case].ready)


async def test_the_screen_asks_for_what_it_needs_and_at_once() -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("4")
        assert d.source.asked[-2:] == [d.source.focus, "poll_now"]
        assert d.source.focus.blocking
        await d.press("escape")
        assert d.app.current_mode == "overview"
        assert not d.source.focus.blocking


@pytest.mark.parametrize("cells", [120, 140, 200])
async def test_the_object_of_a_lock_and_its_mode_are_not_cut(cells: int) -> None:
    async with dashboard((cells, 40)) as d:
        await d.give(blocked_view())
        await d.press("4")
        assert has(d.text(), BlockingText.LOCK, object="dbo.QueueMeta row (0,17)", mode="Exclusive")


async def test_the_tree_and_what_is_said_of_the_session_under_the_cursor() -> None:
    async with dashboard((120, 40)) as d:
        await d.give(blocked_view())
        await d.press("4")
        assert has(d.lines("blocking-heading"), BlockingText.SUMMARY, count=13, heads="4 head blockers")
        assert "deadlocks/s 0" in d.lines("blocking-heading")
        held = BlockingText.HELD_ROWS.render(rows="≥200 rows", queue="mails")
        assert has(d.lines("session"), BlockingText.HOLDS, rows=held)
        lasted = BlockingText.FOR_TIME.render(duration="2 h 03 m")
        assert has(d.lines("session"), BlockingText.IDLE, state="idle in transaction", time=lasted)
        assert "├─ 71" in d.text()
        assert "│  └─ 78" in d.text()
        assert "■ pay-7731" in d.text()
        assert d.text().count("90") >= 2
        await d.press("G")
        assert has(d.lines("session"), BlockingText.CYCLE)


async def test_a_session_with_several_blockers_names_them_all() -> None:
    async with dashboard((120, 40)) as d:
        await d.give(blocked_view())
        await d.press("4", *["down"] * 9)
        assert d.grid.cursor == "90"
        waits_for = BlockingText.WAITS_FOR.render(sessions="61, 84")
        assert has(
            d.lines("session"),
            BlockingText.TO_LOCK,
            waits=waits_for,
            time=BlockingText.FOR_TIME.render(duration="1 m 04 s"),
            object="table dbo.QueueMeta",
            mode="AccessExclusive",
        )
        await d.press("down")
        assert has(d.lines("session"), BlockingText.IN_LOCK_QUEUE, sessions="90")
        await d.press("down", "down")
        assert d.grid.cursor == "90@84"
        assert has(d.lines("session"), BlockingText.WAITS_FOR, sessions="61, 84")


async def test_texts_of_strangers_are_texts() -> None:
    async with dashboard((200, 50)) as d:
        await d.give(blocked_view())
        await d.press("4", "slash", *"alarm", "enter")
        assert d.grid.row_keys == ("84",)
        assert "[red]x[/] ␛[31mALARM" in d.text()
        assert "\x1b[31m" not in d.text()
        await d.press("enter")
        assert NASTY not in d.text()


async def test_the_filter_keeps_who_stands_above() -> None:
    async with dashboard() as d:
        await d.give(blocked_view())
        await d.press("4", "slash", *"psql", "enter")
        assert d.grid.row_keys == ("61", "90", "84", "90@84")
        await d.press("escape", "slash", *"nonsense", "enter")
        assert has(d.text(), ScreenText.NO_MATCH, what="session", filter="nonsense")


async def test_enter_shows_the_whole_statement_and_e_ends_exactly_that_session() -> None:
    script = Script()
    async with dashboard(runner=ScriptedOffice(script), read_only=False) as d:
        await d.give(blocked_view())
        await d.press("4", "enter")
        assert isinstance(d.app.screen, SessionDetails)
        written = " ".join(d.app.screen.query_one("#details-lines", Lines).plain_lines)
        assert "AND StartedAt < now() - interval '5 m'" in " ".join(written.split())
        await d.press("E")
        await d.until(lambda: isinstance(d.app.screen, ActionDialog) and script.asked, "the plan")
        assert script.asked[-1][0] is OperationKind.END_SESSION
        assert script.asked[-1][-2:] == (61, SAMPLED_AT - 9_000)
        await d.press("escape", "down", "down", "E")
        await d.until(lambda: len(script.asked) == 2, "the next plan")
        assert script.asked[-1][-2:] == (72, SAMPLED_AT - 9_000)


async def test_a_key_that_comes_twice_ends_one_session_only() -> None:
    script = Script()
    async with dashboard(runner=ScriptedOffice(script), read_only=False) as d:
        await d.give(blocked_view())
        await d.press("4", "enter")
        shown = d.app.screen
        assert isinstance(shown, SessionDetails)
        shown.action_act()
        shown.action_act()
        await d.until(lambda: isinstance(d.app.screen, ActionDialog) and script.asked, "the plan")
        shown.action_close()
        assert len(script.asked) == 1
        assert isinstance(d.app.screen, ActionDialog)


async def test_from_the_overview_e_ends_the_head_as_it_was_seen() -> None:
    script = Script()
    async with dashboard(runner=ScriptedOffice(script), read_only=False) as d:
        await d.give(blocked_view())
        await d.press("E")
        await d.until(lambda: script.asked, "the plan")
        assert script.asked[-1][-2:] == (61, SAMPLED_AT - 9_000)


async def test_a_verdict_that_names_a_blocker_leads_here() -> None:
    proof = "session 61 (idle in transaction) holds all 31 messages"
    locked = queue("mails", ready=31, verdict=Verdict("everything locked", proof, Severity.CRITICAL, key="4"))
    async with dashboard() as d:
        await d.give(replace(blocked_view(), queues=(locked,)))
        assert "■ everything locked [4]" in d.text()
        assert proof in d.lines("why")
        await d.press("4")
        assert "■ 61" in d.text()


@pytest.mark.parametrize(
    ("case", "why"), [("nobody", str(BlockingScreenText.NO_SESSION)), ("read-only", "was started so")]
)
async def test_why_nothing_can_be_ended(case: str, why: str) -> None:
    runner = ScriptedOffice(read_only="qmon was started so" if case == "read-only" else None)
    async with dashboard(runner=runner, read_only=False) as d:
        await d.give(blocked_view(LockChains() if case == "nobody" else None))
        await d.press("4", "E")
        await d.until(lambda: why in d.said(), "the reason")
        assert not isinstance(d.app.screen, ActionDialog)


@pytest.mark.parametrize("size", SIZES)
async def test_when_nobody_waits_and_when_nobody_knows(size: tuple[int, int]) -> None:
    denied = ProbeFailure("waits", "our role sees no session but its own", grant="GRANT pg_read_all_stats TO qmon")
    async with dashboard(size) as d:
        await d.press("4")
        assert has(d.text(), ScreenText.NO_FIGURES_YET)
        await d.give(blocked_view(LockChains()))
        assert has(d.text(), BlockingText.NONE_WAITS)
        await d.give(view(server=target(blocking=None), failures=(denied,)))
        assert "GRANT pg_read_all_stats TO qmon" in d.text()
        await d.give(view(server=target(blocking=None)))
        assert has(d.text(), UnreadText.NOT_READ, what="blocking")
        observing = PollingCost("1%", 10.0, 1.0, 10.0, (Throttled("", "blocking", 8.0, 1.0, 4.0),))
        await d.give(view(server=target(blocking=None, observing=observing)))
        assert has(d.text(), UnreadText.THROTTLED, what="blocking", duration="8.0 s")


async def test_figures_grow_old_on_this_screen_too() -> None:
    async with dashboard() as d:
        await d.give(blocked_view())
        await d.press("4")
        await d.wait(30.0)
        assert has(d.lines("blocking-heading"), HeaderText.AGO, age="30 s")
        assert d.is_grey("61")


async def test_the_cursor_stays_on_its_session() -> None:
    async with dashboard() as d:
        await d.give(blocked_view())
        await d.press("4", "down")
        assert d.grid.cursor == "71"
        fewer = tuple(p for p in tree().places if p.session.session in (71, 72))
        await d.give(replace(blocked_view(LockChains(fewer, 2)), sequence=8))
        assert d.grid.cursor == "71"


async def test_two_hundred_sessions_are_painted_line_by_line() -> None:
    async with dashboard((80, 24)) as d:
        await d.give(blocked_view(chain(200)))
        await d.press("4", "G")
        assert len(d.grid.row_keys) == 200
        assert f"{BlockingText.DEPTH.render(levels=199)} └─ 1199" in d.text()
        await d.press("g")
        assert "■ 1000" in d.text()


def test_statements_are_covered_before_any_screen_has_them() -> None:
    fold = redacting_fold(lambda _: blocked_view(), lambda statement: statement.replace("QueueMeta", "•••"))
    found = fold(snapshot(1)).server.blocking
    assert found is not None
    assert any("•••" in place.session.statement for place in found.places)
    assert not any("QueueMeta" in place.session.statement for place in found.places)
    assert found.waiters == tree().waiters


async def test_the_number_of_a_session_is_copied_without_its_branch() -> None:
    async with dashboard() as d:
        await d.give(blocked_view())
        await d.press("4", "down", "y")
        assert d.app.clipboard.isdecimal()
        assert f"└─ {d.app.clipboard}" in d.text() or f"├─ {d.app.clipboard}" in d.text()


def said_of(**known: object) -> str:
    """Return the lines of the dialog about one session, with one blank between words."""
    (place, *_) = build_lock_chains([head(61, **known)]).places
    return " ".join("".join(part for part, _ in line) for line in detail_lines(place, 200))


def test_what_the_server_says_of_a_blocker_is_among_its_details() -> None:
    said = said_of(
        transactions=2,
        isolation="serializable",
        batch_s=7_431.0,
        reads=1_204,
        writes=1,
        memory=4 * 2**20,
        state="rolling back",
        undone=0.35,
    )
    assert has(said, BlockingText.OPEN_FOR, duration="12 s") and "serializable" in said
    assert has(said, BlockingText.TRANSACTIONS, transactions="2 transactions")
    assert has(said, BlockingText.LAST_BATCH, duration="2 h 03 m")
    assert has(said, BlockingText.READ, pages="1,204 pages") and has(said, BlockingText.WRITTEN, pages="1 page")
    assert has(said, BlockingText.MEMORY, size="4.0 MB") and has(said, BlockingText.ROLLED_BACK, share="35 %")
    bare = said_of(statement="SELECT 1")
    unknown = (BlockingText.LAST_BATCH, BlockingText.WRITTEN, BlockingText.MEMORY, BlockingText.ROLLED_BACK)
    assert not any(has(bare, text) for text in unknown)


@pytest.mark.parametrize(
    ("threads", "said"), [(4, BlockingText.THREADS.render(count=4)), (1, " lock"), (None, " lock")]
)
def test_threads_of_one_session_are_one_that_waits(threads: int | None, said: str) -> None:
    found = build_lock_chains([head(61), *waits(71, 61, threads=threads)])
    assert found.waiters == 1
    place = found.find_line((71, ""))
    assert place is not None
    shown = " ".join("".join(part for part, _ in line) for line in detail_lines(place, 200))
    assert f"{BlockingText.FOR_TIME.render(duration='12 s')}{said}" in " ".join(shown.split())


async def test_an_open_dialog_goes_on_with_its_session_and_ends_no_other() -> None:
    script = Script()

    def given(poll: int, *rows: BlockingSample) -> View:
        return view(sequence=poll, at=2.0 * poll, server=target(blocking=build_lock_chains(rows)))

    holder = head(61, transaction_s=182.0)
    async with dashboard(runner=ScriptedOffice(script), read_only=False) as d:
        await d.give(given(1, holder, *waits(71, 61, waiting_s=181.0), head(84), *waits(85, 84)))
        await d.press("4", "enter")
        assert has(d.text(), BlockingText.OPEN_FOR, duration="3 m 02 s")
        await d.give(given(2, replace(holder, transaction_s=250.0), *waits(71, 61, waiting_s=249.0)))
        assert has(d.text(), BlockingText.OPEN_FOR, duration="4 m 10 s")
        await d.give(given(3, head(84), *waits(85, 84)))
        assert has(d.text(), BlockingScreenText.OVER)
        await d.press("E")
        await d.until(lambda: script.asked, "the plan")
        assert script.asked[-1][-2:] == (61, SAMPLED_AT - 9_000), "the cursor is now on 84"
