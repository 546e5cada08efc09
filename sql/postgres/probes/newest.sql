-- The newest messages: how old they seem to be by their push time, and whether their contents are equal.
-- {table}        the queue's table
-- {message_id}   column: the id
-- {enqueued_at?} column: when it was pushed
-- {payload?}     column: the message
-- :after         only ids greater than this one
-- :limit         maximum number of rows
-- > id           the id
-- > age_s        seconds since it was pushed, by its push time; negative if this time is ahead of the clock
-- > fingerprint  a hash of the message; NULL if it is large or empty
SELECT
    n.seen_id + 0 AS id,  -- for a plain column of a table, psqlODBC asks the catalog in a round trip of its own
    CAST(extract(epoch FROM clock_timestamp() - n.pushed_at) AS float8) AS age_s,
    n.fingerprint
FROM (
    SELECT
        CAST({message_id} AS bigint) AS seen_id,
        {enqueued_at?!moment} AS pushed_at,
        CASE WHEN pg_column_size({payload?}) <= 4096
            THEN CAST(hashtextextended(CAST({payload?} AS text), 0) AS text) END AS fingerprint
    FROM {table}
    WHERE {message_id} > CAST(:after AS bigint)
    ORDER BY {message_id} DESC
    LIMIT CAST(:limit AS int)
) AS n
