-- Whether this database records pauses that our login may read.
-- > readable  it does
SELECT CAST(CASE WHEN HAS_PERMS_BY_NAME(N'qmon.pauses', N'OBJECT', N'SELECT') = 1 THEN 1 ELSE 0 END AS bit) AS readable
