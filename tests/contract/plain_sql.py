"""Push messages and count ready ones in SQL, without qmon."""

from __future__ import annotations

from typing import Final

from tests.facts import query
from tests.queues import BYTES

READY: Final = {
    "status": "status = 1",
    "flag": "processed = 0",
    "batch_single": "status = 0",
    "batch_split": "status = 0",
    "batch_fast": "status = 0",
    "ring": "message_id IS NOT NULL",
    "ring_classic": "message_id IS NOT NULL",
    "ring_pointer": "message_id IS NOT NULL",
    "ring_subscribers": "message_id IS NOT NULL",
}


def in_table(url: str, design: str) -> float:
    """Return the ready messages of an idle queue, by SQL."""
    return float(str(query(url, f"SELECT count(*) FROM {design} WHERE {READY.get(design, 'true')}")[0][0]))


def push(url: str, design: str, number: int) -> None:
    payload = "convert_to('m' || n, 'utf8')" if design in BYTES else "'m' || n"
    query(url, f"SELECT {design}_push({payload}) FROM generate_series(1, {number}) AS n")
