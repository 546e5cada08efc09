-- Tries to insert, in a transaction that is always rolled back. A gate refuses before the server checks any value.
-- Without a gate, NULLs fail in columns that are NOT NULL, or the row is rolled back. Takes no number from a sequence.
-- {table}         the table, or one of its partitions
-- {columns!list}  its columns that can be written
-- :values         values of some of them, a JSON object, which a gate of one queue of several reads
-- :rows           number of rows: 0 for a statement-level gate, 1 for a row-level gate
INSERT INTO {table} ({columns!list})
OVERRIDING SYSTEM VALUE
SELECT {columns!list.n}
FROM generate_series(1, CAST(:rows AS integer)) AS r(number)
-- Of a row of NULLs: one that is NULL itself is refused where the domain of a column takes none.
CROSS JOIN LATERAL (SELECT (CAST(NULL AS {table})).*) AS qmon_nulls
CROSS JOIN LATERAL jsonb_populate_record(CAST(qmon_nulls AS {table}), CAST(:values AS jsonb)) AS n
