-- Compares rows that an undo has put back with the rows of the trash, after all triggers have fired.
-- {table}          the queue's table
-- {trash}          qmon's table for that
-- {key!list}       columns: what makes a row known
-- {columns!list}   the columns that can be written
-- {certain!list}   those of them that must come back as they were
-- :rows            rows of the trash, an array as text
-- > done           how many are in the table
-- > other          of these: with another value where there must be none
-- > altered        of these: with another value anywhere
-- > places         nothing: rows are found by their key
SELECT count(*)                                                                                        AS done,
       count(*) FILTER (WHERE CAST(ROW({certain!list.t}) AS text) <> CAST(ROW({certain!list.k}) AS text)) AS other,
       count(*) FILTER (WHERE CAST(ROW({columns!list.t}) AS text) <> CAST(ROW({columns!list.k}) AS text)) AS altered,
       CAST('[]' AS text)                                                                              AS places
FROM {trash} AS k
JOIN {table} AS t ON ({key!list.t}) = ({key!list.k})
WHERE k.qmon_row = ANY (CAST(:rows AS bigint[]))
