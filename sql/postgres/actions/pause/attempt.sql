-- Tries to insert, in a transaction that is rolled back whatever comes of it. A gate refuses before any value is looked
-- at; without one, NULLs fail on what takes none, or are rolled back. No number is drawn.
-- {table}         the table, or one of its partitions
-- {columns!list}  its columns that can be written
-- :rows           how many rows: 0 is enough for a gate that is asked once a statement, 1 for one that is asked for each
INSERT INTO {table} ({columns!list})
OVERRIDING SYSTEM VALUE
SELECT {columns!list.n}
FROM generate_series(1, CAST(:rows AS integer)) AS r(number)
CROSS JOIN LATERAL (SELECT (CAST(NULL AS {table})).*) AS n
