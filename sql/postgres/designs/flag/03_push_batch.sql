-- Push many messages in one statement; returns their ids. An addition.
-- {table}      the queue
-- {push_batch} the function
CREATE FUNCTION {push_batch}(p_commands text[]) RETURNS SETOF bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
BEGIN
    RETURN QUERY
    INSERT INTO {table} (command)
    SELECT c.command
    FROM unnest(p_commands) AS c(command)
    RETURNING id;
END
$qmon_body$;
