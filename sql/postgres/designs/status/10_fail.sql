-- Give back a message that could not be processed: it becomes ready again at its old place, which is the front, or dead
-- after p_max_attempts attempts. Returns the new status, NULL if the message is not in progress (any more). An
-- addition. p_attempt: as in complete.
-- {table}            the queue
-- {fail}             the function
-- {max_attempts!int} attempts after which a message is dead, unless the caller sets another number
CREATE FUNCTION {fail}(
    p_id bigint, p_attempt integer, p_max_attempts integer DEFAULT {max_attempts!int}
) RETURNS smallint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_status smallint;
BEGIN
    UPDATE {table} AS q
    SET status = CASE WHEN q.attempts >= p_max_attempts THEN 3 ELSE 1 END, started_at = NULL, owner = NULL
    WHERE q.id = p_id
        AND q.status = 2::smallint
        AND q.attempts = p_attempt
    RETURNING q.status INTO v_status;
    RETURN v_status;
END
$qmon_body$;
