-- The rows of the messages are deleted, as the configuration of the queue allows.
-- {table}    the table of messages
-- {key}      the id, as a name alone
-- :rows      which, a JSON array of rows
-- > id       one that is done
DELETE FROM {table}
WHERE {key} IN (SELECT g.{key} FROM jsonb_populate_recordset(CAST(NULL AS {table}), CAST(:rows AS jsonb)) AS g)
RETURNING CAST({key} AS text) AS id
