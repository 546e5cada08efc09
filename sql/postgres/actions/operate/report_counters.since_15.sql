-- Makes this session report its counters as soon as the transaction has ended. Watching sessions read from
-- qmon.operations which rows qmon has changed, and find the same rows in the counters at the same time.
-- > done 1
SELECT 1 AS done
FROM pg_catalog.pg_stat_force_next_flush()
