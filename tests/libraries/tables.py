"""Recreated tables of libraries whose workers do not run here, with rows in every state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from qmon.model.formatting import duration
from qmon.model.verdicts.flow_verdicts import FlowText

Figures = Mapping[str, float]
# The last id has more than 32 bits, so its lock key is in two columns, and one of them alone is that of job 1.
QUE: Final = """
CREATE TABLE que_jobs (
    id bigserial PRIMARY KEY, priority smallint NOT NULL DEFAULT 100, run_at timestamptz NOT NULL DEFAULT now(),
    job_class text NOT NULL DEFAULT 'Send', error_count integer NOT NULL DEFAULT 0, last_error_message text,
    queue text NOT NULL DEFAULT 'default', finished_at timestamptz, expired_at timestamptz,
    args jsonb NOT NULL DEFAULT '[]', data jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX que_poll_idx ON que_jobs (queue, priority, run_at, id) WHERE finished_at IS NULL AND expired_at IS NULL;
CREATE UNLOGGED TABLE que_lockers (
    pid integer PRIMARY KEY, worker_count integer, queues text[] NOT NULL, listening boolean NOT NULL
);
INSERT INTO que_jobs (id, queue, run_at, finished_at, expired_at) VALUES
    (1, 'mails', now() - interval '5 m', NULL, NULL), (2, 'mails', now(), NULL, NULL),
    (3, 'mails', now() + interval '1 d', NULL, NULL), (4, 'default', now(), NULL, NULL),
    (5, 'default', now(), now(), NULL), (6, 'default', now(), NULL, now()),
    (8589934593, 'default', now() - interval '1 m', NULL, NULL);
"""


# Oban's tables before schema 14: no job can be suspended.
OBAN_13: Final = """
CREATE TYPE oban_job_state AS ENUM
    ('available', 'scheduled', 'executing', 'retryable', 'completed', 'discarded', 'cancelled');
CREATE TABLE oban_jobs (
    id bigserial PRIMARY KEY, state oban_job_state NOT NULL DEFAULT 'available', queue text NOT NULL DEFAULT 'default',
    worker text NOT NULL DEFAULT 'Send', args jsonb NOT NULL DEFAULT '{}', errors jsonb[] NOT NULL DEFAULT '{}',
    attempt integer NOT NULL DEFAULT 0, max_attempts integer NOT NULL DEFAULT 20,
    inserted_at timestamp NOT NULL DEFAULT timezone('UTC', now()),
    scheduled_at timestamp NOT NULL DEFAULT timezone('UTC', now()), attempted_at timestamp, completed_at timestamp,
    attempted_by text[], discarded_at timestamp, cancelled_at timestamp, priority integer NOT NULL DEFAULT 0,
    meta jsonb DEFAULT '{}', tags text[] DEFAULT '{}');
CREATE INDEX ON oban_jobs (state, queue, priority, scheduled_at, id);
CREATE TABLE oban_producers (
    uuid uuid PRIMARY KEY, name text, node text, queue text, meta jsonb, started_at timestamp, updated_at timestamp);
INSERT INTO oban_jobs (state, queue) VALUES ('available', 'mails'), ('available', 'mails'), ('completed', 'mails');
INSERT INTO oban_jobs (state, queue, attempted_at) VALUES ('executing', 'mails', timezone('UTC', now()));
"""


def had(owner: str, message: str) -> str:
    """Return the proof that an owner has had a message, without the time."""
    whose = FlowText.OWNER_HAS_HAD.render(owner=owner)
    return FlowText.MESSAGE_OF_OWNER.render(whose=whose, message=message, since="").rstrip(")")


def owns(owner: str, message: str) -> str:
    """Return the proof that an owner has a message for an unknown time."""
    whose = FlowText.OWNER_HAS.render(owner=owner)
    return FlowText.MESSAGE_OF_OWNER.render(whose=whose, message=message, since="").rstrip(")")


def late(timeout_s: float) -> str:
    """Return the proof that one message is in progress for more than this time."""
    longer = FlowText.LATE_BY_TIMEOUT.render(timeout=duration(timeout_s))
    return FlowText.LATE.render(count=1, longer=longer)


@dataclass(frozen=True)
class Made:
    """Tables of a library.

    ``figures``: their contents, by queue and state. ``oldest``: approximate seconds since the oldest ready job was due.
    ``stuck``: message and owner that its verdict names.
    """

    name: str
    tables: str
    figures: Mapping[str, Figures]
    oldest: Mapping[str, float] = field(default_factory=dict)
    stuck: Mapping[str, str] = field(default_factory=dict)


RIVER: Final = Made(
    "river",
    """
CREATE TYPE river_job_state AS ENUM
    ('available', 'cancelled', 'completed', 'discarded', 'pending', 'retryable', 'running', 'scheduled');
CREATE TABLE river_job (
    id bigserial PRIMARY KEY, state river_job_state NOT NULL, attempt smallint NOT NULL DEFAULT 0,
    max_attempts smallint NOT NULL DEFAULT 25, attempted_at timestamptz, created_at timestamptz NOT NULL DEFAULT now(),
    finalized_at timestamptz, scheduled_at timestamptz NOT NULL DEFAULT now(), priority smallint NOT NULL DEFAULT 1,
    args jsonb, attempted_by text[], errors jsonb[], kind text NOT NULL DEFAULT 'send',
    queue text NOT NULL DEFAULT 'default'
);
CREATE INDEX ON river_job (state, queue, priority, scheduled_at, id);
CREATE INDEX ON river_job (state, finalized_at) WHERE finalized_at IS NOT NULL;
INSERT INTO river_job (state, queue, scheduled_at) VALUES
    ('available', 'mails', now() - interval '5 m'), ('available', 'mails', now()), ('available', 'default', now()),
    ('scheduled', 'mails', now() + interval '1 d'), ('retryable', 'mails', now() + interval '1 m'),
    ('pending', 'mails', now());
INSERT INTO river_job (state, queue, attempt, attempted_at) VALUES
    ('running', 'mails', 1, now() - interval '10 m'), ('running', 'default', 1, now() - interval '2 h');
INSERT INTO river_job (state, queue, finalized_at) VALUES
    ('completed', 'mails', now()), ('completed', 'mails', now()), ('discarded', 'mails', now()),
    ('cancelled', 'default', now());
""",
    {
        "mails": {"ready": 2, "scheduled": 2, "in_progress": 1, "stuck": 0, "blocked": 1, "dead": 1, "done": 2},
        "default": {"ready": 1, "scheduled": 0, "in_progress": 1, "stuck": 1, "blocked": 0, "dead": 0, "done": 1},
    },
    {"mails": 300},
    {"default": late(3600.0)},
)
GOOD_JOB: Final = Made(
    "good_job",
    """
CREATE TABLE good_jobs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), queue_name text, priority integer, serialized_params jsonb,
    scheduled_at timestamp, performed_at timestamp, finished_at timestamp, error text, created_at timestamp,
    active_job_id uuid, executions_count integer, locked_by_id uuid, locked_at timestamp
);
CREATE INDEX ON good_jobs (queue_name, scheduled_at) WHERE finished_at IS NULL;
CREATE TABLE good_job_processes (id uuid PRIMARY KEY, created_at timestamp, updated_at timestamp, state jsonb);
INSERT INTO good_job_processes (id, updated_at) VALUES
    ('00000000-0000-0000-0000-000000000001', timezone('UTC', now())),
    ('00000000-0000-0000-0000-000000000002', timezone('UTC', now()) - interval '10 m');
INSERT INTO good_jobs (queue_name, scheduled_at) VALUES
    ('mails', timezone('UTC', now()) - interval '5 m'), ('mails', NULL),
    ('mails', timezone('UTC', now()) + interval '1 d'), ('default', timezone('UTC', now()));
INSERT INTO good_jobs (id, queue_name, performed_at, locked_by_id, locked_at) VALUES
    ('10000000-0000-0000-0000-000000000001', 'mails', timezone('UTC', now()), '00000000-0000-0000-0000-000000000001',
     timezone('UTC', now())),
    ('10000000-0000-0000-0000-000000000002', 'default', timezone('UTC', now()), '00000000-0000-0000-0000-000000000002',
     timezone('UTC', now()));
INSERT INTO good_jobs (queue_name, performed_at, finished_at, error) VALUES
    ('mails', timezone('UTC', now()), timezone('UTC', now()), NULL),
    ('mails', timezone('UTC', now()), timezone('UTC', now()), 'RuntimeError');
""",
    {
        "mails": {"ready": 2, "scheduled": 1, "in_progress": 1, "stuck": 0, "dead": 1, "done": 1},
        "default": {"ready": 1, "scheduled": 0, "in_progress": 1, "stuck": 1, "dead": 0, "done": 0},
    },
    oldest={"mails": 300},
    stuck={"default": had("00000000-0000-0000-0000-000000000002", "10000000-0000-0000-0000-000000000002")},
)
DELAYED_JOB: Final = Made(
    "delayed_job",
    """
CREATE TABLE delayed_jobs (
    id bigserial PRIMARY KEY, priority integer NOT NULL DEFAULT 0, attempts integer NOT NULL DEFAULT 0,
    handler text NOT NULL DEFAULT 'x', last_error text, run_at timestamp, locked_at timestamp, failed_at timestamp,
    locked_by varchar, queue varchar, created_at timestamp, updated_at timestamp
);
CREATE INDEX ON delayed_jobs (priority, run_at);
INSERT INTO delayed_jobs (queue, run_at) VALUES
    ('mails', timezone('UTC', now()) - interval '5 m'), ('mails', timezone('UTC', now()) + interval '1 d'),
    ('other', timezone('UTC', now()));
INSERT INTO delayed_jobs (queue, run_at, locked_at, locked_by) VALUES
    ('mails', timezone('UTC', now()), timezone('UTC', now()), 'host:a pid:1'),
    ('mails', timezone('UTC', now()), timezone('UTC', now()) - interval '5 h', 'host:a pid:2');
INSERT INTO delayed_jobs (queue, run_at, failed_at, attempts) VALUES
    ('mails', timezone('UTC', now()), timezone('UTC', now()), 25);
""",
    {
        "mails": {"ready": 1, "scheduled": 1, "in_progress": 2, "stuck": 1, "dead": 1},
        "other": {"ready": 1, "scheduled": 0, "in_progress": 0, "stuck": 0, "dead": 0},
    },
    oldest={"mails": 300},
    stuck={"mails": had("host:a pid:2", "5")},
)
LARAVEL: Final = Made(
    "laravel",
    """
CREATE TABLE jobs (
    id bigserial PRIMARY KEY, queue varchar(255) NOT NULL, payload text NOT NULL DEFAULT '{}',
    attempts smallint NOT NULL DEFAULT 0, reserved_at integer, available_at integer NOT NULL,
    created_at integer NOT NULL
);
CREATE INDEX ON jobs (queue);
CREATE TABLE failed_jobs (
    id bigserial PRIMARY KEY, uuid varchar(255) NOT NULL, connection text NOT NULL, queue text NOT NULL,
    payload text NOT NULL, exception text NOT NULL, failed_at timestamp NOT NULL DEFAULT now()
);
INSERT INTO jobs (queue, available_at, reserved_at, created_at)
SELECT of.queue, e.now + of.due, e.now + of.taken, e.now
FROM (VALUES ('mails', -300, NULL), ('mails', 0, NULL), ('mails', 86400, NULL), ('mails', 0, -5), ('mails', 0, -600),
             ('default', 0, NULL)) AS of (queue, due, taken)
CROSS JOIN (SELECT CAST(floor(extract(epoch FROM now())) AS integer)) AS e (now);
""",
    {
        "mails": {"ready": 2, "scheduled": 1, "in_progress": 2, "stuck": 1},
        "default": {"ready": 1, "scheduled": 0, "in_progress": 0, "stuck": 0},
    },
    oldest={"mails": 300},
    stuck={"mails": late(90.0)},
)
SYMFONY: Final = Made(
    "symfony-messenger",
    """
CREATE TABLE messenger_messages (
    id bigserial PRIMARY KEY, body text NOT NULL DEFAULT '', headers text NOT NULL DEFAULT '[]',
    queue_name varchar(190) NOT NULL, created_at timestamp(0) NOT NULL DEFAULT timezone('UTC', now()),
    available_at timestamp(0) NOT NULL, delivered_at timestamp(0)
);
CREATE INDEX ON messenger_messages (queue_name, available_at, delivered_at, id);
INSERT INTO messenger_messages (queue_name, available_at, delivered_at) VALUES
    ('default', timezone('UTC', now()) - interval '5 m', NULL),
    ('default', timezone('UTC', now()) + interval '1 d', NULL),
    ('default', timezone('UTC', now()), timezone('UTC', now())),
    ('default', timezone('UTC', now()), timezone('UTC', now()) - interval '2 h'),
    ('failed', date_trunc('second', timezone('UTC', now())), NULL);
""",
    {
        "default": {"ready": 1, "scheduled": 1, "in_progress": 2, "stuck": 1},
        "failed": {"ready": 1, "scheduled": 0, "in_progress": 0, "stuck": 0},
    },
    oldest={"default": 300},
    stuck={"default": late(3600.0)},
)
