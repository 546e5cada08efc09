"""Statements of the contract tests that are not in the SQL files of qmon."""

from __future__ import annotations

from typing import Final

# A trigger that writes to another table. Its row count comes before that of the statement that fired it.
WRITERS: Final = {
    "postgres": (
        "CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$ BEGIN"
        " INSERT INTO notes VALUES (old.id); RETURN NULL; END $$",
        "CREATE TRIGGER noted AFTER DELETE ON jobs FOR EACH ROW EXECUTE FUNCTION noted()",
    ),
    "sqlserver": ("CREATE TRIGGER noted ON jobs AFTER DELETE AS INSERT INTO notes (id) SELECT id FROM deleted",),
}
BROKER: Final = (
    "CREATE MESSAGE TYPE shout",
    "CREATE CONTRACT shouting (shout SENT BY INITIATOR)",
    "CREATE QUEUE heard",
    "CREATE QUEUE said",
    "CREATE SERVICE hears ON QUEUE heard (shouting)",
    "CREATE SERVICE says ON QUEUE said",
    "DECLARE @talk uniqueidentifier; BEGIN DIALOG CONVERSATION @talk FROM SERVICE says TO SERVICE 'hears' ON CONTRACT"
    " shouting WITH ENCRYPTION = OFF; SEND ON CONVERSATION @talk MESSAGE TYPE shout (N'hey')",
    "DECLARE @talk uniqueidentifier; BEGIN DIALOG CONVERSATION @talk FROM SERVICE says TO SERVICE 'nobody' ON CONTRACT"
    " shouting WITH ENCRYPTION = OFF; SEND ON CONVERSATION @talk MESSAGE TYPE shout (N'hey')",
)
JOBS_WITH_OWNERS: Final = (
    "CREATE TABLE jobs (id int {identity} NOT NULL PRIMARY KEY, state int NOT NULL DEFAULT 0, owner {text},"
    " started_at {time}, payload {text})",
    "CREATE INDEX jobs_state ON jobs (state, id)",
    "INSERT INTO jobs (state, owner, started_at) VALUES (0, NULL, NULL), (0, NULL, NULL), (0, NULL, NULL),"
    " (1, 'worker-1', {hour_ago})",
)
# Statements for the two logins. {0}: the login, {1}: the schema.
MAY_SELECT: Final = {
    "postgres": ('GRANT SELECT ON ALL TABLES IN SCHEMA {1} TO "{0}"',),
    "sqlserver": ("GRANT SELECT ON SCHEMA::{1} TO [{0}]",),
}
MAY_SEE_STATE: Final = {
    "postgres": ('GRANT pg_read_all_stats TO "{0}"',),
    "sqlserver": ("GRANT VIEW DATABASE STATE TO [{0}]",),
}
MASK: Final = "ALTER TABLE jobs ALTER COLUMN started_at ADD MASKED WITH (FUNCTION = 'default()')"
PLAIN = "CREATE TABLE plain (id int NOT NULL PRIMARY KEY, payload {text})"
DELETE_FIRST = "DELETE FROM plain WHERE id = (SELECT min(id) FROM plain)"
# The second message, read as by a consumer that skips locked rows.
LOCK_NEXT = {
    "postgres": "SELECT id FROM plain ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
    "sqlserver": "SELECT TOP (1) id FROM plain WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK) ORDER BY id",
}
SECRETS: Final = ("CREATE TABLE secrets (id int {identity} NOT NULL PRIMARY KEY, word {text})",)
# Rights of applications that push and pop: on SQL Server, only the procedures.
WORKERS: Final = {
    "postgres": (
        'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "{0}"',
        'GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO "{0}"',
    ),
    "sqlserver": ("GRANT EXECUTE ON SCHEMA::dbo TO [{0}]",),
}
# Statements that an operator may not run.
KEPT_OUT: Final = {
    "postgres": (
        "DROP TABLE status",
        "TRUNCATE status",
        "ALTER TABLE status ADD COLUMN x int",
        "CREATE TABLE mine (id int)",
        "CREATE TRIGGER mine AFTER DELETE ON status FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
        "SELECT * FROM secrets",
        "INSERT INTO secrets (word) VALUES ('x')",
        "DELETE FROM qmon.operations",
        "CREATE TABLE qmon.mine (id int)",
        "UPDATE qmon.operations SET done = 0",
        "UPDATE qmon.pauses SET lifted_by = 'x'",
        "DELETE FROM qmon.queues",
        "UPDATE qmon.queues SET design = 'x'",
        "DELETE FROM qmon.stores",
    ),
    "sqlserver": (
        "DROP TABLE status",
        "TRUNCATE TABLE status",
        "ALTER TABLE status ADD x int",
        "CREATE TABLE mine (id int)",
        "CREATE TRIGGER mine ON status AFTER DELETE AS RETURN",
        "SELECT * FROM secrets",
        "INSERT INTO secrets (word) VALUES ('x')",
        "DELETE FROM qmon.operations",
        "UPDATE qmon.operations SET done = 0",
        "INSERT INTO qmon.operations (id) VALUES ('x')",
        "UPDATE qmon.pauses SET lifted_by = N'x'",
        "INSERT INTO qmon.pauses (queue) VALUES (N'x')",
        "DELETE FROM qmon.queues",
        "UPDATE qmon.queues SET design = N'x'",
        "DELETE FROM qmon.stores",
        "CREATE TRIGGER qmon.mine ON qmon.operations AFTER INSERT AS RETURN",
        "ALTER PROCEDURE qmon.operation_end AS RETURN",
        "CREATE TABLE qmon_store.mine (id int)",
        "CREATE TABLE qmon.mine (id int)",
        "ALTER PROCEDURE qmon.make_store AS RETURN",
        "EXECUTE AS USER = 'dbo'",
        "SET IDENTITY_INSERT status ON",
        "CREATE USER mine WITHOUT LOGIN",
        "ALTER ROLE db_owner ADD MEMBER qmon_operator",
    ),
}
_STORE: Final = "EXEC qmon.make_store @about = N'x', @structure = N'[]', @found_by = N'qmon_row', @table = {table}"
# The two procedures that run as their owner, called for objects their caller may not use. `{table}`: a table that the
# caller may not read.
MISUSED: Final = (
    _STORE + ", @kind = 'kept', @columns = N'<r k=\"id\" /><r k=\"word\" />'",
    _STORE.format(table="{status}") + ", @kind = 'kept', @columns = N'<r k=\"id] FROM secrets--\" />'",
    _STORE.format(table="{status}") + ", @kind = 'x', @columns = N'<r k=\"id\" />'",
    "EXEC qmon.put_back @table = {table}, @trash = {trash}, @rows = N'<r k=\"1\" />'",
    "EXEC qmon.put_back @table = {status}, @trash = {table}, @rows = N'<r k=\"1\" />'",
)
MASKS = (
    "ALTER TABLE jobs ALTER COLUMN state ADD MASKED WITH (FUNCTION = 'default()')",
    "ALTER TABLE jobs ADD tail AS RIGHT(payload, 3)",
)
WORDS_OF_XML = (
    "CREATE XML SCHEMA COLLECTION dbo.words AS N'<xsd:schema"
    ' xmlns:xsd="http://www.w3.org/2001/XMLSchema"><xsd:element name="a" type="xsd:string"/></xsd:schema>\''
)
PARTITIONED = (
    "CREATE PARTITION FUNCTION by_day (date) AS RANGE RIGHT FOR VALUES ('2026-01-01', '2026-02-01')",
    "CREATE PARTITION SCHEME on_day AS PARTITION by_day ALL TO ([PRIMARY])",
    "CREATE TABLE jobs (id int NOT NULL, day date NOT NULL, payload {text}, CONSTRAINT k PRIMARY KEY (id, day))"
    " ON on_day (day)",
)
UNQUOTED = "SET QUOTED_IDENTIFIER OFF; SET ANSI_NULLS OFF"
