-- Where messages that we have locked lie, for the statements that change rows of designs.
-- {table}      the table of messages
-- {id}         column: the id
-- {key?!list}  columns: the key of a row
-- {state?}     column: the first one that is written
-- {since?}     column: when it was popped, or pushed
-- {owner?}     column: its consumer
-- :ids         which, a JSON array of rows
-- > key        position of the row, with the partition
-- > version    its version; see `lock` of the designs
SELECT q.tableoid || CAST(q.ctid AS text) AS key,
       q.xmin || '/' || hashtextextended(CAST(ROW({key?!list.q}, {state?}, {since?}, {owner?}) AS text), 0) AS version
FROM {table} AS q
WHERE q.{id} IN (SELECT g.{id} FROM jsonb_populate_recordset(CAST(NULL AS {table}), CAST(:ids AS jsonb)) AS g)
