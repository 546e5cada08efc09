"""The plan of a load: producers and consumers of each queue, and faults over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from qmon.engines.base import Target
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout
from qmon.texts import Text
from qmon.workload.spec import MemberRole, MemberSpec, MemberWork, WorkerSpec
from qmon.workload.workload_statements import check_drivable


class LoadPlanText(Text):
    """Why a load is not possible."""

    CLIENTS = "a queue can have 0 to 200 producers and 0 to 200 consumers"
    SHARE = "{name} must be 0 to 1, not {value}"
    NEGATIVE = "{name} must be 0 or more, not {value}"
    SIZES = "a batch must have 1 to 10,000 messages, and a message 1 to 10,000,000 bytes"


FaultKind = Literal["crash", "hold", "pin", "slow", "rollbacks", "rate", "no_consumers"]


@dataclass(frozen=True, slots=True)
class PlannedFault:
    """A fault. Times are in seconds.

    - ``crash``: the process of the consumers dies after a pop, before the message is completed, and is restarted after
      ``for_s``.
    - ``hold``: a session locks the oldest ``amount`` messages.
    - ``pin``: a transaction keeps VACUUM from removing dead rows.
    - ``slow``: consumers work ``amount`` seconds longer on a message.
    - ``rollbacks``: producers roll back the share ``amount`` of their pushes.
    - ``rate``: producers push ``amount`` messages per second in total.
    - ``no_consumers``: consumers pause.

    Each fault ends after ``for_s``. ``at_s``: time since the load began. ``every_s``: interval at which the fault is
    repeated; ``None``: it occurs once. ``by``: the application name of the session that causes ``hold`` or ``pin``.
    """

    kind: FaultKind
    queue: str = ""
    at_s: float = 0.0
    for_s: float = 10.0
    amount: float = 0.0
    every_s: float | None = None
    by: str = "load-fault"


@dataclass(frozen=True, slots=True)
class QueueLoad(MemberWork):
    """The load of one queue.

    - ``rate``: messages per second of all producers together; ``None``: as fast as possible. ``pop_rate``: the rate of
      all consumers together.
    - ``consumers``: number of consumers. If a ring has several subscribers, ``consumers`` and ``pop_rate`` apply to
      each subscriber.
    - ``own_processes``: the consumers of this queue have separate processes, so that a crash affects only this queue.
    - ``keeper``: a keeper archives messages. It also requeues and repairs messages older than ``requeue_after_s``
      seconds.
    """

    layout: Layout
    producers: int = 1
    consumers: int = 1
    rate: float | None = None
    pop_rate: float | None = None
    keeper: bool = False
    own_processes: bool = True
    producer_application: str = "load-producer"
    consumer_application: str = "load-consumer"
    keeper_application: str = "load-keeper"

    @property
    def subscribers(self) -> int:
        """The number of readers of each message."""
        return max(1, len(self.layout.ring.subscribers)) if self.layout.ring is not None else 1

    def check_possible(self) -> None:
        """Raise ``BadInput`` if the load is not possible."""
        check_drivable(self.layout)
        if not 0 <= self.producers <= 200 or not 0 <= self.consumers <= 200:
            raise BadInput(LoadPlanText.CLIENTS)
        for name in ("rollback_share", "poison_share", "fail_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadInput(LoadPlanText.SHARE.render(name=name.replace("_", " "), value=getattr(self, name)))
        for name in ("rate", "pop_rate", "requeue_after_s"):
            if (value := getattr(self, name)) is not None and value < 0:
                raise BadInput(LoadPlanText.NEGATIVE.render(name=name.replace("_", " "), value=value))
        if not 1 <= self.batch <= 10_000 or not 1 <= self.message_bytes <= 10_000_000:
            raise BadInput(LoadPlanText.SIZES)

    def members_of(self, role: MemberRole, first_slot: int) -> tuple[MemberSpec, ...]:
        """Return the members of one role. Their slots begin with ``first_slot``."""
        number = {"producer": self.producers, "consumer": self.consumers, "keeper": int(self.keeper)}[role]
        rate = {"producer": self.rate, "consumer": self.pop_rate, "keeper": None}[role]
        application = {
            "producer": self.producer_application,
            "consumer": self.consumer_application,
            "keeper": self.keeper_application,
        }[role]
        readers: Iterable[int] = (0,)
        if role == "consumer" and self.layout.ring is not None and self.layout.ring.subscribers:
            readers = range(1, self.subscribers + 1)
        return tuple(
            MemberSpec(
                self.layout.queue,
                role,
                application,
                first_slot + index,
                subscriber,
                rate=None if rate is None else rate / number,
                **{each.name: getattr(self, each.name) for each in fields(MemberWork)},
            )
            for index, subscriber in enumerate(reader for reader in readers for _ in range(number))
        )


def processes_for(
    target: Target, loads: Sequence[QueueLoad], counters: int, slots: int, *, connections: int
) -> list[WorkerSpec]:
    """Assign members to processes.

    The producers of all queues share processes. Consumers also share processes, unless a queue has ``own_processes``.
    ``connections``: maximum number per process.
    """
    producers: list[MemberSpec] = []
    keepers: list[MemberSpec] = []
    together: list[MemberSpec] = []
    groups: list[list[MemberSpec]] = []
    slot = 0
    for load in loads:
        for role, into in (("producer", producers), ("keeper", keepers)):
            made = load.members_of("producer" if role == "producer" else "keeper", slot)
            into.extend(made)
            slot += len(made)
        consumers = load.members_of("consumer", slot)
        slot += len(consumers)
        if load.own_processes:
            groups.extend(list(consumers[at : at + connections]) for at in range(0, len(consumers), connections))
        else:
            together.extend(consumers)
    groups.extend(together[at : at + connections] for at in range(0, len(together), connections))
    groups[:0] = [producers[at : at + connections] for at in range(0, len(producers), connections)]
    if keepers:
        groups.append(keepers)
    layouts = {load.layout.queue: load.layout for load in loads}
    return [
        WorkerSpec(target, {each.queue: layouts[each.queue] for each in group}, tuple(group), counters, slots)
        for group in groups
    ]


def slots_needed(loads: Sequence[QueueLoad]) -> int:
    """Return the total number of members."""
    return sum(load.producers + load.consumers * load.subscribers + int(load.keeper) for load in loads)
