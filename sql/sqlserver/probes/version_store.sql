-- Size of the version store: old versions of rows that transactions may still read. A level as it is now, of type
-- 65792, no total. Before 2017 it is known for the whole server only.
-- > bytes            row versions in tempdb, of all databases; NULL: not shown
-- > persistent_bytes NULL: no database keeps row versions itself before 2019
-- > whole_server     always true
SELECT
    CAST(MAX(p.cntr_value) * 1024 AS bigint) AS bytes,
    CAST(NULL AS bigint) AS persistent_bytes,
    CAST(1 AS bit) AS whole_server
FROM sys.dm_os_performance_counters AS p
WHERE p.cntr_type = 65792
    AND p.object_name LIKE N'%:Transactions%'
    AND p.counter_name = N'Version Store Size (KB)'
