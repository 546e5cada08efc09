-- Creates a table for the rows that an undo needs, with the function that has the right to do so: see
-- control/06_make_store.
-- {table}      the queue's table
-- :kind        trash or kept
-- :about       the table of the kept rows
-- :structure   its columns as JSON
-- :columns     its columns, an array as text
-- :found_by    column by which the rows of an operation are found: their own number, or the id of split messages
-- > store      its number
SELECT qmon.make_store(CAST({table!literal} AS pg_catalog.regclass), CAST(:kind AS pg_catalog.text),
                       CAST(:about AS pg_catalog.text), CAST(:structure AS pg_catalog.text),
                       CAST(:columns AS pg_catalog.text[]), CAST(:found_by AS pg_catalog.text)) AS store
