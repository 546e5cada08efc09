-- Locks the given rows of the trash that still exist; skips rows locked by other sessions.
-- {trash}      the trash
-- :operation   the purge
-- :rows        its rows, an array as text
-- > key        a row that is still there
-- > locked     true: we have locked it; false: another session has
WITH same AS MATERIALIZED (
    SELECT q.qmon_row
    FROM {trash} AS q
    WHERE q.qmon_row = ANY (CAST(:rows AS bigint[])) AND q.qmon_operation = CAST(:operation AS text)
),
ours AS MATERIALIZED (
    SELECT q.qmon_row
    FROM {trash} AS q
    WHERE q.qmon_row = ANY (CAST(:rows AS bigint[])) AND q.qmon_operation = CAST(:operation AS text)
    FOR UPDATE OF q SKIP LOCKED
)
SELECT CAST(s.qmon_row AS text) AS key, o.qmon_row IS NOT NULL AS locked
FROM same AS s
LEFT JOIN ours AS o ON o.qmon_row = s.qmon_row
