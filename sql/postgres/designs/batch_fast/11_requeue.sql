-- Requeue up to p_limit messages that have been processing for longer than p_timeout_s seconds, the longest-running
-- first. The article sends these messages to the front: they get a queue_date_time before that of every ready message
-- that was never popped, and keep their order among messages that were popped before. A message that has had
-- p_max_attempts attempts becomes dead. Returns the number of moved messages. Uses the index on rows being processed.
-- Skips messages that a consumer is completing.
-- {table}            QueueMeta; QueueSlow where all is in one table
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
    v_front  timestamptz;
    v_ids    bigint[];
    v_count  integer;
BEGIN
    v_ids := ARRAY(
        SELECT r.queue_id
        FROM {table} AS r
        WHERE r.status = 1::smallint
            AND r.started_at < v_cutoff
        ORDER BY r.started_at
        LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    );
    SELECT r.queue_date_time
    INTO v_front
    FROM {table} AS r
    WHERE r.status = 0::smallint
        AND r.attempts = 0
    ORDER BY r.queue_date_time, r.queue_id
    LIMIT 1;
    -- Equal times are popped by id. Where all is popped, or the old place is before the front already, it stays.
    UPDATE {table} AS q
    SET status = CASE WHEN q.attempts >= p_max_attempts THEN 3 ELSE 0 END,
        queue_date_time = least(q.queue_date_time, v_front - interval '1 microsecond'),
        started_at = NULL,
        owner = NULL
    WHERE q.queue_id = ANY (v_ids);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$qmon_body$;
