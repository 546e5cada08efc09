"""Recreated tables of libraries that were added later, with rows in every state."""

from __future__ import annotations

from typing import Final

from tests.libraries.tables import Made, had, late, owns

HANGFIRE: Final = Made(
    "hangfire",
    """
CREATE TABLE job (
    id bigserial PRIMARY KEY, stateid bigint, statename text, invocationdata jsonb NOT NULL DEFAULT '{}',
    arguments jsonb NOT NULL DEFAULT '[]', createdat timestamptz NOT NULL, expireat timestamptz,
    updatecount integer NOT NULL DEFAULT 0
);
CREATE TABLE jobqueue (
    id bigserial PRIMARY KEY, jobid bigint NOT NULL, queue text NOT NULL, fetchedat timestamptz,
    updatecount integer NOT NULL DEFAULT 0
);
CREATE INDEX ON jobqueue (queue, fetchedat);
CREATE TABLE server (id text PRIMARY KEY, data jsonb, lastheartbeat timestamptz NOT NULL);
INSERT INTO job (stateid, statename, createdat) VALUES
    (1003, 'Enqueued', now() - interval '5 m'), (1006, 'Enqueued', now()), (1009, 'Processing', now()),
    (1012, 'Processing', now()), (1015, 'Failed', now());
INSERT INTO jobqueue (jobid, queue, fetchedat) VALUES
    (1, 'default', NULL), (2, 'critical', NULL), (3, 'default', now()), (4, 'default', now() - interval '1 h');
""",
    {
        "default": {"ready": 1, "in_progress": 2, "stuck": 1},
        "critical": {"ready": 1, "in_progress": 0, "stuck": 0},
    },
    oldest={"default": 300},
    stuck={"default": late(1800.0)},
)
DB_SCHEDULER: Final = Made(
    "db-scheduler",
    """
CREATE TABLE scheduled_tasks (
    task_name text NOT NULL, task_instance text NOT NULL, task_data bytea, execution_time timestamptz NOT NULL,
    picked boolean NOT NULL, picked_by text, last_success timestamptz, last_failure timestamptz,
    consecutive_failures int, last_heartbeat timestamptz, version bigint NOT NULL, priority smallint,
    PRIMARY KEY (task_name, task_instance)
);
CREATE INDEX ON scheduled_tasks (execution_time);
INSERT INTO scheduled_tasks (task_name, task_instance, execution_time, picked, picked_by, last_heartbeat, version)
VALUES
    ('mails', '1', now() - interval '5 m', false, NULL, NULL, 1), ('mails', '2', now(), false, NULL, NULL, 1),
    ('mails', '3', now() + interval '1 d', false, NULL, NULL, 1), ('mails', '4', now(), true, 'node-1', now(), 2),
    ('reports', '1', now() - interval '2 h', true, 'node-2', now() - interval '1 h', 2);
""",
    {
        "mails": {"ready": 2, "scheduled": 1, "in_progress": 1, "stuck": 0},
        "reports": {"ready": 0, "scheduled": 0, "in_progress": 1, "stuck": 1},
    },
    oldest={"mails": 300},
    stuck={"reports": owns("node-2", "1")},
)
ODOO: Final = Made(
    "odoo-queue-job",
    """
CREATE TABLE queue_job (
    id serial PRIMARY KEY, uuid varchar NOT NULL DEFAULT gen_random_uuid(), state varchar NOT NULL, channel varchar,
    model_name varchar, method_name varchar, func_string varchar, exc_info text, date_created timestamp,
    date_started timestamp, date_enqueued timestamp, date_done timestamp, eta timestamp, retry integer,
    max_retries integer, worker_pid integer
);
INSERT INTO queue_job (state, channel, date_created, eta) VALUES
    ('pending', 'root.mail', timezone('UTC', now()) - interval '1 h', timezone('UTC', now()) - interval '5 m'),
    ('pending', 'root.mail', timezone('UTC', now()), NULL),
    ('pending', 'root.mail', timezone('UTC', now()), timezone('UTC', now()) + interval '1 h'),
    ('wait_dependencies', 'root.mail', timezone('UTC', now()), NULL),
    ('failed', 'root.mail', timezone('UTC', now()), NULL), ('done', 'root.mail', timezone('UTC', now()), NULL),
    ('cancelled', 'root.mail', timezone('UTC', now()), NULL);
INSERT INTO queue_job (state, channel, date_created, date_enqueued, date_started, worker_pid) VALUES
    ('enqueued', 'root.mail', timezone('UTC', now()), timezone('UTC', now()), NULL, NULL),
    ('started', 'root', timezone('UTC', now()), timezone('UTC', now()), timezone('UTC', now()) - interval '2 h', 77);
""",
    {
        "root.mail": {
            "ready": 2,
            "scheduled": 1,
            "in_progress": 1,
            "stuck": 0,
            "blocked": 1,
            "dead": 1,
            "done": 2,
        },
        "root": {"ready": 0, "scheduled": 0, "in_progress": 1, "stuck": 1, "blocked": 0, "dead": 0, "done": 0},
    },
    oldest={"root.mail": 300},
    stuck={"root": late(3600.0)},
)
JOBRUNR: Final = Made(
    "jobrunr",
    """
CREATE TABLE jobrunr_jobs (
    id nchar(36) PRIMARY KEY DEFAULT gen_random_uuid(), version int NOT NULL DEFAULT 1,
    jobAsJson text NOT NULL DEFAULT '{}', jobSignature varchar(512) NOT NULL DEFAULT 'x', state varchar(36) NOT NULL,
    createdAt timestamp NOT NULL DEFAULT timezone('UTC', now()),
    updatedAt timestamp NOT NULL DEFAULT timezone('UTC', now()), scheduledAt timestamp
);
CREATE INDEX ON jobrunr_jobs (state ASC, updatedAt ASC);
CREATE TABLE jobrunr_backgroundjobservers (
    id nchar(36) PRIMARY KEY, workerPoolSize int, firstHeartbeat timestamp(6), lastHeartbeat timestamp(6), running int
);
INSERT INTO jobrunr_jobs (state, updatedAt) VALUES
    ('ENQUEUED', timezone('UTC', now()) - interval '5 m'), ('PROCESSING', timezone('UTC', now()) - interval '10 m');
INSERT INTO jobrunr_jobs (state) VALUES
    ('ENQUEUED'), ('AWAITING'), ('PROCESSING'), ('PROCESSED'), ('FAILED'), ('SUCCEEDED'), ('SUCCEEDED'), ('DELETED');
INSERT INTO jobrunr_jobs (state, scheduledAt) VALUES ('SCHEDULED', timezone('UTC', now()) + interval '1 h');
""",
    {"": {"ready": 2, "scheduled": 1, "in_progress": 2, "stuck": 1, "blocked": 2, "dead": 1, "done": 3}},
    oldest={"": 300},
)
SPRING: Final = Made(
    "spring-integration",
    """
CREATE SEQUENCE int_message_seq;
CREATE TABLE int_channel_message (
    message_id char(36) NOT NULL DEFAULT gen_random_uuid(), group_key char(36) NOT NULL, created_date bigint NOT NULL,
    message_priority bigint, message_sequence bigint NOT NULL DEFAULT nextval('int_message_seq'), message_bytes bytea,
    region varchar(100) NOT NULL DEFAULT 'DEFAULT', PRIMARY KEY (region, group_key, created_date, message_sequence)
);
CREATE INDEX ON int_channel_message (region, group_key, message_id);
INSERT INTO int_channel_message (group_key, created_date)
SELECT key, CAST(extract(epoch FROM now()) * 1000 AS bigint) - ago * 1000
FROM (VALUES ('5bbc1a1c-6d6e-3a53-8a3b-000000000001', 300), ('5bbc1a1c-6d6e-3a53-8a3b-000000000001', 0),
             ('5bbc1a1c-6d6e-3a53-8a3b-000000000002', 0)) AS of (key, ago);
""",
    {
        "5bbc1a1c-6d6e-3a53-8a3b-000000000001": {"ready": 2},
        "5bbc1a1c-6d6e-3a53-8a3b-000000000002": {"ready": 1},
    },
    oldest={"5bbc1a1c-6d6e-3a53-8a3b-000000000001": 300},
)
_QRTZ: Final = """
CREATE TABLE qrtz_triggers (
    sched_name {text} NOT NULL, trigger_name {text} NOT NULL, trigger_group {text} NOT NULL, job_name {text} NOT NULL,
    job_group {text} NOT NULL, next_fire_time bigint, prev_fire_time bigint, priority int,
    trigger_state {text} NOT NULL,
    trigger_type {text} NOT NULL, start_time bigint NOT NULL, PRIMARY KEY (sched_name, trigger_name, trigger_group)
);
CREATE INDEX ON qrtz_triggers (sched_name, trigger_state, next_fire_time);
CREATE TABLE qrtz_fired_triggers (
    sched_name {text} NOT NULL, entry_id {text} NOT NULL, trigger_name {text} NOT NULL, trigger_group {text} NOT NULL,
    instance_name {text} NOT NULL, fired_time bigint NOT NULL, sched_time bigint NOT NULL, state {text} NOT NULL,
    PRIMARY KEY (sched_name, entry_id)
);
CREATE INDEX ON qrtz_fired_triggers (sched_name, trigger_name, trigger_group);
CREATE TABLE qrtz_scheduler_state (
    sched_name {text} NOT NULL, instance_name {text} NOT NULL, last_checkin_time bigint NOT NULL,
    checkin_interval bigint NOT NULL, PRIMARY KEY (sched_name, instance_name)
);
INSERT INTO qrtz_triggers
SELECT 's', of.name, of.queue, 'job', 'jobs', {now} + of.due * {per_s}, NULL, 5, of.state, 'SIMPLE', {now}
FROM (VALUES ('1', 'mails', -300, 'WAITING'), ('2', 'mails', 0, 'ACQUIRED'), ('3', 'mails', 3600, 'WAITING'),
             ('4', 'mails', 3600, 'WAITING'), ('5', 'mails', 0, 'BLOCKED'), ('6', 'mails', 0, 'BLOCKED'),
             ('7', 'mails', 0, 'PAUSED'), ('8', 'mails', 0, 'ERROR'), ('9', 'mails', 0, 'COMPLETE'),
             ('1', 'other', 0, 'COMPLETE')) AS of (name, queue, due, state);
INSERT INTO qrtz_fired_triggers
SELECT 's', of.entry, of.name, of.queue, 'node-1', {now} - of.ago * {per_s}, {now}, of.state
FROM (VALUES ('a', '4', 'mails', 5, 'EXECUTING'), ('b', '5', 'mails', 5, 'EXECUTING'),
             ('c', '1', 'other', 600, 'EXECUTING'), ('d', '2', 'mails', 0, 'ACQUIRED'))
    AS of (entry, name, queue, ago, state);
"""
_QRTZ_FIGURES: Final = {
    "mails": {"ready": 2, "scheduled": 1, "in_progress": 2, "stuck": 0, "blocked": 2, "dead": 1, "done": 1},
    "other": {"ready": 0, "scheduled": 0, "in_progress": 1, "stuck": 1, "blocked": 0, "dead": 0, "done": 0},
}
QUARTZ: Final = Made(
    "quartz",
    _QRTZ.format(text="varchar(200)", now="CAST(extract(epoch FROM now()) * 1000 AS bigint)", per_s=1000),
    _QRTZ_FIGURES,
    oldest={"mails": 300},
    stuck={"other": had("node-1", "1")},
)
QUARTZ_NET: Final = Made(
    "quartz.net",
    _QRTZ.format(
        text="text",
        now="(CAST(extract(epoch FROM now()) * 10000000 AS bigint) + 621355968000000000)",
        per_s="CAST(10000000 AS bigint)",
    ),
    _QRTZ_FIGURES,
    oldest={"mails": 300},
    stuck={"other": had("node-1", "1")},
)
_PG_BOSS: Final = """
CREATE TYPE job_state AS ENUM ({states});
CREATE TABLE job (
    id uuid NOT NULL DEFAULT gen_random_uuid(), name text NOT NULL, priority integer NOT NULL DEFAULT 0, data jsonb,
    state job_state NOT NULL DEFAULT 'created', retry{_}limit integer NOT NULL DEFAULT 0,
    retry{_}count integer NOT NULL DEFAULT 0, start{_}after timestamptz NOT NULL DEFAULT now(),
    started{_}on timestamptz, expire{_}in interval NOT NULL DEFAULT interval '15 minutes',
    created{_}on timestamptz NOT NULL DEFAULT now(), completed{_}on timestamptz, output jsonb{more}
){partitioned};
{partition}
INSERT INTO job (name, state, start{_}after) VALUES
    ('mails', 'created', now() - interval '5 m'), ('mails', 'retry', now()), ('mails', 'retry', now() + interval '1 h');
INSERT INTO job (name, state, started{_}on, expire{_}in) VALUES
    ('mails', 'active', now() - interval '5 m', interval '1 h'),
    ('other', 'active', now() - interval '5 m', interval '1 m');
INSERT INTO job (name, state, completed{_}on) VALUES
    ('mails', 'completed', now()), ('mails', 'cancelled', now()), ('mails', 'failed', now());
"""
_PG_BOSS_FIGURES: Final = {
    "mails": {"ready": 2, "scheduled": 1, "in_progress": 1, "stuck": 0, "dead": 1, "done": 2},
    "other": {"ready": 0, "scheduled": 0, "in_progress": 1, "stuck": 1, "dead": 0, "done": 0},
}
PG_BOSS_9: Final = Made(
    "pg-boss",
    _PG_BOSS.format(
        _="",
        states="'created', 'retry', 'active', 'completed', 'expired', 'cancelled', 'failed'",
        more=", on_complete boolean NOT NULL DEFAULT false, PRIMARY KEY (id)",
        partitioned="",
        partition="",
    ),
    _PG_BOSS_FIGURES,
    oldest={"mails": 300},
)
PG_BOSS_10: Final = Made(
    "pg-boss",
    _PG_BOSS.format(
        _="_",
        states="'created', 'retry', 'active', 'completed', 'cancelled', 'failed'",
        more=", dead_letter text, policy text",
        partitioned=" PARTITION BY LIST (name)",
        partition="CREATE TABLE j1 PARTITION OF job (PRIMARY KEY (id)) FOR VALUES IN ('mails');"
        " CREATE TABLE j2 PARTITION OF job (PRIMARY KEY (id)) FOR VALUES IN ('other');",
    ),
    _PG_BOSS_FIGURES,
    oldest={"mails": 300},
)
KOMBU: Final = Made(
    "kombu",
    """
CREATE SEQUENCE message_id_sequence;
CREATE TABLE kombu_queue (id integer PRIMARY KEY, name varchar(200) UNIQUE);
CREATE TABLE kombu_message (
    id integer PRIMARY KEY DEFAULT nextval('message_id_sequence'), visible boolean, "timestamp" timestamp,
    payload text NOT NULL DEFAULT '{}', version smallint NOT NULL DEFAULT 1,
    queue_id integer CONSTRAINT "FK_kombu_message_queue" REFERENCES kombu_queue
);
CREATE INDEX ON kombu_message (visible);
INSERT INTO kombu_queue VALUES (1, 'mails'), (2, 'orders');
INSERT INTO kombu_message (visible, queue_id) VALUES (true, 1), (true, 1), (false, 1), (true, 2);
""",
    {"mails": {"ready": 2, "done": 1}, "orders": {"ready": 1, "done": 0}},
)
DJANGO_Q2: Final = Made(
    "django-q2",
    """
CREATE TABLE django_q_ormq (
    id integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, key varchar(100) NOT NULL,
    payload text NOT NULL DEFAULT '',
    lock timestamptz
);
INSERT INTO django_q_ormq (key, lock) VALUES
    ('mails', now() - interval '5 m'), ('mails', now()), ('mails', now() + interval '1 m'), ('orders', now());
""",
    {"mails": {"ready": 2, "in_progress": 1, "stuck": 0}, "orders": {"ready": 1, "in_progress": 0, "stuck": 0}},
    oldest={"mails": 300},
)
