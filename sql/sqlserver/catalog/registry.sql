-- Whether this database has qmon's registry, and whether our role may read it. A table that we may not see counts as
-- missing.
-- > installed  the registry is there
-- > readable   our role may read it
SELECT CAST(CASE WHEN OBJECT_ID(N'qmon.queues', N'U') IS NOT NULL THEN 1 ELSE 0 END AS bit)                AS installed,
       CAST(COALESCE(HAS_PERMS_BY_NAME(N'qmon.queues', N'OBJECT', N'SELECT'), 0) AS bit)                   AS readable
