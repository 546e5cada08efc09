"""A process that pushes or pops until it is stopped or killed. It loads few modules, because tests start hundreds."""

from __future__ import annotations

import contextlib
import random
import threading
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Final, Literal

import pyodbc

Role = Literal["producer", "consumer"]

# Errors after which a producer or consumer tries again: it lost against another transaction, and nothing was done.
BEGIN_ANEW: Final = frozenset({"40001", "40P01"})

# The error of a producer if the ring is full. It tries again.
FULL: Final = "QM003"


@dataclass(frozen=True)
class Orders:
    """Orders of one hammering process."""

    connection: str
    role: Role
    name: str
    statement: str
    complete: str = ""
    fail: str = ""
    rollback_share: float = 0.0
    fail_share: float = 0.0
    limit: int = 1_000_000_000
    work_s: float = 0.0
    subscriber: int = 1


def work(orders: Orders, over: threading.Event) -> None:
    """Push or pop until it is over. Some transactions are rolled back, some messages fail."""
    chance = random.Random(orders.name)
    raw = pyodbc.connect(orders.connection, autocommit=True)
    raw.execute("SET application_name = 'hammer'")
    cursor = raw.cursor()

    def tried(statement: str, values: list[object]) -> pyodbc.Row | None:
        while True:
            try:
                cursor.execute(statement, values)
                return cursor.fetchone() if cursor.description else None
            except pyodbc.Error as error:
                if error.args[0] not in {*BEGIN_ANEW, FULL}:
                    raise
                if error.args[0] == FULL or not raw.autocommit:  # try later, or it is rolled back anyway
                    return None

    number, idle_s = 0, 0.002
    while not over.is_set() and number < orders.limit:
        number += 1
        values: list[object] = [f"{orders.name}-{number}"] * (2 if orders.role == "producer" else 1)
        if chance.random() < orders.rollback_share:
            raw.autocommit = False
            tried(orders.statement, values)
            raw.rollback()
            raw.autocommit = True
        row = tried(orders.statement, values)
        if orders.role == "producer":
            while row is None and not over.is_set():  # a full ring
                row = tried(orders.statement, values)
        elif row is None:
            over.wait(idle_s)
            idle_s = min(idle_s * 2, 0.02)
        else:
            idle_s = 0.002
            over.wait(orders.work_s)
            if orders.complete:
                failed = chance.random() < orders.fail_share
                tried(orders.fail if failed else orders.complete, [row[0], row[1]])
    raw.close()


def carry_out(orders: Orders, told: Connection) -> None:
    """The function of the process. It runs until the other end of the pipe is closed."""
    over = threading.Event()

    def listen() -> None:
        with contextlib.suppress(EOFError):
            told.recv_bytes()
        over.set()

    threading.Thread(target=listen, daemon=True).start()
    work(orders, over)
