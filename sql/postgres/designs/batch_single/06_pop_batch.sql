-- Pop up to p_limit messages, earliest first: they are now processing. The article's DequeueSlow: select and lock a
-- batch into a variable, including payloads, then update it, then return the selected rows.
--
-- FOR UPDATE is UPDLOCK. Without SKIP LOCKED (the article's READPAST comes later) a consumer waits for the one that has
-- the first rows, and takes what that one leaves. HOLDLOCK has no counterpart and needs none: rows that arrive in the
-- meantime are for later pops. The published check stays: as many rows updated as selected, or nothing happens; behind
-- the row locks it always holds. "No row" is true: a consumer that waited and got nothing reads again, until no message
-- is ready.
--
-- Deadlocks: consumers lock in the order of the index, so that two never wait for each other, with one exception: a
-- message that was popped, timed out and was sent to the front, all while one consumer was waiting in one statement, is
-- locked by that one in its old place. And a transaction that pops twice holds later rows while it waits for earlier
-- ones. PostgreSQL then ends one of the two after a second; nothing was popped, and its client must retry. Also seen,
-- once in thousands of pops by eight consumers: a consumer that waited for a row in vain keeps its lock until the
-- transaction ends, and another one with an older snapshot may try to lock that row.
--
-- Pop counts the attempt, not fail, so that the crash of a consumer also counts. enable_seqscan and enable_bitmapscan
-- are off: a plan for an empty table would read and sort the whole table, even after a burst has filled it.
-- {table}     QueueSlow
-- {pop_batch} the function
-- {owner}     function: name of the consumer in this session
-- {pop_until} end of the consumers' pause
-- {paused}    function: waits or raises an error during a pause
CREATE FUNCTION {pop_batch}(p_limit integer DEFAULT 10) RETURNS TABLE (
    id bigint, payload text, attempt integer, title text, queue_date_time timestamptz
)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_owner text := coalesce(nullif(current_setting('qmon.owner', true), ''), {owner}());
    v_batch {table}[];
    v_count integer;
BEGIN
    IF pg_sequence_last_value({pop_until!literal}::regclass) > 0
        AND pg_sequence_last_value({pop_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('consumers');
    END IF;
    LOOP
        v_batch := ARRAY(
            SELECT r
            FROM {table} AS r
            WHERE r.status = 0::smallint
            ORDER BY r.queue_date_time
            LIMIT p_limit
            FOR UPDATE
        );
        EXIT WHEN cardinality(v_batch) > 0
            OR NOT EXISTS (
                SELECT FROM {table} AS r WHERE r.status = 0::smallint ORDER BY r.queue_date_time LIMIT 1
            );
    END LOOP;
    UPDATE {table} AS q
    SET status = 1, started_at = clock_timestamp(), owner = v_owner, attempts = q.attempts + 1
    WHERE q.queue_id = ANY (ARRAY(SELECT b.queue_id FROM unnest(v_batch) AS b))
        AND q.status = 0::smallint;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> cardinality(v_batch) THEN
        RAISE EXCEPTION '% messages were selected but only % were ready; nothing was popped, try again',
            cardinality(v_batch), v_count
            USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN QUERY
    SELECT b.queue_id, b.text_data, b.attempts + 1, b.title, b.queue_date_time
    FROM unnest(v_batch) AS b;
END
$qmon_body$;
