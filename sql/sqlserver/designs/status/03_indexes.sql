-- One filtered index per state: a row is in one of them at a time, and each contains only the rows of its state. Rusanu
-- warns of secondary indexes over queues; without any, the pop of the article reads over everything that is in
-- progress.
--   ready:       the order of pops; its row count is the depth, without reading a row.
--   in progress: the longest-running first: counted, compared with the timeout, and requeued without reading the
--   others.
--   dead:        dead letters, counted and listed.
-- A plain index on status would hold a handful of values over all the rows, which Al Zabir warns of.
-- Filtered indexes ask something of every session that writes: the SET options that ODBC, OLE DB and .NET have by
-- default (ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, QUOTED_IDENTIFIER and so on ON, NUMERIC_ROUNDABORT OFF); else
-- error 1934. sqlcmd needs -I.
-- {table}       the queue
-- {ready_index} index
-- {work_index}  index
-- {dead_index}  index
CREATE UNIQUE NONCLUSTERED INDEX {ready_index} ON {table} (id) WHERE status = 1
    WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON);
CREATE NONCLUSTERED INDEX {work_index} ON {table} (started_at, id) WHERE status = 2
    WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON);
CREATE NONCLUSTERED INDEX {dead_index} ON {table} (id) WHERE status = 3
    WITH (ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON);
