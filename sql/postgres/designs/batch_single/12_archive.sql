-- Move up to p_limit processed messages, oldest first, to the archive, in one transaction; returns the number of moved
-- messages. The article's continuous archiving: in small batches with pauses, it does not disturb producers and
-- consumers, because these never lock processed rows. Uses the index on processed rows. Several archivers skip each
-- other's rows.
-- {table}       QueueSlow
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
        SELECT r.queue_id
        FROM {table} AS r
        WHERE r.status = 2::smallint
        ORDER BY r.queue_id
        LIMIT p_limit
        FOR UPDATE SKIP LOCKED
    );
    INSERT INTO {archive_log} (
        queue_id, queue_date_time, title, status, attempts, enqueued_at, started_at, completed_at, owner, text_data
    )
    SELECT
        q.queue_id, q.queue_date_time, q.title, q.status, q.attempts, q.enqueued_at, q.started_at, q.completed_at,
        q.owner, q.text_data
    FROM {table} AS q
    WHERE q.queue_id = ANY (v_ids);
    DELETE FROM {table} AS q
    WHERE q.queue_id = ANY (v_ids);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$qmon_body$;
