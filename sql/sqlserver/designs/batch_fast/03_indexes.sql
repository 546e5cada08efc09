-- The article's IX_QueueDateTime is (QueueDateTime, Status): rows that are processed stay in it and are read by every
-- dequeue. Here each state has a filtered index: a row is in the indexes of its own state only.
--   ready, by time: the order of pops; its row count is the depth, without reading a row, and a dashboard
--                   finds the head by it. With the title, as in the article.
--   processing:     the longest-running first: counted, compared with the timeout, and sent to the front.
--   processed:      for the archiver, oldest first, however many ready rows there are.
--   dead:           dead letters, counted and listed.
-- The primary key serves complete and fail.
-- Filtered indexes ask something of every session that writes: the SET options that ODBC, OLE DB and .NET have by
-- default (ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, QUOTED_IDENTIFIER and so on ON, NUMERIC_ROUNDABORT OFF); else
-- error 1934. sqlcmd needs -I.
-- {table}       QueueMeta
-- {ready_index} index
-- {work_index}  index
-- {done_index}  index
-- {dead_index}  index
CREATE NONCLUSTERED INDEX {ready_index} ON {table} (queue_date_time, queue_id) INCLUDE (title) WHERE status = 0
    WITH (STATISTICS_NORECOMPUTE = ON);
CREATE NONCLUSTERED INDEX {work_index} ON {table} (started_at, queue_id) WHERE status = 1
    WITH (STATISTICS_NORECOMPUTE = ON);
CREATE NONCLUSTERED INDEX {done_index} ON {table} (queue_id) WHERE status = 2
    WITH (STATISTICS_NORECOMPUTE = ON);
CREATE NONCLUSTERED INDEX {dead_index} ON {table} (queue_id) WHERE status = 3
    WITH (STATISTICS_NORECOMPUTE = ON);
