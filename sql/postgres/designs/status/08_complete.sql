-- Complete a message: its row is deleted. The article's CompleteMessage. False if it is no longer in progress.
--
-- p_attempt (an addition) is the attempt that pop returned: if a message was requeued and another consumer popped it,
-- the first consumer cannot complete it.
-- {table}    the queue
-- {complete} the function
CREATE FUNCTION {complete}(p_id bigint, p_attempt integer) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
BEGIN
    DELETE FROM {table} AS q
    WHERE q.id = p_id
        AND q.status = 2::smallint
        AND q.attempts = p_attempt;
    RETURN FOUND;
END
$qmon_body$;
