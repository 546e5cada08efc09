-- How many messages in progress were popped since a moment, 1,000 at most: what has committed, without delay.
-- {table}       the queue's table
-- {state}       column: the state
-- {started_at}  column: when it was popped
-- :in_progress  the state value of a message in progress
-- :since        the moment, as text
-- > moved       so many
SELECT count(*) AS moved
FROM (
    SELECT
    FROM {table}
    WHERE {state} = :in_progress AND {started_at} > CAST(:since AS timestamptz)
    LIMIT 1000
) AS t
