"""The dashboard with a configuration file: proposes queues that it finds, and applies changes of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from qmon.config.config_file import Config, TargetConfig
from qmon.errors import BadInput
from qmon.model.alerts.alert_rules import rules_for_target
from qmon.model.formatting import count_text
from qmon.model.layout.layout import ObjectName
from qmon.model.view import QueueView, View
from qmon.monitor.alerting import Alerting
from qmon.monitor.catalog.discovery.candidates import Candidate
from qmon.operate.operator_context import read_only_reason
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.action_runner import describe_problem
from qmon.tui.app import QmonApp
from qmon.tui.configuration.followed_config import FollowedConfig
from qmon.tui.configuration.proposal_dialog import ProposalDialog, QueuesFound
from qmon.tui.daemon_thread import start_daemon
from qmon.tui.sanitize import clean
from qmon.tui.watched_target import DashboardTarget


class ConfigurationText(Text):
    """The notices about proposed queues and about changes of ``qmon.toml``."""

    SEARCHING = "looking for tables that may be queues"
    NOTHING_FOUND = "no other table here looks like a queue"
    WRITTEN = "{queues} written to {path}"
    ALREADY_THERE = "already in {path}: {tables}"
    RELOADED = "reloaded {file}{restart}"
    NEEDS_RESTART = "; restart qmon to apply: {keys}"


class ConfiguredApp(QmonApp, inherit_bindings=False):
    """The dashboard over a target that it polls itself. It can find queues and write these to ``qmon.toml``."""

    BINDINGS = keys.APP

    def __init__(self, target: DashboardTarget, *, followed: FollowedConfig, **options: Any) -> None:
        super().__init__(target, **options)
        self.unwritable_reason = ""
        self._followed = followed
        self._is_searching = self._has_searched = False
        self._proposed_table: ObjectName | None = None
        known = followed.target_config
        # True if the dashboard was started read-only. The configuration file cannot allow changes then.
        self._read_only = self.shown.read_only and not (known is not None and known.read_only)

    def show_view(self, view: View) -> None:
        """Apply a changed file first, and search once for tables that may be queues."""
        self._reload_config()
        if not self._has_searched:
            self._search_queues(by_user=False)
        super().show_view(view)

    def tick(self) -> None:
        super().tick()
        self._reload_config()

    # ------------------------------------------------------------------------------------------------- proposals

    def propose_queues(self, queue: QueueView | None = None) -> None:
        self._proposed_table = None if queue is None else queue.layout.table
        self._search_queues(by_user=True)

    def _search_queues(self, *, by_user: bool) -> None:
        """Search for queues on a thread, then post ``QueuesFound``. ``by_user``: the user requested the search."""
        if self._is_searching:
            return
        self._is_searching = self._has_searched = True
        if by_user:
            self.notify_briefly(ConfigurationText.SEARCHING)

        def run() -> None:
            try:
                message = QueuesFound(self._followed.find_queues(), by_user=by_user)
            except Exception as problem:
                message = QueuesFound((), describe_problem(problem), by_user=by_user)
            self.post_message(message)

        start_daemon(run, "qmon-discovery")

    def on_queues_found(self, message: QueuesFound) -> None:
        """Remember the tables. List the tables if the user asked, or if no queue is known and no dialog is open."""
        self._is_searching = False
        if not message.problem:
            self.candidate_tables = frozenset(each.layout.table for each in message.candidates)
            self.ticks += 1
        view = self.shown.view
        unasked = view is not None and not view.queues and view.server.broker is None and len(self.screen_stack) == 1
        if message.candidates and (message.by_user or unasked):
            path, at = self._followed.config.path, self._proposed_table
            self.push_screen(ProposalDialog(self.shown.target, message.candidates, path, at), self._write_queues)
        elif message.by_user:
            words = clean(message.problem) or ConfigurationText.NOTHING_FOUND
            self.notify(words, timeout=10, markup=False)

    def _write_queues(self, chosen: Sequence[Candidate] | None) -> None:
        if not chosen:
            return
        try:
            new = self._followed.add_queues(chosen)
        except BadInput as problem:
            self.notify(clean(str(problem)), severity="error", timeout=30, markup=False)
            return
        self.candidate_tables -= {each.layout.table for each in chosen}
        path = clean(str(self._followed.config.path))
        already = [clean(str(each.layout.table)) for each in chosen if each not in new]
        words = [ConfigurationText.WRITTEN.render(queues=count_text(len(new), "queue"), path=path)] if new else []
        words += [ConfigurationText.ALREADY_THERE.render(path=path, tables=", ".join(already))] if already else []
        self.notify("; ".join(words), timeout=10, markup=False)
        self.source.poll_now(include_throttled=True)

    # ------------------------------------------------------------------------------------------------- reloading

    def _reload_config(self) -> None:
        """Apply the configuration file if it has changed.

        If the file cannot be read, report the problem and keep the old settings.
        """
        before = self._followed.config
        try:
            config = self._followed.reload_if_changed()
        except BadInput as problem:
            self.notify(clean(str(problem)), severity="error", timeout=30, markup=False)
            return
        if config is None:
            return
        later = self._apply_changes(before, config)
        restart = ConfigurationText.NEEDS_RESTART.render(keys=", ".join(later)) if later else ""
        words = ConfigurationText.RELOADED.render(file=clean(config.path.name), restart=restart)
        self.notify(words, timeout=10, markup=False)

    def _apply_changes(self, before: Config, config: Config) -> list[str]:
        """Apply changed settings. Return the keys of the settings that only take effect after a restart."""
        known = self._followed.target_config
        old = before.targets.get(known.name) if known is not None else None
        self._configure_alerts(config)
        if (interval_s := config.settings.interval_s) != before.settings.interval_s:
            self.source.set_interval(interval_s)
            self.preferences.change_target(self.shown.target, lambda of: replace(of, interval_s=None))
            self.shown = replace(self.shown, interval_s=interval_s)
        if known is not None:
            self._configure_target(known)
        settings, settings_before = config.settings, before.settings
        changed = {
            "redact": settings.redact != settings_before.redact,
            "trash": settings.trash_days != settings_before.trash_days,
            "budget_percent": settings.budget_percent != settings_before.budget_percent,
            "[[notify]]": config.receivers != before.receivers,
        }
        if known is not None and old is not None:
            changed |= {
                "connect": (known.connect, known.engine) != (old.connect, old.engine),
                "budget": known.budget != old.budget,
                "baselines": known.baselines != old.baselines,
            }
        return [name for name, is_so in changed.items() if is_so]

    def _configure_alerts(self, config: Config) -> None:
        rules, bell = rules_for_target(config.alerts, self.shown.target), config.alerting.bell
        if self.alerting is not None:
            self.alerting.configure_rules(self.current.name, rules, bell=bell)
        elif rules:
            self.use_alerting(Alerting({self.current.name: rules}, bell=bell))

    def _configure_target(self, known_target: TargetConfig) -> None:
        """Apply the target's badges, and whether changes are allowed."""
        read_only = self._read_only or known_target.read_only
        self.shown = replace(
            self.shown, environment=known_target.environment, prod=known_target.prod, read_only=read_only
        )
        if self.runner is None:
            return
        context = self.runner.context
        target = replace(
            context.target,
            environment=known_target.environment,
            prod=known_target.prod,
            read_only=known_target.read_only,
        )
        why = context.read_only if self._read_only else read_only_reason(target)
        self.runner.context = replace(context, target=target, read_only=why)
