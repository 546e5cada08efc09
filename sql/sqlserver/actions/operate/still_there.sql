-- The number of rows that this batch has moved into the trash and that are still in the queue, because a trigger put
-- them back.
-- {table}      the queue's table
-- {trash}      qmon's table for that
-- {key!list}   columns: the key of a row
-- :operation   the operation
-- :done        number of rows that the batch has moved: the last of the operation
-- > done       number of them
SET NOCOUNT ON;
DECLARE @operation varchar(40) = :operation, @done bigint = :done;
SELECT COUNT_BIG(*) AS done
FROM (
    SELECT TOP (@done) {key!list.k}
    FROM {trash} AS k
    WHERE k.qmon_operation = @operation
    ORDER BY k.qmon_row DESC
) AS q
WHERE EXISTS (SELECT 1 FROM {table} AS t WHERE EXISTS (SELECT {key!list.t} INTERSECT SELECT {key!list.q}))
