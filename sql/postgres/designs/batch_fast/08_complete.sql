-- Complete a message: processed, for the archiver; deleting here would make the consumer pay for it (the article).
-- False if it is no longer processing.
--
-- p_attempt (an addition) is the attempt that pop returned: if a message was requeued and another consumer popped it,
-- the first consumer cannot complete it.
-- {table}    QueueMeta; QueueSlow where all is in one table
-- {complete} the function
CREATE FUNCTION {complete}(p_id bigint, p_attempt integer) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
BEGIN
    UPDATE {table} AS q
    SET status = 2, completed_at = clock_timestamp()
    WHERE q.queue_id = p_id
        AND q.status = 1::smallint
        AND q.attempts = p_attempt;
    RETURN FOUND;
END
$qmon_body$;
