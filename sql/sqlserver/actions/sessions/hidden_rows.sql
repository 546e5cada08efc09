-- Whether transactions may hold rows without a lock that the server shows: with optimized locking a lock on a row is given up at
-- once unless the statement asks for UPDLOCK or the like.
-- > hidden   they may
SELECT CAST(CASE WHEN CAST(DATABASEPROPERTYEX(DB_NAME(), 'IsOptimizedLockingOn') AS int) = 1 THEN 1 ELSE 0 END AS bit) AS hidden
