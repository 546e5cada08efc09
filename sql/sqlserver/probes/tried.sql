-- The oldest message of a queue that pops in a transaction, and the name of its lock, by which "locks" identifies the
-- holder: if the holder releases the lock and the message stays, the message was given back. A rolled-back transaction
-- leaves no trace on a row here, and a row that is being deleted is not visible: a comparison of polls shows that the
-- message disappeared and came back.
-- {table}      the queue's table
-- {id}         column: the id, in the order of pops
-- {error?}     column: its last error
-- {head_index} the index that leads with the id
-- :head        last known head id, NULL at first
-- > id         id as text
-- > attempts   NULL: no column counts them
-- > mark       the name of its lock; "locks" has the holder
-- > error      the end of its last error
SELECT
    h.qmon_id AS id,
    CAST(NULL AS int) AS attempts,
    CAST(RTRIM(h.qmon_place) AS nvarchar(256)) AS mark,
    CAST(h.qmon_error AS nvarchar(400)) AS error
FROM (
    SELECT COALESCE(
        CAST(:head AS {id!type}(450)), (SELECT TOP (1) f.{id} FROM {table} AS f WITH (INDEX ({head_index})) ORDER BY f.{id})
    ) AS qmon_from
) AS b
CROSS APPLY (
    SELECT TOP (1)
        CONVERT(nvarchar(450), q.{id}, 126) AS qmon_id,
        %%lockres%% AS qmon_place,
        {error?!newest} AS qmon_error
    FROM {table} AS q WITH (INDEX ({head_index}))
    WHERE q.{id} >= b.qmon_from
    ORDER BY q.{id}
) AS h
OPTION (MAXDOP 1)
