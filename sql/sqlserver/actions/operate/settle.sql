-- Sets up a session that acts in batches: in a deadlock it is the one that gives way, and tries again.
-- > done  1
SET DEADLOCK_PRIORITY LOW;
SELECT CAST(1 AS bit) AS done
