"""A user's table as a queue with messages stuck in progress, for tests of actions."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from qmon.config.config_file import parse_config
from qmon.model.layout.layout import Layout
from tests.contract.tables import make
from tests.facts import query

# A name with special characters.
HOSTILE: Final = '[a]]b].[c d]"; drop table jobs; -- 🎉'

TABLE: Final = """
CREATE TABLE public.jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    status text NOT NULL,
    started_at timestamptz,
    lease timestamptz,
    attempts int NOT NULL DEFAULT 0,
    payload text
);
CREATE INDEX ON public.jobs (status, id);
"""


def configuration(url: str, *, queue: str = "jobs", more: str = "", settings: str = "") -> str:
    """Return a ``qmon.toml`` with the target ``shop``. ``more``: additional lines of the target."""
    name = queue.replace("\\", "\\\\").replace('"', '\\"')
    return f"""
[target.shop]
connect = "{url}"
{more}

[[target.shop.queue]]
name = "{name}"
table = "public.jobs"
design = "status"
id = "id"
state = {{ column = "status", ready = "ready", in_progress = "working", dead = "dead" }}
started_at = "started_at"
owner = {{ column = "lease", kind = "lease" }}
attempts = "attempts"
payload = "payload"
timeout = "1m"

[settings]
{settings}
"""


def layout(queue: str = "jobs") -> Layout:
    """Return the layout of the queue in that configuration."""
    (target,) = parse_config(configuration("postgresql://h/d", queue=queue), Path("qmon.toml")).targets.values()
    (found,) = target.queues
    assert isinstance(found, Layout)
    return found


def fill(url: str, *, dead: int = 0, alive: int = 0, ready: int = 0) -> None:
    """Create the table with expired leases (``dead``), current ones (``alive``) and ready messages, in this order."""
    make(url, TABLE)
    expired = "SELECT 'working', now() - interval '2 hours', now() - interval '1 hour', 1"
    lasting = "SELECT 'working', now() - interval '2 hours', now() + interval '1 hour', 1"
    waiting = "SELECT 'ready', NULL, NULL, 0"
    for select, count in ((expired, dead), (lasting, alive), (waiting, ready)):
        columns = "status, started_at, lease, attempts, payload"
        payloads = f"'card 4111-1111 of ' || n FROM generate_series(1, {count}) AS n"
        query(url, f"INSERT INTO public.jobs ({columns}) {select}, {payloads}")


def states(url: str) -> dict[str, int]:
    """Return the number of messages in each state."""
    return {
        str(s): int(str(n)) for s, n in query(url, "SELECT status, count(*) FROM public.jobs GROUP BY 1 ORDER BY 1")
    }
