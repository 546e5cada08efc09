-- Push many messages in one statement; returns their ids. The ids are taken first, so that both tables get the same
-- ones. p_title NULL: the first 60 characters of each payload.
-- {table}      QueueMeta
-- {data}       QueueData
-- {push_batch} the function
-- {id_seq}     the sequence behind the identity
-- {push_until} end of the producers' pause
-- {paused}     function: waits or raises an error during a pause
CREATE FUNCTION {push_batch}(p_text_data text[], p_title text DEFAULT NULL) RETURNS SETOF bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
BEGIN
    IF pg_sequence_last_value({push_until!literal}::regclass) > 0
        AND pg_sequence_last_value({push_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('producers');
    END IF;
    RETURN QUERY
    WITH fresh AS MATERIALIZED (
        SELECT nextval({id_seq!literal}::regclass) AS queue_id, d.text_data
        FROM unnest(p_text_data) AS d(text_data)
    ),
    meta AS (
        INSERT INTO {table} (queue_id, queue_date_time, title)
        SELECT f.queue_id, clock_timestamp(), coalesce(p_title, left(f.text_data, 60))
        FROM fresh AS f
    )
    INSERT INTO {data} (queue_id, text_data)
    SELECT f.queue_id, f.text_data
    FROM fresh AS f
    RETURNING queue_id;
END
$qmon_body$;
