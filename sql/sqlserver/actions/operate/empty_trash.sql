-- Deletes rows of one operation from a trash: rows that were there when the rows were counted.
-- {trash}       the table
-- :operation    the operation
-- :before       only messages that came until then, seconds since the epoch
-- :limit        maximum number of rows
-- > done        number of deleted rows
SET NOCOUNT ON;
DECLARE @operation varchar(40) = :operation, @before float = :before, @limit bigint = :limit;
DELETE TOP (@limit)
FROM {trash} WITH (ROWLOCK, READPAST, READCOMMITTEDLOCK)
WHERE qmon_operation = @operation
    AND qmon_trashed_at < DATEADD(MILLISECOND, CAST((@before - FLOOR(@before / 86400) * 86400) * 1000 AS int),
                                  DATEADD(DAY, CAST(FLOOR(@before / 86400) AS int), CAST('19700101' AS datetime2(3))));
SELECT @@ROWCOUNT AS done
