-- Size of the version store: old versions of rows that transactions may still read. The server keeps the sums itself,
-- so no version is looked at.
-- > bytes            row versions of this database in tempdb; NULL: none, or not shown
-- > persistent_bytes NULL: no database keeps row versions itself before 2019
-- > whole_server     always false
SELECT
    CAST(SUM(v.reserved_space_kb) * 1024 AS bigint) AS bytes,
    CAST(NULL AS bigint) AS persistent_bytes,
    CAST(0 AS bit) AS whole_server
FROM sys.dm_tran_version_store_space_usage AS v
WHERE v.database_id = DB_ID()
