-- Puts rows of the trash that we have locked back into the queue, under their own ids, and takes them out of the trash.
-- One whose id is taken again stays in the trash; anything else that is unique and taken fails the batch.
-- {table}         the queue's table
-- {trash}         qmon's table for that
-- {id}            column: the id
-- {columns!list}  the columns that can be written
-- :keys           ids of the rows, XML
-- :operation      the purge whose rows are meant
-- > done          how many were put back
SET NOCOUNT ON;
DECLARE @keys xml = CAST(CAST(:keys AS nvarchar(max)) AS xml);
DECLARE @operation varchar(40) = :operation;
DECLARE @back table (qmon_key nvarchar(450) NOT NULL);
INSERT INTO @back (qmon_key)
SELECT CONVERT(nvarchar(450), q.{id})
FROM {trash} AS q
WHERE q.qmon_operation = @operation
    AND q.{id} IN (SELECT r.n.value('@k', 'nvarchar(450)') FROM @keys.nodes('/r') AS r(n))
    AND NOT EXISTS (SELECT 1 FROM {table} AS t WITH (UPDLOCK, HOLDLOCK, ROWLOCK) WHERE t.{id} = q.{id});
IF OBJECTPROPERTY(OBJECT_ID({table!literal}), 'TableHasIdentity') = 1
    SET IDENTITY_INSERT {table} ON;
INSERT INTO {table} ({columns!list})
SELECT {columns!list.q}
FROM {trash} AS q
WHERE q.qmon_operation = @operation
    AND q.{id} IN (SELECT b.qmon_key FROM @back AS b);
IF OBJECTPROPERTY(OBJECT_ID({table!literal}), 'TableHasIdentity') = 1
    SET IDENTITY_INSERT {table} OFF;
DELETE FROM {trash}
WHERE qmon_operation = @operation
    AND {id} IN (SELECT b.qmon_key FROM @back AS b);
SELECT COUNT_BIG(*) AS done
FROM @back
