"""Sets up alerting and its receivers from the configuration: with a screen, without one, and for a trial."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from qmon.cli.output import print_note
from qmon.errors import BadInput

if TYPE_CHECKING:
    from qmon.cli.target_session import ChosenTarget
    from qmon.config.config_file import Config
    from qmon.config.receivers import Receiver
    from qmon.model.view import View
    from qmon.monitor.alerting import Alerting, FleetAlerting
    from qmon.monitor.notify.notifier import Notifier
    from qmon.monitor.notify.sender import Deliver
    from qmon.monitor.source import SourceState

_PATIENCE_S: Final = 5.0


def deliveries_for(
    receivers: Sequence[Receiver], on_missing: Callable[[str], object]
) -> list[tuple[Receiver, Deliver]]:
    """Return the delivery function of each receiver. Receivers without a stored secret are left out.

    ``on_missing`` gets a message for each of these. Raises ``BadInput`` if a secret cannot be used.
    """
    from qmon.config.credentials import receiver_secret_advice
    from qmon.monitor.notify.notifier import delivery_for

    out = []
    for receiver in receivers:
        deliver = delivery_for(receiver)
        if deliver is None:
            on_missing(f"notices to {receiver.name}: {receiver_secret_advice(receiver)}")
        else:
            out.append((receiver, deliver))
    return out


def _raise_bad_input(words: str) -> None:
    raise BadInput(words)


def alerting_for(target: str, config: Config, notifier: Notifier | None = None) -> Alerting | None:
    """Return the alerting of a target, or ``None`` if no rule applies to it."""
    from qmon.model.alerts.alert_rules import rules_for_target
    from qmon.monitor.alerting import Alerting
    from qmon.redact import build_redactor

    rules, settings = rules_for_target(config.alerts, target), config.alerting
    if not rules:
        return None
    return Alerting(
        target,
        rules,
        notifier=notifier,
        group_wait_s=settings.group_wait_s,
        bell=settings.bell,
        redact=build_redactor(config.settings.redact),
    )


def screen_alerting(target: str, config: Config) -> Alerting | None:
    """Return the alerting of a dashboard. Receivers without a secret here must be notified by another qmon."""
    return alerting_for(target, config, _notifier_for([target], config))


def fleet_alerting(targets: Sequence[str], config: Config) -> FleetAlerting | None:
    """Return the alerting of a dashboard with several targets."""
    from qmon.monitor.alerting import FleetAlerting

    notifier = _notifier_for(targets, config)
    found = {name: alerting for name in targets if (alerting := alerting_for(name, config, notifier)) is not None}
    return FleetAlerting(found, notifier) if found else None


def _notifier_for(targets: Sequence[str], config: Config) -> Notifier | None:
    """Return the notifier for the alerts of these targets, or ``None`` if there are no alerts or no receivers."""
    from qmon.model.alerts.alert_rules import rules_for_target

    wanted = [receiver for receiver in config.receivers if any(map(receiver.is_for_target, targets))]
    if not wanted or not any(rules_for_target(config.alerts, target) for target in targets):
        return None
    from qmon.monitor.notify.notifier import Notifier

    ways = deliveries_for(wanted, lambda words: print_note(f"qmon: {words}; this dashboard sends it no notices"))
    return Notifier(ways) if ways else None


@contextlib.contextmanager
def headless_alerting(known: Sequence[ChosenTarget]) -> Iterator[Callable[[str, View | SourceState], None]]:
    """Run alerting for several targets. Yields a function that takes the target's name and each view or state.

    Prints unsent notices at the end. Raises ``BadInput`` if a receiver's secret is missing.
    """
    from qmon.monitor.alerting import HeadlessAlerting
    from qmon.monitor.notify.notifier import Notifier

    config, names = known[0].config, [each.target.name for each in known]
    wanted = [receiver for receiver in config.receivers if any(map(receiver.is_for_target, names))]
    notifier = Notifier(deliveries_for(wanted, _raise_bad_input))
    alerting = {name: found for name in names if (found := alerting_for(name, config, notifier)) is not None}
    if not config.receivers or not alerting:
        if config.receivers:
            print_note("qmon: no notices will be sent: no [[alert]] applies to the watched targets")
        yield lambda target, event: None
        return
    notifier.on_failure = lambda words: print_note(f"qmon: {words}")
    headless = HeadlessAlerting(alerting, notifier)
    try:
        yield headless.record_event
    finally:
        for line in headless.close(_PATIENCE_S):
            print_note(f"qmon: {line}")
