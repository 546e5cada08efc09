-- Push one message; returns its id.
-- {table} the queue
-- {push}  the function
CREATE FUNCTION {push}(p_command text) RETURNS bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_id bigint;
BEGIN
    INSERT INTO {table} (command)
    VALUES (p_command)
    RETURNING id INTO v_id;
    RETURN v_id;
END
$qmon_body$;
