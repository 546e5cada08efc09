-- Tries to insert, in a transaction that is rolled back whatever comes of it. A gate refuses before any value is looked
-- at; without one, NULLs fail on what takes none, or are rolled back. No number is drawn.
-- {table}         the table, or one of its partitions
-- {columns!list}  its columns that can be written
-- :values         what stands in some of them, a JSON object: what a gate of one queue of several looks at
-- :rows           how many rows: 0 is enough for a gate that is asked once a statement, 1 for one that is asked for each
INSERT INTO {table} ({columns!list})
OVERRIDING SYSTEM VALUE
SELECT {columns!list.n}
FROM generate_series(1, CAST(:rows AS integer)) AS r(number)
-- Of a row of NULLs: one that is NULL itself is refused where the domain of a column takes none.
CROSS JOIN LATERAL (SELECT (CAST(NULL AS {table})).*) AS qmon_nulls
CROSS JOIN LATERAL jsonb_populate_record(CAST(qmon_nulls AS {table}), CAST(:values AS jsonb)) AS n
