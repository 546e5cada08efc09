-- Complete many messages; returns the number of those that were still in progress. For each id, p_attempts has, at the
-- same position, the attempt that pop returned, as in complete. Rows are locked in the order of ids, so that two calls
-- with the same ids do not deadlock.
-- {table}          the queue
-- {complete_batch} the function
CREATE FUNCTION {complete_batch}(p_ids bigint[], p_attempts integer[]) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_ids   bigint[];
    v_count integer;
BEGIN
    v_ids := ARRAY(
        SELECT r.id
        FROM {table} AS r
        WHERE r.id = ANY (p_ids)
            AND r.status = 2::smallint
            AND r.attempts = p_attempts[array_position(p_ids, r.id)]
        ORDER BY r.id
        FOR UPDATE
    );
    DELETE FROM {table} AS q
    WHERE q.id = ANY (v_ids);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$qmon_body$;
