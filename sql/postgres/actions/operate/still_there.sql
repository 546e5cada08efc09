-- How many of the rows that this batch has moved into the trash are in the queue all the same: a trigger put them back.
-- {table}      the queue's table
-- {trash}      qmon's table for that
-- {key!list}   columns: what makes a row known
-- :operation   the operation
-- :done        how many rows the batch has moved: the last of the operation
-- > done       how many are there
SELECT count(*) AS done
FROM (
    SELECT {key!list.k}
    FROM {trash} AS k
    WHERE k.qmon_operation = CAST(:operation AS text)
    ORDER BY k.qmon_row DESC
    LIMIT :done
) AS q
WHERE EXISTS (SELECT FROM {table} AS t WHERE ({key!list.t}) = ({key!list.q}))
