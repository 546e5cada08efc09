-- Pop up to p_limit messages, newest first. An addition: the article pops one at a time.
-- Reads again, like pop, before it returns no row.
-- {table}     the queue
-- {pop_batch} the function
-- {pop_until} end of the consumers' pause
-- {paused}    function: waits or raises an error during a pause
CREATE FUNCTION {pop_batch}(p_limit integer) RETURNS TABLE (id bigint, payload bytea)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_known bigint[];
    v_seen  bigint[];
    v_ids bigint[];
BEGIN
    IF pg_sequence_last_value({pop_until!literal}::regclass) > 0
        AND pg_sequence_last_value({pop_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('consumers');
    END IF;
    FOR v_try IN 1..100 LOOP
        -- An array first: it is ordered by the primary key, and the DELETE goes through it by index at any size.
        v_ids := ARRAY(
            SELECT r.id
            FROM {table} AS r
            ORDER BY r.id DESC
            LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        );
        EXIT WHEN cardinality(v_ids) > 0;
        v_known := v_seen;
        v_seen := ARRAY[
            (SELECT r.id FROM {table} AS r ORDER BY r.id LIMIT 1),
            (SELECT r.id FROM {table} AS r ORDER BY r.id DESC LIMIT 1)
        ];
        EXIT WHEN v_seen[1] IS NULL OR v_seen = v_known;
    END LOOP;
    RETURN QUERY
    WITH popped AS (
        DELETE FROM {table} AS q
        WHERE q.id = ANY (v_ids)
        RETURNING q.id, q.payload
    )
    SELECT p.id, p.payload
    FROM popped AS p
    ORDER BY p.id DESC;
END
$qmon_body$;
