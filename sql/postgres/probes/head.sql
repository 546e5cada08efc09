-- The oldest message of a queue that deletes on pop, starting at the last known oldest message, and a limited count.
-- Rows that a consumer has deleted without committing are still visible: the probe "held" identifies them.
-- {table}        the queue's table
-- {id}           column: the id, in the order of pops
-- {enqueued_at?} column: when it was pushed
-- :head          last known head id, NULL at first
-- :limit         maximum number of rows to read
-- > head_id      id of the oldest message
-- > oldest_s     its age in seconds
-- > counted      rows seen, at most :limit
WITH seen AS MATERIALIZED (
    SELECT {id} AS id, {enqueued_at?!moment} AS enqueued_at
    FROM {table}
    WHERE {id} >= coalesce(:head, (SELECT {id} FROM {table} ORDER BY {id} LIMIT 1))
    ORDER BY {id}
    LIMIT :limit
)
SELECT
    (SELECT CAST(s.id AS text) FROM seen AS s LIMIT 1) AS head_id,
    (SELECT CAST(extract(epoch FROM clock_timestamp() - s.enqueued_at) AS float8) FROM seen AS s LIMIT 1) AS oldest_s,
    (SELECT CAST(count(*) AS int) FROM seen) AS counted
