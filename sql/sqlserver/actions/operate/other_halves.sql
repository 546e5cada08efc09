-- The other half of split messages: the rows in the trash of the second table that belong to given rows in the trash of
-- the first table.
-- {trash}       the trash of the first table
-- {id}          column: the id
-- {data_trash}  the trash of the second table
-- {data_id}     column of the second table: the id
-- :operation    the purge
-- :rows         rows of the first table's trash, XML
-- > key         a row of the second one's trash
SET NOCOUNT ON;
DECLARE @rows xml = CAST(CAST(:rows AS nvarchar(max)) AS xml);
SELECT CONVERT(nvarchar(20), d.qmon_row) AS [key]
FROM {trash} AS q
JOIN {data_trash} AS d WITH (UPDLOCK, ROWLOCK) ON d.{data_id} = q.{id} AND d.qmon_operation = q.qmon_operation
WHERE q.qmon_operation = CAST(:operation AS varchar(40))
    AND q.qmon_row IN (SELECT r.n.value('@k', 'bigint') FROM @rows.nodes('/r') AS r(n))
