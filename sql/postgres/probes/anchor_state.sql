-- Exact counts of a whole table with a state column. Reads the table: slow cadence, own connection, own budget.
-- {table}        the queue's table
-- {state}        column: the state
-- {due_at?}      column: when a message is due
-- :ready         the state value of a ready message
-- :in_progress   the state value in progress, NULL where there is none
-- :done          the state value of a finished message, NULL where there is none
-- :dead          the state value of a dead message, NULL where there is none
-- > counted_at   server clock as the count began, seconds since the epoch
-- > ready        ready and due
-- > in_progress  in progress
-- > scheduled    ready but not due yet
-- > dead         dead
-- > done         finished, not archived
SELECT
    CAST(extract(epoch FROM statement_timestamp()) AS float8) AS counted_at,
    count(*) FILTER (
        WHERE {state} = :ready AND coalesce(CAST({due_at?} AS timestamptz) <= statement_timestamp(), true)
    ) AS ready,
    count(*) FILTER (WHERE {state} = :in_progress) AS in_progress,
    count(*) FILTER (WHERE {state} = :ready AND CAST({due_at?} AS timestamptz) > statement_timestamp()) AS scheduled,
    count(*) FILTER (WHERE {state} = :dead) AS dead,
    count(*) FILTER (WHERE {state} = :done) AS done
FROM {table}
