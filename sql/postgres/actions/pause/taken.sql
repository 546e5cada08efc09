-- The number of messages in progress that were popped since a given time, at most 1,000: committed pops, without delay.
-- {table}       the queue's table
-- {state}       column: the state
-- {started_at}  column: when it was popped
-- :in_progress  the state value of a message in progress
-- :since        the moment, as text
-- > moved       number of rows
SELECT count(*) AS moved
FROM (
    SELECT
    FROM {table}
    WHERE {state} = :in_progress AND {started_at} > CAST(:since AS timestamptz)
    LIMIT 1000
) AS t
