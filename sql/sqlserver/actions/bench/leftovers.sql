-- Schemas of interrupted benches that were not dropped.
-- > schema their names
SELECT CAST(h.name AS nvarchar(128)) AS [schema]
FROM sys.extended_properties AS p
JOIN sys.schemas AS h ON h.schema_id = p.major_id
WHERE p.class = 3
    AND p.name = N'qmon_bench'
    AND NOT EXISTS (
        SELECT *
        FROM sys.dm_exec_sessions AS s
        WHERE LEFT(s.program_name, 5 + LEN(h.name)) COLLATE Latin1_General_BIN2
            = (N'qmon ' + h.name) COLLATE Latin1_General_BIN2
    )
ORDER BY h.name
