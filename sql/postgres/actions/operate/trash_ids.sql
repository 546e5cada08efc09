-- The ids of some rows of the trash.
-- {trash}  the table
-- {id}     column: the id
-- :tids    where the rows lie, an array as text
-- > id     id as text
SELECT CAST({id} AS text) AS id
FROM {trash} AS q
WHERE q.ctid = ANY (CAST(:tids AS tid[]))
