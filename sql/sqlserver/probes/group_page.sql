-- A page of the messages of one queue of a group that are in some states, and the first and last of the rows that were
-- read for it: at most :walk rows of an index. If the index is filtered, recompiled for each execution: see
-- "messages_page".
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
-- {page_index}    the index along which they are looked at
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
    r.qmon_id AS id,
    CAST(:state AS nvarchar(100)) AS state,
    CAST(
        DATEDIFF(DAY, r.qmon_since, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, r.qmon_since, SYSUTCDATETIME()), r.qmon_since), SYSUTCDATETIME())
        / 1000.0
    AS float) AS age_s,
    r.qmon_owner AS owner,
    r.qmon_attempts AS attempts,
    CAST(r.qmon_payload AS nvarchar(400)) AS payload,
    CAST(r.qmon_error AS nvarchar(400)) AS error,
    r.qmon_at AS at,
    r.qmon_listed AS listed,
    CAST(r.qmon_place AS int) AS place,
    r.qmon_looked AS known,
    r.qmon_looked AS looked
FROM (
    SELECT
        {id!text} AS qmon_id,
        {since?!moment} AS qmon_since,
        RTRIM(CONVERT(nvarchar(400), {owner?})) AS qmon_owner,
        CAST({attempts?} AS int) AS qmon_attempts,
        CASE
            WHEN DATALENGTH({payload?}) > 65536 THEN CONVERT(nvarchar(20), DATALENGTH({payload?}) / 1024) + N' kB'
            ELSE LEFT(CONVERT(nvarchar(max), {payload?!read}, 1), 200)
        END AS qmon_payload,
        {error?!newest} AS qmon_error,
        CAST({at!text.q} AS nvarchar(450)) AS qmon_at,
        q.qmon_listed,
        q.qmon_place,
        q.qmon_looked
    FROM (
        SELECT
            s.*,
            ROW_NUMBER() OVER (PARTITION BY s.qmon_listed ORDER BY s.qmon_place) AS qmon_nth,
            COUNT(*) OVER () AS qmon_looked
        FROM (
            SELECT
                q.*,
                CASE
                    WHEN {list!where} AND {rows!where}
                        AND (CAST(:queue AS nvarchar(450)) IS NULL OR {queue?!text} = CAST(:queue AS nvarchar(450))) THEN 1
                    ELSE 0
                END AS qmon_listed,
                ROW_NUMBER() OVER (ORDER BY {list!order}) AS qmon_place
            FROM (
                SELECT TOP (:walk) {columns!list.q}
                FROM {table} AS q WITH (INDEX ({page_index}))
                WHERE {look!where}
                ORDER BY {look!order}
            ) AS q
        ) AS s
    ) AS q
    WHERE (q.qmon_listed = 1 AND q.qmon_nth <= :limit) OR q.qmon_place IN (1, q.qmon_looked)
) AS r
ORDER BY r.qmon_place
OPTION (MAXDOP 1{page_index!recompile})
