-- The oldest ready message of a queue with a state column, starting at the last known oldest message, and a limited
-- count. Uses an index that starts with the id, if possible a partial index on ready rows. Does not read dead rows
-- before the start.
-- {table}        the queue's table
-- {id}           column: the id, in the order of pops
-- {state}        column: the state
-- {enqueued_at?} column: when it was pushed
-- :ready         the state value of a ready message
-- :head          last known head id, NULL at first
-- :limit         maximum number of ready rows to read
-- > head_id      id of the oldest ready message
-- > oldest_s     its age in seconds
-- > counted      ready rows seen, at most :limit
WITH seen AS MATERIALIZED (
    SELECT {id} AS id, {enqueued_at?!moment} AS enqueued_at
    FROM {table}
    WHERE {state} = :ready
        AND {id} >= coalesce(:head, (SELECT {id} FROM {table} WHERE {state} = :ready ORDER BY {id} LIMIT 1))
    ORDER BY {id}
    LIMIT :limit
)
SELECT
    (SELECT CAST(s.id AS text) FROM seen AS s LIMIT 1) AS head_id,
    (SELECT CAST(extract(epoch FROM clock_timestamp() - s.enqueued_at) AS float8) FROM seen AS s LIMIT 1) AS oldest_s,
    (SELECT CAST(count(*) AS int) FROM seen) AS counted
