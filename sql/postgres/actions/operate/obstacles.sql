-- What a row of the table takes along when it is deleted or written.
-- {table}  the table
-- > kind   cascade: another table's rows are deleted or changed with it; refers: it refers to another table;
--          trigger: one that is on
-- > name   the other table, or the trigger
SELECT 'cascade' AS kind, CAST(CAST(k.conrelid AS regclass) AS text) AS name
FROM pg_catalog.pg_constraint AS k
WHERE k.contype = 'f' AND k.confrelid = CAST({table!literal} AS regclass) AND k.confdeltype IN ('c', 'n', 'd')
UNION
SELECT 'refers', CAST(CAST(k.confrelid AS regclass) AS text)
FROM pg_catalog.pg_constraint AS k
WHERE k.contype = 'f' AND k.conrelid = CAST({table!literal} AS regclass)
UNION
SELECT 'trigger', CAST(t.tgname AS text)
FROM pg_catalog.pg_trigger AS t
WHERE t.tgrelid = CAST({table!literal} AS regclass) AND NOT t.tgisinternal AND t.tgenabled IN ('O', 'A')
ORDER BY 1, 2
