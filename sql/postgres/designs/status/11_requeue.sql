-- Requeue up to p_limit messages that have been in progress for longer than p_timeout_s seconds, the longest-running
-- first: ready again at their old place, which is the front, or dead after p_max_attempts attempts. Returns the number
-- of moved messages. An addition. Served by the index on rows in progress. Skips messages that a consumer is
-- completing.
-- {table}            the queue
-- {requeue}          the function
-- {max_attempts!int} attempts after which a message is dead, unless the caller sets another number
CREATE FUNCTION {requeue}(
    p_timeout_s double precision, p_limit integer DEFAULT 500, p_max_attempts integer DEFAULT {max_attempts!int}
) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_cutoff timestamptz := clock_timestamp() - make_interval(secs => p_timeout_s);
    v_ids    bigint[];
    v_count  integer;
BEGIN
    v_ids := ARRAY(
        SELECT r.id
        FROM {table} AS r
        WHERE r.status = 2::smallint
            AND r.started_at < v_cutoff
        ORDER BY r.started_at
        LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    );
    UPDATE {table} AS q
    SET status = CASE WHEN q.attempts >= p_max_attempts THEN 3 ELSE 1 END, started_at = NULL, owner = NULL
    WHERE q.id = ANY (v_ids);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$qmon_body$;
