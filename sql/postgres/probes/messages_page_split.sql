-- The same of split tables, the payload from the second one; see "messages_page".
-- No more than :walk rows are looked at, along the index that leads to them.
-- {table}         the queue's table
-- {columns!list}  its columns that are read
-- {look!where}    condition: the rows to look at
-- {empty!where}   condition: those without a value to go by, which come last
-- {list!where}    condition: of these the rows from where the page begins
-- {at?!text}      column: what the list goes by
-- {called!text}   columns: what a message is called by
-- {since?}        column: the time that the age is counted from
-- {owner?}        column: who popped it
-- {attempts?}     column: how often it was popped
-- {message_id}    column: the id
-- {data_table}    the second table
-- {data_id}       column of the second table: its key
-- {payload?}      column of the second table: the message
-- {error?}        column: its last error
-- {sized?}        the same column, where its type tells a value's size without unpacking it
-- :state          what the state is called
-- :walk           rows to look at, at most, with a value to go by, and without
-- :limit          so many of the list at most
-- > id            id as text
-- > state         the same
-- > age_s         seconds since that time
-- > owner         who popped it
-- > attempts      how often it was popped
-- > payload       its first characters; its size alone where it is large
-- > error         the newest end of its last error
-- > at            what the list goes by, as text
-- > listed        1: of the page, or behind it
-- > place         which of the rows looked at it is, from 1
-- > known         how many of them have a value to go by
-- > looked        how many they are
SELECT
    m.id,
    CAST(:state AS text) AS state,
    CAST(extract(epoch FROM clock_timestamp() - m.since) AS float8) AS age_s,
    m.owner,
    m.attempts,
    coalesce(d.payload) AS payload,
    {error?!newest.m} AS error,
    m.at,
    m.listed,
    CAST(m.place AS int) AS place,
    CAST(m.known AS int) AS known,
    CAST(m.looked AS int) AS looked
FROM (
    SELECT
        s.*,
        row_number() OVER (PARTITION BY s.listed ORDER BY s.place) AS nth,
        count(s.at) OVER () AS known,
        count(*) OVER () AS looked
    FROM (
        SELECT
            {called!text.q} AS id,
            {since?!moment.q} AS since,
            CAST({owner?} AS text) AS owner,
            CAST({attempts?} AS int) AS attempts,
            {error?} AS qmon_error,
            coalesce(q.{message_id}) AS key,
            CAST({at?!text.q} AS text) AS at,
            CASE WHEN {list!where} THEN 1 ELSE 0 END AS listed,
            row_number() OVER (ORDER BY {list!order}) AS place
        FROM (
            (SELECT {columns!list.q} FROM {table} AS q WHERE {look!where} ORDER BY {look!order} LIMIT :walk)
            UNION ALL
            (SELECT {columns!list.q} FROM {table} AS q WHERE {empty!where} LIMIT :walk)
        ) AS q
    ) AS s
) AS m
LEFT JOIN LATERAL (
    SELECT
        CASE
            WHEN pg_column_size({payload?}) > 65536 THEN coalesce(
                pg_size_pretty(CAST(octet_length({sized?}) AS bigint)),
                pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint)) || ' stored')
            ELSE left(CAST({payload?} AS text), 200)
        END AS payload
    FROM {data_table}
    WHERE {data_id} = m.key
    LIMIT 1
) AS d ON true
WHERE (m.listed = 1 AND m.nth <= :limit) OR m.place IN (1, m.known, m.looked)
ORDER BY m.place
