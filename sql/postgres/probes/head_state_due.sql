-- The ready message that has been due longest, of a queue with a state column, and a limited count of due messages.
-- {table}        the queue's table
-- {id?}          column: the id
-- {state}        column: the state
-- {due_at}       column: when it is due
-- :ready         the state value of a ready message
-- :limit         maximum number of rows to read
-- > head_id      id of the message that has been due longest
-- > oldest_s     seconds since it was due
-- > counted      due rows seen, at most :limit
WITH seen AS MATERIALIZED (
    SELECT CAST({id?} AS text) AS id, {due_at!utc} AS due_at
    FROM {table}
    WHERE {state} = :ready
        AND {due_at} <= {due_at!clock}
    ORDER BY {due_at}
    LIMIT :limit
)
SELECT
    (SELECT s.id FROM seen AS s LIMIT 1) AS head_id,
    (SELECT CAST(extract(epoch FROM clock_timestamp() - s.due_at) AS float8) FROM seen AS s LIMIT 1) AS oldest_s,
    (SELECT CAST(count(*) AS int) FROM seen) AS counted
