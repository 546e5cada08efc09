-- Whether a store holds rows of an operation.
-- {store}      the table
-- :operation   the operation
-- > done       1, or 0
SELECT CASE WHEN EXISTS (
           SELECT 1 FROM {store} WHERE qmon_operation = CAST(:operation AS varchar(40))
       ) THEN 1 ELSE 0 END AS done
