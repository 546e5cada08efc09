-- The message at the head of a queue that pops in a transaction, and the transaction that has locked it for itself: where
-- one lets go of it and the message stays, it has given it back. A transaction that was rolled back leaves no trace on a row
-- here, and a row that is being deleted is not seen: who compares the polls tells that it was away and has come back.
-- {table}      the queue's table
-- {id}         column: the id, in the order of pops
-- {head_index} the index that leads with the id
-- :head        last known head id, NULL at first
-- > id         id as text
-- > attempts   NULL: no column counts them
-- > mark       id of the transaction that has it now, as text; 0 where none has
WITH parts AS (
    SELECT p.hobt_id
    FROM sys.indexes AS i
    JOIN sys.partitions AS p ON p.object_id = i.object_id AND p.index_id = i.index_id
    WHERE i.object_id = OBJECT_ID({table!literal})
        AND QUOTENAME(i.name) = {head_index!literal}
)
SELECT
    h.qmon_id AS id,
    CAST(NULL AS int) AS attempts,
    COALESCE(CONVERT(nvarchar(20), k.request_owner_id), N'0') AS mark
FROM (
    SELECT COALESCE(
        CAST(:head AS varchar(450)), (SELECT TOP (1) f.{id} FROM {table} AS f WITH (INDEX ({head_index})) ORDER BY f.{id})
    ) AS qmon_from
) AS b
CROSS APPLY (
    SELECT TOP (1) CONVERT(nvarchar(450), q.{id}, 126) AS qmon_id, %%lockres%% AS qmon_place
    FROM {table} AS q WITH (INDEX ({head_index}))
    WHERE q.{id} >= b.qmon_from
    ORDER BY q.{id}
) AS h
OUTER APPLY (
    SELECT TOP (1) l.request_owner_id
    FROM sys.dm_tran_locks AS l
    WHERE l.resource_database_id = DB_ID()
        AND l.resource_type IN (N'KEY', N'RID')
        AND l.resource_associated_entity_id IN (SELECT p.hobt_id FROM parts AS p)
        AND l.resource_description = h.qmon_place
        AND l.request_status = N'GRANT'
        AND l.request_owner_type = N'TRANSACTION'
        AND l.request_mode IN (N'U', N'RangeS-U', N'X', N'RangeX-X')
    ORDER BY l.request_owner_id
) AS k
OPTION (MAXDOP 1)
