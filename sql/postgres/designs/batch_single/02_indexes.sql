-- The index by date is the article's IX_QuerySlow: the order of pops, with the status and the title. Processed rows
-- stay in it, at the front, and every dequeue reads past them until the archiver moves them.
--
-- Additions, each with the rows of one state:
--   processing: the longest-running first: counted, compared with the timeout, and sent to the front.
--   processed:  for the archiver, oldest first, however many ready rows there are.
--   dead:       dead letters, counted and listed.
-- The primary key serves complete and fail. The article cannot rebuild these indexes online, because of the payloads;
-- PostgreSQL can (REINDEX TABLE CONCURRENTLY).
-- {table}      QueueSlow
-- {date_index} index
-- {work_index} index
-- {done_index} index
-- {dead_index} index
CREATE INDEX {date_index} ON {table} (queue_date_time, status) INCLUDE (title);
CREATE INDEX {work_index} ON {table} (started_at) WHERE status = 1::smallint;
CREATE INDEX {done_index} ON {table} (queue_id) WHERE status = 2::smallint;
CREATE INDEX {dead_index} ON {table} (queue_id) WHERE status = 3::smallint;
