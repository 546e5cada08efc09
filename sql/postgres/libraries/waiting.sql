-- How many of these messages wait for a consumer.
-- {table}     the table of messages
-- {key}       the id, as a name alone
-- {rows!where}     condition: the row is ready, scheduled or blocked
-- :ids        which, a JSON array of rows
-- > done      number of them
SELECT count(*) AS done
FROM {table} AS q
WHERE q.{key} IN (SELECT g.{key} FROM jsonb_populate_recordset(CAST(NULL AS {table}), CAST(:ids AS jsonb)) AS g)
  AND {rows!where}
