-- Like "messages_page", for split tables, with payloads from the second table; see "messages_page".
-- Reads at most :walk rows of the index that finds the state.
-- Recompiled for each execution if the index is filtered: only then can the statement use that index.
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
-- {page_index}    the index along which they are looked at
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
    m.qmon_id AS id,
    CAST(:state AS nvarchar(100)) AS state,
    CAST(
        DATEDIFF(DAY, m.qmon_since, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, m.qmon_since, SYSUTCDATETIME()), m.qmon_since), SYSUTCDATETIME())
        / 1000.0
    AS float) AS age_s,
    m.qmon_owner AS owner,
    m.qmon_attempts AS attempts,
    CAST(d.qmon_payload AS nvarchar(400)) AS payload,
    CAST({error?!newest.m} AS nvarchar(400)) AS error,
    m.qmon_at AS at,
    m.qmon_listed AS listed,
    CAST(m.qmon_place AS int) AS place,
    m.qmon_known AS known,
    m.qmon_looked AS looked
FROM (
    SELECT
        s.*,
        ROW_NUMBER() OVER (PARTITION BY s.qmon_listed ORDER BY s.qmon_place) AS qmon_nth,
        COUNT(s.qmon_at) OVER () AS qmon_known,
        COUNT(*) OVER () AS qmon_looked
    FROM (
        SELECT
            {called!text.q} AS qmon_id,
            {since?!moment.q} AS qmon_since,
            RTRIM(CONVERT(nvarchar(400), {owner?})) AS qmon_owner,
            CAST({attempts?} AS int) AS qmon_attempts,
            {error?} AS qmon_error,
            q.{message_id} AS qmon_key,
            CAST({at?!text.q} AS nvarchar(450)) AS qmon_at,
            CASE WHEN {list!where} THEN 1 ELSE 0 END AS qmon_listed,
            ROW_NUMBER() OVER (ORDER BY {list!order}) AS qmon_place
        FROM (
            SELECT f.*
            FROM (
                SELECT TOP (:walk) {columns!list.q}
                FROM {table} AS q WITH (INDEX ({page_index}))
                WHERE {look!where}
                ORDER BY {look!order}
            ) AS f
            UNION ALL
            SELECT e.*
            FROM (
                SELECT TOP (:walk) {columns!list.q}
                FROM {table} AS q WITH (INDEX ({page_index}))
                WHERE {empty!where}
            ) AS e
        ) AS q
    ) AS s
) AS m
OUTER APPLY (
    SELECT TOP (1)
        CASE
            WHEN DATALENGTH({payload?}) > 65536 THEN CONVERT(nvarchar(20), DATALENGTH({payload?}) / 1024) + N' kB'
            ELSE LEFT(CONVERT(nvarchar(max), {payload?!read}, 1), 200)
        END AS qmon_payload
    FROM {data_table}
    WHERE {data_id} = m.qmon_key
) AS d
WHERE (m.qmon_listed = 1 AND m.qmon_nth <= :limit) OR m.qmon_place IN (1, m.qmon_known, m.qmon_looked)
ORDER BY m.qmon_place
OPTION (MAXDOP 1{page_index!recompile})
