"""Sets up alerting and its receivers from the configuration, for dashboards, other commands and test notices."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from qmon.cli.output import print_note
from qmon.errors import BadInput
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.cli.target_session import ChosenTarget
    from qmon.config.config_file import Config
    from qmon.config.receivers import Receiver
    from qmon.model.view import View
    from qmon.monitor.alerting import Alerting
    from qmon.monitor.notify.notifier import Notifier
    from qmon.monitor.notify.sender import Deliver
    from qmon.monitor.source import SourceState


class AlertingText(Text):
    """Warnings about alerts that cannot be sent."""

    NOTICES_TO = "notices to {receiver}: {advice}"
    NOT_NOTIFIED = "qmon: {problem}; this dashboard does not notify this receiver"
    NO_RULE = "qmon: no notices will be sent: no [[alert]] applies to the watched targets"


_PATIENCE_S: Final = 5.0


def deliveries_for(
    receivers: Sequence[Receiver], on_missing: Callable[[str], object]
) -> list[tuple[Receiver, Deliver]]:
    """Return the delivery function of each receiver.

    Receivers without a stored secret are left out. ``on_missing`` is called with a message for each such receiver.
    Raises ``BadInput`` if a secret cannot be used.
    """
    from qmon.config.credentials import receiver_secret_advice
    from qmon.monitor.notify.notifier import delivery_for

    out = []
    for receiver in receivers:
        deliver = delivery_for(receiver)
        if deliver is None:
            on_missing(AlertingText.NOTICES_TO.render(receiver=receiver.name, advice=receiver_secret_advice(receiver)))
        else:
            out.append((receiver, deliver))
    return out


def _raise_bad_input(problem: str) -> None:
    raise BadInput(problem)


def note_rules_without_target(config: Config, targets: Collection[str]) -> None:
    """Print a note for each alert that applies neither to a configured target nor to one of ``targets``."""
    from qmon.model.alerts.alert_rules import unmatched_target_lines

    for line in unmatched_target_lines(config.alerts, {*config.targets, *targets}):
        print_note(f"qmon: {line}")


def note_rules_without_queue(config: Config, queues: Mapping[str, Collection[str]]) -> None:
    """Print a note for each alert that names a queue that does not exist.

    ``queues``: the queue names of each target that was read.
    """
    from qmon.model.alerts.alert_rules import unmatched_queue_lines

    for line in unmatched_queue_lines(config.alerts, queues, config.targets):
        print_note(f"qmon: {line}")


def alerting_for(targets: Sequence[str], config: Config, notifier: Notifier | None = None) -> Alerting | None:
    """Return the alerting of these targets, or ``None`` if no rule applies to one of them."""
    from qmon.model.alerts.alert_rules import rules_for_target
    from qmon.monitor.alerting import Alerting
    from qmon.redact import build_redactor

    rules, settings = {target: rules_for_target(config.alerts, target) for target in targets}, config.alerting
    if not any(rules.values()):
        return None
    return Alerting(
        rules,
        notifier=notifier,
        group_wait_s=settings.group_wait_s,
        bell=settings.bell,
        redact=build_redactor(config.settings.redact),
    )


def screen_alerting(targets: Sequence[str], config: Config) -> Alerting | None:
    """Return the alerting of a dashboard. It does not notify receivers whose secret is not stored on this machine."""
    note_rules_without_target(config, targets)
    return alerting_for(targets, config, _notifier_for(targets, config))


def _notifier_for(targets: Sequence[str], config: Config) -> Notifier | None:
    """Return the notifier for the alerts of these targets, or ``None`` if there are no alerts or no receivers."""
    from qmon.model.alerts.alert_rules import rules_for_target

    wanted = [receiver for receiver in config.receivers if any(map(receiver.is_for_target, targets))]
    if not wanted or not any(rules_for_target(config.alerts, target) for target in targets):
        return None
    from qmon.monitor.notify.notifier import Notifier

    ways = deliveries_for(wanted, lambda words: print_note(AlertingText.NOT_NOTIFIED.render(problem=words)))
    return Notifier(ways) if ways else None


class _QueueNames:
    """Collect the queues of the watched targets, and print once which alerts name a missing queue. Thread-safe."""

    def __init__(self, config: Config, targets: Sequence[str]) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._missing = set(targets)
        self._queues: dict[str, Collection[str]] = {}

    def record_event(self, target: str, event: View | SourceState) -> None:
        """Record the queues of a target's first view."""
        from qmon.model.view import View

        if target not in self._missing or not isinstance(event, View):
            return
        with self._lock:
            self._missing.discard(target)
            self._queues[target] = [queue.name for queue in event.queues]
            if self._missing:
                return
        note_rules_without_queue(self._config, self._queues)


@contextlib.contextmanager
def headless_alerting(targets: Sequence[ChosenTarget]) -> Iterator[Callable[[str, View | SourceState], None]]:
    """Run alerting for several targets. Yields a function that takes the target's name and each view or state.

    Prints unsent notices at the end. Raises ``BadInput`` if a receiver's secret is missing.
    """
    from qmon.monitor.notify.notifier import Notifier

    config, names = targets[0].config, [each.target.name for each in targets]
    note_rules_without_target(config, names)
    wanted = [receiver for receiver in config.receivers if any(map(receiver.is_for_target, names))]
    notifier = Notifier(deliveries_for(wanted, _raise_bad_input))
    alerting = alerting_for(names, config, notifier)
    if not config.receivers or alerting is None:
        if config.receivers:
            print_note(AlertingText.NO_RULE)
        yield _QueueNames(config, names).record_event
        return
    notifier.on_failure = lambda words: print_note(f"qmon: {words}")
    queue_names = _QueueNames(config, names)
    alerting.start_ticking()

    def record_event(target: str, event: View | SourceState) -> None:
        alerting.record_unattended(event)
        queue_names.record_event(target, event)

    try:
        yield record_event
    finally:
        for line in alerting.close(_PATIENCE_S):
            print_note(f"qmon: {line}")
