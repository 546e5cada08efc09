-- A page of the messages of one queue of a group that are in some states, and the first and last of the rows that were
-- read for it: at most :walk rows of an index that contains all rows.
-- {table}         the group's table
-- {columns!list}  its columns that are read
-- {look!where}    condition: the rows to look at
-- {list!where}    condition: of these, the rows from the start of the page on
-- {rows!where}    condition: the row is in one of these states
-- {at!text}       column: sort value of the list
-- {id!text}       column: the id
-- {queue?!text}   column: the queue
-- {since?}        column: the time that the age is counted from
-- {owner?}        column: its consumer
-- {attempts?}     column: number of pops
-- {payload?}      column: the message
-- {error?}        column: its last error
-- :state          name of the state
-- :queue          the queue, NULL for the whole table
-- :walk           rows to look at, at most
-- :limit          maximum number of rows of the list
-- > id            id as text
-- > state         the same
-- > age_s         its age in seconds
-- > owner         its consumer
-- > attempts      number of pops
-- > payload       its first characters; only its size if it is large
-- > error         the end of its last error
-- > at            sort value of the list, as text
-- > listed        1: of the page, or behind it
-- > place         which of the rows looked at it is, from 1
-- > known         number of them with a sort value: all
-- > looked        number of these rows
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
