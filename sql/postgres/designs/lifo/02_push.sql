-- Push one message; returns its id. As in the FIFO queue.
-- enqueued_at is clock_timestamp() by default: now() would be when the transaction began.
-- {table} the queue
-- {push}  the function
CREATE FUNCTION {push}(p_payload bytea) RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_id bigint;
BEGIN
    INSERT INTO {table} (payload)
    VALUES (p_payload)
    RETURNING id INTO v_id;
    RETURN v_id;
END
$qmon_body$;
