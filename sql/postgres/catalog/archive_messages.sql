-- Some archived messages of a range of keys, in their order.
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
SELECT
    archive_id,
    CAST({message_id} AS text) AS message_id,
    CAST(date_part('epoch', {enqueued_at?!moment}) AS double precision) AS enqueued_at,
    CAST(date_part('epoch', {started_at?!moment}) AS double precision) AS started_at,
    CAST(date_part('epoch', CAST({completed_at?} AS timestamptz)) AS double precision) AS completed_at,
    CAST(date_part('epoch', archived_at) AS double precision) AS archived_at,
    CAST({attempts?} AS bigint) AS attempts,
    CAST({owner?} AS text) AS owner,
    CAST({title?} AS text) AS title,
    CAST(octet_length(CAST({payload?} AS text)) AS bigint) AS payload_bytes,
    CASE WHEN CAST(:with_payload AS boolean) THEN CAST({payload?} AS text) END AS payload
FROM {archive_log}
WHERE archive_id > CAST(:after AS bigint)
    AND archive_id <= CAST(:upto AS bigint)
ORDER BY archive_id
LIMIT CAST(:limit AS bigint)
