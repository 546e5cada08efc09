-- Push one message; returns its id. The article's EnqueueMessage.
-- {table} the queue
-- {push}  the function
CREATE FUNCTION {push}(p_message bytea) RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_id bigint;
BEGIN
    INSERT INTO {table} (status, message)
    VALUES (1, p_message)
    RETURNING id INTO v_id;
    RETURN v_id;
END
$qmon_body$;
