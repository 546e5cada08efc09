-- A page of the messages of one queue of a group that are in some states, and the first and last of the rows that were
-- looked at for it: no more than :walk, along an index that holds all rows.
-- {table}         the group's table
-- {columns!list}  its columns that are read
-- {look!where}    condition: the rows to look at
-- {list!where}    condition: of these the rows from where the page begins
-- {rows!where}    condition: the row is in one of these states
-- {at!text}       column: what the list goes by
-- {id!text}       column: the id
-- {queue?!text}   column: the queue
-- {since?}        column: the time that the age is counted from
-- {owner?}        column: who works on it
-- {attempts?}     column: how often it was popped
-- {payload?}      column: the message
-- {error?}        column: its last error
-- :state          what the state is called
-- :queue          the queue, NULL for the whole table
-- :walk           rows to look at, at most
-- :limit          so many of the list at most
-- > id            id as text
-- > state         the same
-- > age_s         its age in seconds
-- > owner         who works on it
-- > attempts      how often it was popped
-- > payload       its first characters; its size alone where it is large
-- > error         the newest end of its last error
-- > at            what the list goes by, as text
-- > listed        1: of the page, or behind it
-- > place         which of the rows looked at it is, from 1
-- > known         how many of them have a value to go by: all
-- > looked        how many they are
SELECT
    {id!text} AS id,
    CAST(:state AS text) AS state,
    CAST(extract(epoch FROM clock_timestamp() - {since?!moment}) AS float8) AS age_s,
    {owner?!text} AS owner,
    CAST({attempts?} AS int) AS attempts,
    CASE
        WHEN pg_column_size({payload?}) > 65536 THEN pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint)) || ' stored'
        ELSE left(CAST({payload?} AS text), 200)
    END AS payload,
    {error?!newest} AS error,
    CAST({at!text.q} AS text) AS at,
    coalesce(q.qmon_listed) AS listed,
    CAST(q.qmon_place AS int) AS place,
    CAST(q.qmon_looked AS int) AS known,
    CAST(q.qmon_looked AS int) AS looked
FROM (
    SELECT
        s.*,
        row_number() OVER (PARTITION BY s.qmon_listed ORDER BY s.qmon_place) AS qmon_nth,
        count(*) OVER () AS qmon_looked
    FROM (
        SELECT
            q.*,
            CASE
                WHEN {list!where} AND {rows!where} AND (CAST(:queue AS text) IS NULL OR {queue?!text} = :queue) THEN 1
                ELSE 0
            END AS qmon_listed,
            row_number() OVER (ORDER BY {list!order}) AS qmon_place
        FROM (SELECT {columns!list.q} FROM {table} AS q WHERE {look!where} ORDER BY {look!order} LIMIT :walk) AS q
    ) AS s
) AS q
WHERE (q.qmon_listed = 1 AND q.qmon_nth <= :limit) OR q.qmon_place IN (1, q.qmon_looked)
ORDER BY q.qmon_place
