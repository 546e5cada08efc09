-- The article's IX_QueueDateTime is (QueueDateTime, Status): rows that are processed stay in it and are read by every
-- dequeue. Here each state has a partial index: a row is in the indexes of its own state only.
--   ready, by time: the order of pops, by which a dashboard finds the head, too.
--   processing:     the longest-running first: counted, compared with the timeout, and sent to the front.
--   processed:      for the archiver, oldest first, however many ready rows there are.
--   dead:           dead letters, counted and listed.
-- The primary key serves complete and fail.
-- {table}       QueueMeta
-- {ready_index} index
-- {work_index}  index
-- {done_index}  index
-- {dead_index}  index
CREATE INDEX {ready_index} ON {table} (queue_date_time, queue_id) WHERE status = 0::smallint;
CREATE INDEX {work_index} ON {table} (started_at) WHERE status = 1::smallint;
CREATE INDEX {done_index} ON {table} (queue_id) WHERE status = 2::smallint;
CREATE INDEX {dead_index} ON {table} (queue_id) WHERE status = 3::smallint;
