-- The newest row of an append-only table.
-- {log}       the table
-- {id}        column: numbers its rows in the order of insertion
-- > last_id   the greatest number; NULL if there is no row
SELECT CAST(MAX(q.{id}) AS bigint) AS last_id
FROM {log} AS q
