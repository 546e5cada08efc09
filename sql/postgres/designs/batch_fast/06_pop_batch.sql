-- Pop up to p_limit messages, earliest first: they are now processing. The article's DequeueFast: one UPDATE … OUTPUT.
--
-- FOR UPDATE SKIP LOCKED is UPDLOCK with READPAST: consumers pass over each other's rows and neither wait nor deadlock.
-- A row that another consumer has taken and committed since our statement began is looked at again and passed over. The
-- article's statement has no ORDER BY, and a reader noticed that it misses the index: here it is ordered, by that
-- index. Payloads are fetched for the popped rows alone, by key, whatever the planner believes about the tables: one
-- pass over the pages of the index that hold the keys (from PostgreSQL 17; before, one descent each). Pop counts the
-- attempt, not fail, so that the crash of a consumer also counts.
--
-- "No row" means that no message can be popped. One read cannot prove this: it sees the rows committed when it began,
-- and other consumers may have popped all these rows while new messages arrived. So pop reads again until no message is
-- ready, or until the first, the last and the number of ready messages are the same as before: then other consumers
-- hold all ready messages.
-- {table}     QueueMeta
-- {data}      QueueData
-- {pop_batch} the function
-- {owner}     function: name of the consumer in this session
-- {pop_until} end of the consumers' pause
-- {paused}    function: waits or raises an error during a pause
CREATE FUNCTION {pop_batch}(p_limit integer DEFAULT 100) RETURNS TABLE (
    id bigint, payload text, attempt integer, title text, queue_date_time timestamptz
)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_known bigint[];
    v_seen  bigint[];
    v_owner text := coalesce(nullif(current_setting('qmon.owner', true), ''), {owner}());
    v_ids   bigint[];
BEGIN
    IF pg_sequence_last_value({pop_until!literal}::regclass) > 0
        AND pg_sequence_last_value({pop_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('consumers');
    END IF;
    FOR v_try IN 1..100 LOOP
        -- An array first: it is ordered by the index on ready rows, and the UPDATE goes through it by key at any size.
        v_ids := ARRAY(
            SELECT r.queue_id
            FROM {table} AS r
            WHERE r.status = 0::smallint
            ORDER BY r.queue_date_time, r.queue_id
            LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        );
        EXIT WHEN cardinality(v_ids) > 0;
        v_known := v_seen;
        -- The count is included so that all three come from one pass over the index on ready rows.
        SELECT ARRAY[count(*), min(r.queue_id), max(r.queue_id)]
        INTO v_seen
        FROM {table} AS r
        WHERE r.status = 0::smallint;
        EXIT WHEN v_seen[1] = 0 OR v_seen = v_known;
    END LOOP;
    RETURN QUERY
    WITH popped AS (
        UPDATE {table} AS q
        SET status = 1, started_at = clock_timestamp(), owner = v_owner, attempts = q.attempts + 1
        WHERE q.queue_id = ANY (v_ids)
        RETURNING q.queue_id, q.queue_date_time, q.title, q.attempts
    )
    SELECT p.queue_id, d.text_data, p.attempts, p.title, p.queue_date_time
    FROM popped AS p
    LEFT JOIN (
        SELECT b.queue_id, b.text_data FROM {data} AS b WHERE b.queue_id = ANY (v_ids) OFFSET 0
    ) AS d ON d.queue_id = p.queue_id
    ORDER BY p.queue_date_time, p.queue_id;
END
$qmon_body$;
