-- Size of the version store: old versions of rows that transactions may still read, in tempdb, and with accelerated
-- database recovery in the database itself. The server keeps the sums itself, so no version is looked at.
-- > bytes            row versions of this database in tempdb; NULL: none, or not shown
-- > persistent_bytes row versions that this database keeps itself; NULL: it keeps none
-- > whole_server     always false
SELECT
    CAST((
        SELECT SUM(v.reserved_space_kb)
        FROM sys.dm_tran_version_store_space_usage AS v
        WHERE v.database_id = DB_ID()
    ) * 1024 AS bigint) AS bytes,
    CAST((
        SELECT SUM(p.persistent_version_store_size_kb)
        FROM sys.dm_tran_persistent_version_store_stats AS p
        JOIN sys.databases AS d ON d.name = DB_NAME() AND d.is_accelerated_database_recovery_on = 1
        WHERE p.database_id = DB_ID()
    ) * 1024 AS bigint) AS persistent_bytes,
    CAST(0 AS bit) AS whole_server
