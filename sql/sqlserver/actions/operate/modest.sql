-- Sets up a session that counts: in a deadlock, the server ends this session. Its statements take one processor each
-- (MAXDOP 1).
-- > done  1
SET DEADLOCK_PRIORITY LOW;
SELECT CAST(1 AS bit) AS done
