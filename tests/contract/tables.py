"""User tables as found in real databases, and a connection of qmon to them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

from qmon.engines.base import Connection, Session, Target
from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.urls import read_url
from qmon.model.layout.layout_io import layout_from_dict
from qmon.monitor.catalog.resolve import Resolved, resolve_queues
from tests.facts import connected

ENGINE: Final = Postgres()

# The tables of the five articles with PostgreSQL's types, by design.
ARTICLES: Final = {
    "naive": """
        CREATE TABLE MyQ (message_id int NOT NULL, time timestamp NOT NULL, message char(300) NOT NULL);
        CREATE UNIQUE INDEX CIX ON MyQ (message_id);
        CREATE SEQUENCE MessageSequence AS int""",
    "ring_classic": """
        CREATE TABLE MyQ (Slot bigint NOT NULL, message_id bigint NULL, time timestamp NOT NULL,
                          message char(300) NOT NULL, reference_count smallint NOT NULL);
        CREATE UNIQUE INDEX CIX ON MyQ (Slot);
        INSERT INTO MyQ SELECT i, NULL, '2050-01-01', 'dummy', 0 FROM generate_series(0, 99) AS i;
        CREATE SEQUENCE PushSequence; CREATE SEQUENCE PopSequence""",
    "heap": "CREATE TABLE HeapQueue (Payload bytea)",
    "fifo": """
        CREATE TABLE FifoQueue (Id bigint GENERATED ALWAYS AS IDENTITY NOT NULL, Payload bytea);
        CREATE INDEX cdxFifoQueue ON FifoQueue (Id)""",
    "lifo": """
        CREATE TABLE LifoQueue (Id bigserial NOT NULL, Payload bytea);
        CREATE INDEX cdxLifoQueue ON LifoQueue (Id)""",
    "pending": """
        CREATE TABLE PendingQueue (DueTime timestamp NOT NULL, Payload bytea);
        CREATE INDEX cdxPendingQueue ON PendingQueue (DueTime)""",
    "status": """
        CREATE TABLE "Queue" ("Id" int GENERATED ALWAYS AS IDENTITY NOT NULL, "Status" smallint NOT NULL,
                              "Message" bytea);
        INSERT INTO "Queue" ("Status") VALUES (1), (1), (2)""",
    "flag": """
        CREATE TABLE "TABLE" ("ID" int NOT NULL, "COMMAND" text, "PROCESSED" int NOT NULL);
        CREATE INDEX "cdxTable" ON "TABLE" ("PROCESSED", "ID");
        INSERT INTO "TABLE" VALUES (1, 'x', 1), (2, 'y', 0)""",
    "batch_single": """
        CREATE TABLE QueueSlow (QueueID int GENERATED ALWAYS AS IDENTITY NOT NULL, QueueDateTime timestamp NOT NULL,
                                Title varchar(255) NOT NULL, Status int NOT NULL, TextData text NOT NULL);
        CREATE UNIQUE INDEX PK_QueueSlow ON QueueSlow (QueueID);
        CREATE INDEX IX_QuerySlow ON QueueSlow (QueueDateTime, Status) INCLUDE (Title);
        INSERT INTO QueueSlow (QueueDateTime, Title, Status, TextData)
        SELECT now(), 'Item no: ' || i, i % 2, 'x' FROM generate_series(1, 20) AS i""",
    "batch_split": """
        CREATE TABLE QueueMeta (QueueID int GENERATED ALWAYS AS IDENTITY NOT NULL PRIMARY KEY,
                                QueueDateTime timestamp NOT NULL, Title varchar(255) NOT NULL, Status int NOT NULL);
        CREATE INDEX IX_QueueDateTime ON QueueMeta (QueueDateTime, Status);
        INSERT INTO QueueMeta (QueueDateTime, Title, Status) SELECT now(), 'x', i % 2 FROM generate_series(1, 4) AS i;
        CREATE TABLE QueueData (QueueID int NOT NULL, TextData text NOT NULL);
        CREATE UNIQUE INDEX IX_QueueData ON QueueData (QueueID)""",
}

# A queue as applications create it.
JOBS: Final = """
    CREATE TABLE background_jobs (
        id bigserial PRIMARY KEY, status text NOT NULL DEFAULT 'queued', job_type text NOT NULL, args jsonb,
        locked_at timestamptz, locked_by text, attempts int NOT NULL DEFAULT 0, run_at timestamptz NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CHECK (status IN ('queued', 'running', 'succeeded', 'failed')));
    CREATE INDEX ON background_jobs (run_at) WHERE status = 'queued';
    CREATE INDEX ON background_jobs (locked_at) WHERE status = 'running';
    CREATE INDEX ON background_jobs (id) WHERE status = 'failed'"""

# Tables that are not queues.
ORDINARY: Final = """
    CREATE TABLE customers (id serial PRIMARY KEY, name text NOT NULL, email text, status text, created_at timestamptz);
    CREATE TABLE users (id uuid PRIMARY KEY, login text UNIQUE, password_hash bytea, is_active boolean,
        last_seen timestamptz);
    CREATE TABLE orders (id bigserial PRIMARY KEY, customer_id int REFERENCES customers,
        status text NOT NULL DEFAULT 'new' CHECK (status IN ('new', 'processing', 'shipped', 'delivered', 'cancelled')),
        total numeric(10, 2), created_at timestamptz DEFAULT now(), shipped_at timestamptz);
    CREATE INDEX ON orders (status);
    CREATE TABLE order_items (id bigserial PRIMARY KEY, order_id bigint REFERENCES orders, sku text, quantity int);
    CREATE TABLE order_lines (order_id bigint REFERENCES orders, line int, price numeric, PRIMARY KEY (order_id, line));
    CREATE TABLE audit_log (id bigserial PRIMARY KEY, at timestamptz, actor text, event jsonb);
    CREATE TABLE access_logs (id bigserial, ts timestamptz, path text, status int, message text);
    CREATE TABLE events (id bigserial PRIMARY KEY, created_at timestamptz, body jsonb);
    CREATE TABLE messages (id bigserial PRIMARY KEY, sender int, recipient int, body text, sent_at timestamptz);
    CREATE TABLE invoices (id serial PRIMARY KEY, customer_id int REFERENCES customers, status text, due_date date,
        total numeric);
    CREATE TABLE products (id serial PRIMARY KEY, sku text, price numeric, stock int, data jsonb);
    CREATE TABLE sessions (id text PRIMARY KEY, data text, expires_at timestamptz, session_id int);
    CREATE TABLE schema_migrations (version text PRIMARY KEY, started_at timestamptz, status text);
    CREATE TABLE settings (name text PRIMARY KEY, value text);
    CREATE TABLE todos (id serial PRIMARY KEY, title text, completed boolean DEFAULT false);
    CREATE TABLE blog_posts (id serial PRIMARY KEY, title text, body text, status text, published boolean)"""
# The columns of a table that is found by its shape.
QUEUE = (
    "(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, status text NOT NULL"
    " CHECK (status IN ('ready', 'in_progress', 'done', 'dead')), created_at timestamptz NOT NULL DEFAULT now(),"
    " started_at timestamptz, attempts int NOT NULL DEFAULT 0, locked_by text, payload text)"
)


def make(url: str, sql: str) -> None:
    """Run a script."""
    with connected(url) as connection:
        connection.execute(sql)


@contextlib.contextmanager
def qmon_connection(url: str, purpose: str = "test") -> Iterator[Connection]:
    """Yield a connection as qmon opens it to watch: the server itself refuses writes."""
    address = read_url(url, "the URL")
    target = Target("test", "postgres", address.keywords, password=address.password)
    connection = ENGINE.connect(target, Session(purpose, lock_timeout_s=0.5, statement_timeout_s=5, read_only=True))
    try:
        yield connection
    finally:
        connection.close()


def resolved(url: str, *configured: dict[str, object]) -> Resolved:
    with qmon_connection(url) as connection:
        return resolve_queues(connection, ENGINE, [layout_from_dict(raw) for raw in configured])
