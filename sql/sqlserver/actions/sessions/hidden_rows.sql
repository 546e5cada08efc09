-- Whether transactions may hold rows without a visible lock: with optimized locking, a transaction releases the lock on
-- a row at once, unless the statement uses a hint such as UPDLOCK.
-- > hidden   they may
SELECT CAST(CASE WHEN CAST(DATABASEPROPERTYEX(DB_NAME(), 'IsOptimizedLockingOn') AS int) = 1 THEN 1 ELSE 0 END AS bit) AS hidden
