-- Copies messages that we have locked, and are about to discard, into the trash.
-- {table}         the table of messages
-- {key}           its id, as a name alone
-- {queue?}        column: the queue
-- {trash}         qmon's table for that
-- {columns!list}  all its columns
-- :queue          the queue, NULL for the whole table
-- :ids            which, a JSON array of rows
-- :operation      the operation
INSERT INTO {trash} (qmon_operation, {columns!list})
SELECT :operation, {columns!list.q}
FROM {table} AS q
WHERE q.{key} IN (SELECT g.{key} FROM jsonb_populate_recordset(CAST(NULL AS {table}), CAST(:ids AS jsonb)) AS g)
  AND (CAST(:queue AS text) IS NULL OR {queue?!text} = :queue)
