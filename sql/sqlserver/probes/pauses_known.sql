-- Whether this database records pauses, and operations, that our login may read.
-- > readable    pauses
-- > operations  operations
SELECT CAST(CASE WHEN HAS_PERMS_BY_NAME(N'qmon.pauses', N'OBJECT', N'SELECT') = 1 THEN 1 ELSE 0 END AS bit) AS readable,
       CAST(CASE WHEN HAS_PERMS_BY_NAME(N'qmon.operations', N'OBJECT', N'SELECT') = 1 THEN 1 ELSE 0 END AS bit) AS operations
