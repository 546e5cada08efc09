-- Push one message; returns how many were pushed: 1. The article's usp_enqueueHeap. A heap's messages have no id.
-- {table} the queue
-- {push}  the function
CREATE FUNCTION {push}(p_payload bytea) RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
BEGIN
    INSERT INTO {table} (payload)
    VALUES (p_payload);
    RETURN 1;
END
$qmon_body$;
