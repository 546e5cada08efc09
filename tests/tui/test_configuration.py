"""The dashboard and its ``qmon.toml``: found queues are proposed and written, and changes of the file take effect."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from qmon.config.add_queues import append_blocks, unused_name
from qmon.config.config_file import Config, ConfigText, read_config
from qmon.engines.registry import engine_for
from qmon.errors import BadInput
from qmon.model.config_reader import KeyText
from qmon.monitor.open import open_poller, resolver_for
from qmon.monitor.state.target_history import TargetHistory
from qmon.operate.operator_context import ContextText, create_context
from qmon.tui.action_runner import ActionRunner
from qmon.tui.actions.availability import DisabledText
from qmon.tui.configuration import followed_config
from qmon.tui.configuration.configured_app import ConfigurationText, ConfiguredApp
from qmon.tui.configuration.followed_config import FollowedConfig
from qmon.tui.configuration.proposal_dialog import ProposalDialog, ProposalText
from qmon.tui.overview.overview_screen import OverviewScreen, OverviewText
from qmon.tui.watched_target import DashboardTarget
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.lines import Lines
from tests.contract.watching import ROOMY, target_of
from tests.facts import query
from tests.tui.live import until
from tests.wordings import has, pattern

POSSIBLE = """
CREATE TABLE parcels (id bigserial PRIMARY KEY, status text CHECK (status IN ('new', 'sent')), attempts int);
CREATE INDEX ON parcels (status, id);
INSERT INTO parcels (status) SELECT 'new' FROM generate_series(1, 3);
"""
PARCELS = ("public.parcels",)


@asynccontextmanager
async def watching(url: str, path: Path, typed: str = "") -> AsyncIterator[ConfiguredApp]:
    """Run the dashboard on a database, with this file as its configuration."""
    config = append_blocks(path, "other", "postgresql://db1/other", [])
    target = target_of(url)
    known = config.targets.get(typed)
    poller = open_poller(target, () if known is None else known.queues, interval_s=0.5, budget=ROOMY)
    follow = FollowedConfig(
        config, typed or url, target, lambda queues: poller.set_resolver(resolver_for(engine_for(target), queues))
    )
    app = ConfiguredApp(
        DashboardTarget(poller, TargetHistory().record_snapshot, runner=ActionRunner(create_context(target))),
        followed=follow,
        plain=False,
    )
    try:
        yield app
    finally:
        poller.close()


def names(app: ConfiguredApp) -> list[str]:
    """Return the queues on the screen."""
    view = app.shown.view
    return [] if view is None else [queue.name for queue in view.queues]


def said(app: ConfiguredApp) -> str:
    """Return the notifications that are still on screen."""
    return "\n".join(str(each.message) for each in app._notifications)


@pytest.mark.server
async def test_what_may_be_a_queue_is_proposed_written_and_watched(database: str, tmp_path: Path) -> None:
    query(database, POSSIBLE)
    path = tmp_path / "qmon" / "qmon.toml"
    async with watching(database, path) as app, app.run_test(size=(120, 40)) as pilot:
        await until(
            pilot,
            lambda: (
                isinstance(app.screen, ProposalDialog) and [g.row_keys for g in app.screen.query(Grid)] == [PARCELS]
            ),
            "the found queue is proposed",
        )
        assert names(app) == []
        await pilot.press("W")
        assert has(said(app), ProposalText.NONE_MARKED)
        await pilot.press("space", "W")
        await until(pilot, lambda: names(app) == ["parcels"], "it is watched")
        assert has(said(app), ConfigurationText.WRITTEN, queues="1 queue", path=path)
        await pilot.press("W")
        await until(pilot, lambda: has(said(app), ConfigurationText.NOTHING_FOUND), "nothing more is there")
    known = next(target for name, target in read_config(path).targets.items() if name != "other")
    assert target_of(known.connect).parameters == target_of(database).parameters
    assert [each["table"] for each in known.written.values()] == ["public.parcels"]


@pytest.mark.server
async def test_what_changes_in_the_file_counts_at_once_and_a_fault_changes_nothing(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followed_config, "CHECK_EVERY_S", 0.0)
    query(database, "CREATE TABLE a (id bigserial PRIMARY KEY); CREATE TABLE b (id bigserial PRIMARY KEY)")
    path = tmp_path / "qmon.toml"
    head = f"[target.shop]\nconnect = {json.dumps(database)}\n"
    queues = "[[target.shop.queue]]\nname = '{0}'\ntable = '{0}'\nid = 'id'\n"
    write(path, head + queues.format("a"))
    async with watching(database, path, "shop") as app, app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: names(app) == ["a"], "the file's queues are watched")
        app.action_slower()
        assert app.preferences.target_preferences(app.shown.target).interval_s == 1.0
        more = "environment = 'staging'\nread_only = true\nprod = true\nbudget = '2%'\n"
        write(path, head + more + queues.format("b") + "[settings]\ninterval = '1s'\n")
        await until(pilot, lambda: names(app) == ["b"], "the other one is watched, and the first no longer")
        restart = ConfigurationText.NEEDS_RESTART.render(keys="budget")
        assert has(said(app), ConfigurationText.RELOADED, file="qmon.toml", restart=restart)
        assert (app.shown.environment, app.shown.prod, app.shown.read_only) == ("staging", True, True)
        assert app.runner is not None
        assert has(app.runner.read_only_reason, ContextText.READ_ONLY)
        assert app.source.interval_s == 1.0
        assert app.preferences.target_preferences(app.shown.target).interval_s is None, "the file's setting wins"
        write(path, head + queues.format("b") + "conect = 1\n")
        await until(pilot, lambda: has(said(app), KeyText.UNKNOWN_KEY), "the fault is reported")
        assert (names(app), app.alerting) == (["b"], None)
        rule = "[[alert]]\nname = 'x'\nfigure = 'depth'\nwarn = 100\n"
        write(path, head + queues.format("b") + rule)
        await until(pilot, lambda: app.alerting is not None, "its rules are used")
        assert app.runner.read_only_reason is None


GUESSED = """
CREATE TABLE letters (
    id bigserial PRIMARY KEY, status text NOT NULL DEFAULT 'new', payload text,
    created_at timestamptz NOT NULL DEFAULT now(), started_at timestamptz, attempts int NOT NULL DEFAULT 0
);
CREATE INDEX ON letters (status, id);
INSERT INTO letters (status, started_at)
SELECT s, now() FROM (VALUES ('new'), ('processing'), ('done'), ('failed')) v (s);
"""


@pytest.mark.server
async def test_a_guessed_queue_is_kept_from_the_dashboard_and_can_be_acted_on_at_once(
    database: str, tmp_path: Path
) -> None:
    query(database, GUESSED + POSSIBLE)
    path = tmp_path / "qmon.toml"
    path.write_text("# mine\n")
    async with watching(database, path) as app, app.run_test(size=(120, 40)) as pilot:
        screen = app.screen
        assert isinstance(screen, OverviewScreen)
        await until(pilot, lambda: "letters" in names(app) and len(app.candidate_tables) == 2, "it is guessed")
        await until(pilot, lambda: has(heading(app), OverviewText.GUESSED, count=1), "the guessed queue is counted")
        await until(pilot, lambda: has(heading(app), OverviewText.ONE_CANDIDATE), "the other table is counted")
        await pilot.press("r")
        assert has(said(app), DisabledText.ONLY_GUESSED)
        await pilot.press("enter", "W")
        await until(
            pilot,
            lambda: (
                isinstance(app.screen, ProposalDialog)
                and [grid.cursor for grid in app.screen.query(Grid)] == ["public.letters"]
            ),
            "the tables are listed, with the cursor on this one",
        )
        await pilot.press("W")
        await until(pilot, lambda: not app.screen.disabled_reasons().get("requeue"), "it can be acted on")  # type: ignore[attr-defined]
        assert has(said(app), ConfigurationText.WRITTEN, queues="1 queue", path=path)
        assert app.screen.disabled_reasons().get("redrive") is None  # type: ignore[attr-defined]
        await pilot.press("1")
        left = OverviewText.PROPOSE_KEY.render(queues=OverviewText.ONE_CANDIDATE)
        await until(pilot, lambda: left in heading(app), "one is left")
    assert path.read_text().startswith("# mine\n")
    known = [target for name, target in read_config(path).targets.items() if name != "other"]
    assert [[queue["table"] for queue in each.written.values()] for each in known] == [["public.letters"]]


@pytest.mark.server
def test_a_queue_is_kept_once_by_its_address_too(database: str, tmp_path: Path) -> None:
    query(database, GUESSED)
    path, watched = tmp_path / "qmon.toml", list[int]()

    def started() -> FollowedConfig:
        config = read_config(path) if path.exists() else Config(path)
        return FollowedConfig(config, database, target_of(database), lambda queues: watched.append(len(queues)))

    first, second = started(), started()
    found = first.find_queues()
    assert [str(each.layout.table) for each in found] == ["public.letters"]
    assert first.add_queues(found) == found
    text = path.read_text()
    assert second.add_queues(found) == [], "another dashboard has kept it in the meantime"
    assert started().find_queues() == []
    assert (path.read_text(), watched) == (text, [1, 1])


@pytest.mark.server
def test_a_file_that_cannot_take_a_queue_is_one_line_and_stays(database: str, tmp_path: Path) -> None:
    query(database, GUESSED)
    path = tmp_path / "qmon.toml"
    follow = FollowedConfig(Config(path), database, target_of(database), lambda queues: None)
    found = follow.find_queues()
    path.write_text("conect = 1\n")
    with pytest.raises(BadInput, match=pattern(KeyText.UNKNOWN_KEY, path="conect")):
        follow.add_queues(found)
    assert path.read_text() == "conect = 1\n"
    blocked = FollowedConfig(Config(path / "qmon.toml"), database, target_of(database), lambda queues: None)
    with pytest.raises(BadInput, match=f"{pattern(ConfigText.UNREADABLE)}|{pattern(ConfigText.UNWRITABLE)}"):
        blocked.add_queues(found)


def heading(app: ConfiguredApp) -> str:
    """Return the title of the table of queues."""
    found = app.screen.query("#queues-heading")
    return "\n".join(each.plain_lines[0] for each in found.results(Lines) if each.plain_lines)


def write(path: Path, text: str) -> None:
    """Write the file as an editor does: write a new file, then replace the old one."""
    made = path.with_suffix(".new")
    made.write_text(text)
    made.replace(path)


def test_queues_are_added_at_the_end_and_what_is_there_stays(tmp_path: Path) -> None:
    path, link = tmp_path / "qmon.toml", tmp_path / "link.toml"
    mine = "# mine\n[target.shop]  # the shop\nconnect = 'postgresql://db1/shop'\n[settings]\ninterval = '1s'"
    path.write_text(mine)
    path.chmod(0o600)
    link.symlink_to(path)
    block = "[[target.{}.queue]]\nname = 'q'\ntable = 't'\nid = 'i'\n"
    config = append_blocks(link, "shop", None, [block.format("shop")])
    assert path.read_text() == f"{mine}\n\n{block.format('shop')}"
    assert (link.is_symlink(), path.stat().st_mode & 0o777) == (True, 0o600)
    assert [len(target.queues) for target in config.targets.values()] == [1]
    assert unused_name("shop", config) == "shop-2"
    before = path.read_text()
    with pytest.raises(BadInput, match=pattern(ConfigText.QUEUE_TWICE, queue="q")):
        append_blocks(path, "shop", None, [block.format("shop")])
    assert path.read_text() == before
    assert set(tmp_path.iterdir()) == {path, link}
    assert append_blocks(path, "shop-2", "postgresql://db2/shop", [block.format("shop-2")]).targets.keys() == {
        "shop",
        "shop-2",
    }
