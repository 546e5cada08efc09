-- Sets up a session that acts in batches: in a deadlock, the server ends the statement of this session, which tries
-- again.
-- > done  1
SET DEADLOCK_PRIORITY LOW;
SELECT CAST(1 AS bit) AS done
