-- Like "messages_page", for split tables, with payloads from the second table; see "messages_page".
-- Reads at most :walk rows of the index that finds the state.
-- {table}         the queue's table
-- {columns!list}  its columns that are read
-- {look!where}    condition: the rows to look at
-- {empty!where}   condition: rows without a sort value, which come last
-- {list!where}    condition: of these, the rows from the start of the page on
-- {at?!text}      column: sort value of the list
-- {called!text}   columns: the name of a message
-- {since?}        column: the time that the age is counted from
-- {owner?}        column: its consumer
-- {attempts?}     column: number of pops
-- {message_id}    column: the id
-- {data_table}    the second table
-- {data_id}       column of the second table: its key
-- {payload?}      column of the second table: the message
-- {error?}        column: its last error
-- {sized?}        the same column, if its type gives the size without unpacking the value
-- :state          name of the state
-- :walk           maximum number of rows to read, with a sort value, and without
-- :limit          maximum number of rows of the list
-- > id            id as text
-- > state         the same
-- > age_s         seconds since that time
-- > owner         its consumer
-- > attempts      number of pops
-- > payload       its first characters; only its size if it is large
-- > error         the end of its last error
-- > at            sort value of the list, as text
-- > listed        1: of the page, or behind it
-- > place         which of the rows looked at it is, from 1
-- > known         number of them with a sort value
-- > looked        number of these rows
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
