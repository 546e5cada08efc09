-- Some archived messages of a range of keys, in their order. READ COMMITTED: it waits for uncommitted rows, or does not
-- see them if the database keeps versions; it never skips them as READPAST would.
-- {archive_log}    the archive
-- {message_id}     column: the message's id
-- {enqueued_at?}   column: when it was pushed
-- {started_at?}    column: when it was popped
-- {completed_at?}  column: when it was completed
-- {attempts?}      column: number of pops
-- {owner?}         column: its consumer
-- {title?}         column: its name
-- {payload?}       column: the message
-- :with_payload    1: the message itself, too
-- :after           keys beyond this one
-- :upto            up to this one
-- :limit           maximum number of rows
-- > archive_id     key
-- > message_id     id as text
-- > enqueued_at    seconds since the epoch
-- > started_at     the same
-- > completed_at   the same
-- > archived_at    the same
-- > attempts       number of pops
-- > owner          its consumer
-- > title          its name
-- > payload_bytes  bytes of the message
-- > payload        the message; NULL if it was not requested
SELECT TOP (:limit)
    CAST(m.qmon_key AS bigint) AS archive_id,
    m.qmon_id AS message_id,
    CAST(DATEDIFF(DAY, '19700101', m.qmon_enqueued) * 86400.0
        + DATEDIFF(MILLISECOND, CAST(m.qmon_enqueued AS date), m.qmon_enqueued) / 1000.0 AS float) AS enqueued_at,
    CAST(DATEDIFF(DAY, '19700101', m.qmon_started) * 86400.0
        + DATEDIFF(MILLISECOND, CAST(m.qmon_started AS date), m.qmon_started) / 1000.0 AS float) AS started_at,
    CAST(DATEDIFF(DAY, '19700101', m.qmon_completed) * 86400.0
        + DATEDIFF(MILLISECOND, CAST(m.qmon_completed AS date), m.qmon_completed) / 1000.0 AS float) AS completed_at,
    CAST(DATEDIFF(DAY, '19700101', m.qmon_archived) * 86400.0
        + DATEDIFF(MILLISECOND, CAST(m.qmon_archived AS date), m.qmon_archived) / 1000.0 AS float) AS archived_at,
    m.qmon_attempts AS attempts,
    m.qmon_owner AS owner,
    m.qmon_title AS title,
    CAST(DATALENGTH(m.qmon_payload) AS bigint) AS payload_bytes,
    CASE WHEN CAST(:with_payload AS bit) = 1 THEN m.qmon_payload END AS payload
FROM (
    SELECT
        q.archive_id AS qmon_key,
        CONVERT(nvarchar(450), {message_id}, 126) AS qmon_id,
        {enqueued_at?!moment} AS qmon_enqueued,
        {started_at?!moment} AS qmon_started,
        CAST({completed_at?} AS datetime2(7)) AS qmon_completed,
        CAST(q.archived_at AS datetime2(3)) AS qmon_archived,
        CAST({attempts?} AS bigint) AS qmon_attempts,
        RTRIM(CONVERT(nvarchar(400), {owner?})) AS qmon_owner,
        CONVERT(nvarchar(400), {title?}) AS qmon_title,
        CAST({payload?} AS nvarchar(max)) AS qmon_payload
    FROM {archive_log} AS q
    WHERE q.archive_id > CAST(:after AS bigint)
        AND q.archive_id <= CAST(:upto AS bigint)
) AS m
ORDER BY m.qmon_key
