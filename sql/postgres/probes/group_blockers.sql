-- Blockers of a group's blocked messages, by queue. Reads a limited number of messages.
-- {table}     the group's table
-- {queue?}    column: the queue
-- {blocker}   column: name of the blocker
-- {holder?}   column: holder of the blocker
-- {held?}     column: time when it was taken
-- {rows!where}     condition: the row is in this state
-- :limit      messages to read at most
-- :most       rows to return at most, the most frequent blockers
-- > queue     the queue, NULL if the table has only one
-- > blocker   name of the blocker
-- > holder    its holder
-- > held_s    seconds that it has been held; NULL if that is unknown or infinite
-- > seen      messages read that wait for it
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
