-- The article's IX_QuerySlow: (queue_date_time, status), with the title. Rows that are processed stay in it and are
-- read over by every dequeue. Every change of the status moves an entry in it.
-- Additions that the article describes but does not show: a filtered index on rows being processed (timed-out messages,
-- longest-running first), on processed rows (the archiver), on dead letters. Each holds rows of its own state only.
-- Filtered indexes ask something of every session that writes: the SET options that ODBC, OLE DB and .NET have by
-- default (ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, QUOTED_IDENTIFIER and so on ON, NUMERIC_ROUNDABORT OFF); else error
-- 1934. sqlcmd needs -I.
-- {table}      the queue
-- {date_index} the article's index
-- {work_index} index
-- {done_index} index
-- {dead_index} index
CREATE NONCLUSTERED INDEX {date_index} ON {table} (queue_date_time, status) INCLUDE (title)
    WITH (STATISTICS_NORECOMPUTE = ON);
CREATE NONCLUSTERED INDEX {work_index} ON {table} (started_at, queue_id) WHERE status = 1
    WITH (STATISTICS_NORECOMPUTE = ON);
CREATE NONCLUSTERED INDEX {done_index} ON {table} (queue_id) WHERE status = 2
    WITH (STATISTICS_NORECOMPUTE = ON);
CREATE NONCLUSTERED INDEX {dead_index} ON {table} (queue_id) WHERE status = 3
    WITH (STATISTICS_NORECOMPUTE = ON);
