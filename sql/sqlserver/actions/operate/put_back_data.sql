-- Puts the other half of split messages back: of those that are in the queue again and no longer in the trash.
-- {table}         the queue's table
-- {id}            column: the id
-- {trash}         the trash of the queue's table
-- {data_table}    the second table
-- {data_id}       column of the second table: the id
-- {data_trash}    the trash of the second table
-- {columns!list}  the columns of the second table that can be written
-- :operation      the purge
-- :ids            the messages of this batch, XML
-- > done          rows put back
SET NOCOUNT ON;
DECLARE @ids xml = CAST(CAST(:ids AS nvarchar(max)) AS xml);
DECLARE @operation varchar(40) = :operation;
DECLARE @back table (qmon_key nvarchar(450) NOT NULL);
INSERT INTO @back (qmon_key)
SELECT CONVERT(nvarchar(450), q.{data_id})
FROM {data_trash} AS q
WHERE q.qmon_operation = @operation
    AND q.{data_id} IN (SELECT r.n.value('@k', 'nvarchar(450)') FROM @ids.nodes('/r') AS r(n))
    AND NOT EXISTS (SELECT 1 FROM {trash} AS t WHERE t.qmon_operation = @operation AND t.{id} = q.{data_id})
    AND EXISTS (SELECT 1 FROM {table} AS m WHERE m.{id} = q.{data_id});
IF OBJECTPROPERTY(OBJECT_ID({data_table!literal}), 'TableHasIdentity') = 1
    SET IDENTITY_INSERT {data_table} ON;
INSERT INTO {data_table} ({columns!list})
SELECT {columns!list.q}
FROM {data_trash} AS q
WHERE q.qmon_operation = @operation
    AND q.{data_id} IN (SELECT b.qmon_key FROM @back AS b);
IF OBJECTPROPERTY(OBJECT_ID({data_table!literal}), 'TableHasIdentity') = 1
    SET IDENTITY_INSERT {data_table} OFF;
DELETE FROM {data_trash}
WHERE qmon_operation = @operation
    AND {data_id} IN (SELECT b.qmon_key FROM @back AS b);
SELECT COUNT_BIG(*) AS done
FROM @back
