-- Whether pauses can be read or recorded in this database.
-- > recorded    the table of pauses is there
-- > readable    we may read it
-- > writable    we may write into it
-- > can_create  we may make it
SELECT CAST(CASE WHEN OBJECT_ID(N'qmon.pauses', N'U') IS NOT NULL THEN 1 ELSE 0 END AS bit) AS recorded,
       CAST(CASE WHEN HAS_PERMS_BY_NAME(N'qmon.pauses', N'OBJECT', N'SELECT') = 1
                 THEN 1 ELSE 0 END AS bit)                                                 AS readable,
       CAST(CASE WHEN HAS_PERMS_BY_NAME(N'qmon.pauses', N'OBJECT', N'SELECT') = 1
                      AND HAS_PERMS_BY_NAME(N'qmon.record_pause', N'OBJECT', N'EXECUTE') = 1
                      AND HAS_PERMS_BY_NAME(N'qmon.lift_pauses', N'OBJECT', N'EXECUTE') = 1
                 THEN 1 ELSE 0 END AS bit)                                                 AS writable,
       CAST(CASE WHEN HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', N'CREATE TABLE') = 1
                      AND (
                          SCHEMA_ID(N'qmon') IS NULL AND HAS_PERMS_BY_NAME(QUOTENAME(DB_NAME()), N'DATABASE', N'CREATE SCHEMA') = 1
                          OR HAS_PERMS_BY_NAME(N'qmon', N'SCHEMA', N'ALTER') = 1
                      )
                 THEN 1 ELSE 0 END AS bit)                                                 AS can_create
