-- The running transactions that have written to an archive, including prepared ones: each holds a lock from before its
-- first row is numbered until its rows are visible or rolled back.
-- {archive_log}  the archive
-- > writer       virtual transaction
SELECT DISTINCT CAST(l.virtualtransaction AS text) AS writer
FROM pg_catalog.pg_locks AS l
WHERE l.locktype = 'relation'
    AND l.database = (SELECT b.oid FROM pg_catalog.pg_database AS b WHERE b.datname = current_database())
    AND l.relation = to_regclass({archive_log!literal})
    AND l.mode IN ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    AND l.granted
ORDER BY writer
