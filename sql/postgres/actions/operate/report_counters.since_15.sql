-- Has this session hand in its counters as soon as the transaction has ended: the watching sessions know from
-- qmon.operations which rows qmon has changed, and find them in the counters at the same time.
-- > done 1
SELECT 1 AS done
FROM pg_catalog.pg_stat_force_next_flush()
