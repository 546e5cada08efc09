-- Messages in progress, counted up to a limit. For tables without an index that gives the longest-running messages
-- first.
-- {table}       the queue's table
-- {state}       column: the state
-- {started_at?} column: when it was popped
-- :in_progress  the state value of a message in progress
-- :timeout      seconds after which it is stuck
-- :limit        maximum number of rows to read
-- > in_progress rows seen, at most :limit
-- > timed       number of them with a usable start time
-- > stuck       number of these beyond the timeout
-- > longest_s   seconds since the longest-running of them was popped
WITH seen AS MATERIALIZED (
    SELECT {started_at?!moment} AS started_at
    FROM {table}
    WHERE {state} = :in_progress
    LIMIT :limit
)
SELECT
    CAST(count(*) AS int) AS in_progress,
    CAST(count(s.started_at) AS int) AS timed,
    CAST(
        count(*) FILTER (WHERE s.started_at < clock_timestamp() - make_interval(secs => CAST(:timeout AS float8)))
    AS int) AS stuck,
    CAST(extract(epoch FROM clock_timestamp() - min(s.started_at)) AS float8) AS longest_s
FROM seen AS s
