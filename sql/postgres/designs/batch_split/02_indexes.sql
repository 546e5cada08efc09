-- The index by date is the article's IX_QueueDateTime: the order of pops, with the status and the title, so that the
-- search for ready rows needs only the index. Its weakness is the article's too: processed rows stay in it, at the
-- front, and every dequeue reads past them until the archiver moves them. batch_fast has an index on ready rows
-- instead.
--
-- Additions, each with the rows of one state:
--   processing: the longest-running first: counted, compared with the timeout, and sent to the front.
--   processed:  for the archiver, oldest first, however many ready rows there are.
--   dead:       dead letters, counted and listed.
-- The primary key serves complete and fail. All are small, and rebuilt under load with REINDEX TABLE CONCURRENTLY: the
-- article's online index maintenance, which it gains by keeping the payloads out of this table. It cannot run inside a
-- function or a transaction, so it is a statement for a script.
-- {table}      QueueMeta
-- {date_index} index
-- {work_index} index
-- {done_index} index
-- {dead_index} index
CREATE INDEX {date_index} ON {table} (queue_date_time, status) INCLUDE (title);
CREATE INDEX {work_index} ON {table} (started_at) WHERE status = 1::smallint;
CREATE INDEX {done_index} ON {table} (queue_id) WHERE status = 2::smallint;
CREATE INDEX {dead_index} ON {table} (queue_id) WHERE status = 3::smallint;
