-- Move up to p_limit processed messages, oldest first, to the archive, in one transaction; returns the number of moved
-- messages. An addition, like Al Zabir's continuous archiving: in small batches with pauses, it does not disturb
-- producers and consumers, because these never lock processed rows. Several archivers skip each other's rows.
-- {table}       the queue
-- {archive_log} the archive
-- {archive}     the function
CREATE FUNCTION {archive}(p_limit integer DEFAULT 500) RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_ids   bigint[];
    v_count integer;
BEGIN
    v_ids := ARRAY(
        SELECT r.id
        FROM {table} AS r
        WHERE r.processed = 1::smallint
        ORDER BY r.id
        LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    );
    WITH moved AS (
        DELETE FROM {table} AS q
        WHERE q.processed = 1::smallint
            AND q.id = ANY (v_ids)
        RETURNING q.id, q.command, q.enqueued_at, q.processed_at
    )
    INSERT INTO {archive_log} (id, command, enqueued_at, processed_at)
    SELECT m.id, m.command, m.enqueued_at, m.processed_at
    FROM moved AS m;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$qmon_body$;
