-- The used share of this database's limits in Azure SQL Database, on average over 15 seconds.
-- Needs VIEW DATABASE STATE. Shares are 0 to 1; NULL: not shown.
-- > cpu       processor time
-- > data_io   reads and writes of data files
-- > log_write bytes written to the log
-- > memory    memory
-- > workers   the most workers at once
-- > sessions  the most sessions at once
-- > storage   NULL: not reported there
SELECT TOP (1)
    CAST(r.avg_cpu_percent / 100.0 AS float) AS cpu,
    CAST(r.avg_data_io_percent / 100.0 AS float) AS data_io,
    CAST(r.avg_log_write_percent / 100.0 AS float) AS log_write,
    CAST(r.avg_memory_usage_percent / 100.0 AS float) AS memory,
    CAST(r.max_worker_percent / 100.0 AS float) AS workers,
    CAST(r.max_session_percent / 100.0 AS float) AS sessions,
    CAST(NULL AS float) AS storage
FROM sys.dm_db_resource_stats AS r
ORDER BY r.end_time DESC
