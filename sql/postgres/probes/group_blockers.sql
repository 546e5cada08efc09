-- What the blocked messages of a group wait for, for each of its queues. Only a bounded number of them is looked at.
-- {table}     the group's table
-- {queue?}    column: the queue
-- {blocker}   column: what the message waits for
-- {holder?}   column: who holds that
-- {held?}     column: since when
-- {rows!where}     condition: the row is in this state
-- :limit      look at so many messages at most
-- :most       return so many rows at most, those that most messages wait for
-- > queue     the queue, NULL where the table holds one
-- > blocker   what they wait for
-- > holder    who holds it
-- > held_s    for how long, in seconds; NULL if that is not known or infinite
-- > seen      messages that wait for it, of those looked at
SELECT
    r.queue,
    r.blocker,
    r.holder,
    CAST(extract(epoch FROM clock_timestamp() - min(r.held_at) FILTER (WHERE isfinite(r.held_at))) AS float8) AS held_s,
    CAST(count(*) AS bigint) AS seen
FROM (
    SELECT
        {queue?!text} AS queue,
        {blocker!text} AS blocker,
        {holder?!text} AS holder,
        {held?!utc} AS held_at
    FROM {table} AS q
    WHERE {rows!where}
    LIMIT CAST(:limit AS int)
) AS r
GROUP BY r.queue, r.blocker, r.holder
ORDER BY seen DESC, r.queue, r.blocker, r.holder
LIMIT CAST(:most AS int)
