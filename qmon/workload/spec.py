"""The specification of a worker process: target, queues, and the work of each connection. It is sent as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Final, Literal

from qmon.engines.base import EngineName, Target
from qmon.engines.secret import Secret
from qmon.model.layout.layout import Layout, LayoutSource
from qmon.model.layout.layout_io import layout_from_dict, layout_to_dict

MemberRole = Literal["producer", "consumer", "keeper"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberWork:
    """How producers, consumers and keepers of a queue work. Times are in seconds; shares are 0 to 1.

    Attributes:
        batch: messages per transaction, if the design has batches.
        message_bytes: size of a pushed message.
        rollback_share: share of the pushes that are rolled back.
        poison_share: share of the pushed messages that fail each time they are popped.
        work_s: time between a pop and the completion of the message.
        fail_share: share of the popped messages that fail at random.
        idle_s: pause after a pop that found no message. Repeated pauses grow to five times ``idle_s``.
        requeue_after_s: a keeper requeues messages that have been in progress for longer than this; ``None``: never.
    """

    batch: int = 1
    message_bytes: int = 300
    rollback_share: float = 0.0
    poison_share: float = 0.0
    work_s: float = 0.0
    fail_share: float = 0.0
    idle_s: float = 0.05
    requeue_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class MemberSpec(MemberWork):
    """One connection of a worker process and its work.

    Attributes:
        queue: the queue that the member works on.
        role: producer, consumer or keeper. A keeper requeues stuck messages, archives processed messages and repairs
            rings.
        application: the application name that the server shows.
        slot: number of the member's counter slot (see ``qmon.workload.counter_slots``).
        subscriber: the number of the subscriber for which a consumer pops (the first is 1); 0 if the design has no
            subscribers.
        rate: messages per second; ``None``: as fast as the server allows, 0: paused.
        every_s: seconds of pause between two rounds of a keeper.
    """

    queue: str
    role: MemberRole
    application: str
    slot: int
    subscriber: int = 0
    rate: float | None = None
    every_s: float = 1.0


# Fields that may be changed while a member works.
CHANGEABLE: Final = frozenset(
    {field.name for field in fields(MemberSpec)} - {"queue", "role", "application", "slot", "subscriber"}
)


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """A worker process: its target, the layouts of its queues (keyed by name), and its members."""

    target: Target
    layouts: Mapping[str, Layout] = field(default_factory=dict)
    members: tuple[MemberSpec, ...] = ()
    # The number of the memory with the shared counters (see `qmon.system.shared_memory`).
    counters: int = -1
    # The number of slots in the memory of the shared counters.
    slots: int = 0

    def to_json(self) -> str:
        """Return the specification as one line of JSON. Send the line only through a pipe: it contains the password."""
        target: dict[str, object] = {
            "name": self.target.name,
            "engine": self.target.engine,
            "parameters": dict(self.target.parameters),
            "password": None if self.target.password is None else self.target.password.reveal(),
        }
        return json.dumps(
            {
                "target": target,
                "layouts": {name: layout_to_dict(layout) for name, layout in self.layouts.items()},
                "members": [asdict(member) for member in self.members],
                "counters": self.counters,
                "slots": self.slots,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> WorkerSpec:
        """Return the specification that ``to_json`` has written."""
        raw = json.loads(text)
        target, password = raw["target"], raw["target"]["password"]
        engine: EngineName | None = target["engine"]
        return cls(
            Target(
                target["name"],
                engine,
                target["parameters"],
                password=None if password is None else Secret(password),
            ),
            {name: layout_from_dict(each, source=LayoutSource.REGISTRY) for name, each in raw["layouts"].items()},
            tuple(MemberSpec(**each) for each in raw["members"]),
            raw["counters"],
            raw["slots"],
        )
