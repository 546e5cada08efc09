-- One partial index per state: a row is in one of them at a time, and each contains only the rows of its state.
--   ready:       the order of pops; for a dashboard the oldest ready message from a known id on and a bounded count.
--   in progress: the longest-running first: counted, compared with the timeout, requeued, the others unread.
--   dead:        dead letters, counted and listed.
-- The primary key serves complete and fail. A plain index on status would hold a handful of values over all the rows.
-- {table}       the queue
-- {ready_index} index
-- {work_index}  index
-- {dead_index}  index
CREATE INDEX {ready_index} ON {table} (id) WHERE status = 1::smallint;
CREATE INDEX {work_index} ON {table} (started_at) WHERE status = 2::smallint;
CREATE INDEX {dead_index} ON {table} (id) WHERE status = 3::smallint;
