-- The other half of split messages: the rows in the trash of the second table that belong to given rows in the trash of
-- the first table.
-- {trash}       the trash of the first table
-- {id}          column: the id
-- {data_trash}  the trash of the second table
-- {data_id}     column of the second table: the id
-- :operation    the purge
-- :rows         rows of the first table's trash, an array as text
-- > key         a row of the second one's trash
SELECT CAST(d.qmon_row AS text) AS key
FROM {trash} AS q
JOIN {data_trash} AS d ON d.{data_id} = q.{id} AND d.qmon_operation = q.qmon_operation
WHERE q.qmon_row = ANY (CAST(:rows AS bigint[])) AND q.qmon_operation = CAST(:operation AS text)
FOR UPDATE OF d
