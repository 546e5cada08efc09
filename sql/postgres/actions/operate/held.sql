-- Whether a store holds rows of an operation.
-- {store}      the table
-- :operation   the operation
-- > done       1, or 0
SELECT CAST(EXISTS (SELECT FROM {store} WHERE qmon_operation = CAST(:operation AS text)) AS int) AS done
