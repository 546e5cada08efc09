"""Configured queues that share a table, and pages of their messages."""

from __future__ import annotations

from pathlib import Path

from qmon.config.config_file import parse_config
from qmon.model.groups.configured_queue import ConfiguredQueue
from qmon.model.samples.listing_samples import PageRequest
from qmon.model.view import QueueView
from qmon.monitor.source import ReadScope
from tests.contract.watching import Watched


def configured(text: str) -> tuple[ConfiguredQueue, ...]:
    """Return the queues of a configuration."""
    text = '[target.t]\nconnect = "postgresql://h/d"\n' + text
    return parse_config(text, Path("qmon.toml")).targets["t"].queues


def listed(watched: Watched, queue: str, listing: PageRequest) -> QueueView:
    """Return the queue once this page of it has been read."""
    watched.poller.set_focus(ReadScope(rows_of=queue, listing=listing))
    return watched.queue(queue, lambda q: q.page is not None and q.page.listing == listing)
