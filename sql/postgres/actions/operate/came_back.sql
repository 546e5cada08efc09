-- Compares rows that an undo has put back with the rows of the trash, after all triggers have fired.
-- {table}          the queue's table
-- {trash}          qmon's table for that
-- {key!list}       columns: the key of a row
-- {columns!list}   the columns that can be written
-- {certain!list}   those of them that must be restored unchanged
-- :rows            rows of the trash, an array as text
-- > done           number of rows in the table
-- > other          of these: rows with another value in such a column
-- > altered        of these: rows with another value in any column
-- > places         nothing: rows are found by their key
SELECT count(*)                                                                                        AS done,
       count(*) FILTER (WHERE CAST(ROW({certain!list.t}) AS text) <> CAST(ROW({certain!list.k}) AS text)) AS other,
       count(*) FILTER (WHERE CAST(ROW({columns!list.t}) AS text) <> CAST(ROW({columns!list.k}) AS text)) AS altered,
       CAST('[]' AS text)                                                                              AS places
FROM {trash} AS k
JOIN {table} AS t ON ({key!list.t}) = ({key!list.k})
WHERE k.qmon_row = ANY (CAST(:rows AS bigint[]))
