-- Some archived messages of a range of keys, in their order.
-- {archive_log}    the archive
-- {message_id}     column: the message's id
-- {enqueued_at?}   column: when it was pushed
-- {started_at?}    column: when it was popped
-- {completed_at?}  column: when it was completed
-- {attempts?}      column: how often it was popped
-- {owner?}         column: who popped it
-- {title?}         column: what it is called
-- {payload?}       column: the message
-- :with_payload    1: the message itself, too
-- :after           keys beyond this one
-- :upto            up to this one
-- :limit           so many at most
-- > archive_id     key
-- > message_id     id as text
-- > enqueued_at    seconds since the epoch
-- > started_at     likewise
-- > completed_at   likewise
-- > archived_at    likewise
-- > attempts       how often it was popped
-- > owner          who popped it
-- > title          what it is called
-- > payload_bytes  bytes of the message
-- > payload        the message; NULL where it is not wanted
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
