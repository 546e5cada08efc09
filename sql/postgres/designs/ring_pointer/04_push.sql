-- Push one message; returns its number, or raises SQLSTATE QM003 if the ring stayed full for p_wait_ms milliseconds:
-- nothing was done, try again later (p_null_when_full: NULL instead).
--
-- No number is lost. A push takes no number while the slot of the next number is in use. If another producer was faster
-- and the number must wait, or if the transaction of an earlier push was rolled back, the session keeps the number
-- (currval is not rolled back), and its next push uses this number. If the number was skipped as a hole in the
-- meantime, the slot's turn refuses it, and the push takes a new number. If a transaction with several pushes is rolled
-- back, all its numbers except the last become holes. The numbers of a session that ended also become holes. A consumer
-- that waits for a hole skips it when it is proven.
--
-- The UPDATE locks one row, and only if the slot has the turn of this number. So it waits for no producer and no
-- consumer, and cannot deadlock. The payload is a new row in the same transaction, and no session waits for this row.
-- The article's test, reference_count = 0, remains: it is true whenever the turn matches. The pause between two tries
-- starts at half a millisecond and doubles up to 20 (the article: 100). A try sees new commits only in READ COMMITTED,
-- so at other isolation levels there is one try.
--
-- With an advisory lock of its transaction, a waiting session declares that it will use no number smaller than its
-- present number, so that it does not prevent the proof that a smaller number is a hole (see skip_hole). The lock has
-- two keys, the sequence and the lower 32 bits of the number; a session with 16 such locks takes no more advisory
-- locks.
--
-- {table}      the ring
-- {data}       the payloads
-- {push}       the function
-- {skip_hole}  function: skip a proven hole
-- {push_seq}   the sequence of push numbers
-- {size!int}   slots
-- {push_until} end of the producers' pause
-- {paused}     function: waits or raises an error during a pause
CREATE FUNCTION {push}(
    p_message text, p_wait_ms integer DEFAULT 1000, p_null_when_full boolean DEFAULT false
) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_number bigint;
    v_next   bigint;
    v_turn   bigint;
    v_end    timestamptz;
    v_class  integer := CAST(CAST({push_seq!literal}::regclass AS oid) AS integer);
    v_from   bigint := 0;
    v_hole   boolean;
    v_pause  double precision := 0.0005;
BEGIN
    IF pg_sequence_last_value({push_until!literal}::regclass) > 0
        AND pg_sequence_last_value({push_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('producers');
    END IF;
    -- The number this session drew last, if it has not been used.
    BEGIN
        v_number := currval({push_seq!literal}::regclass);
    EXCEPTION WHEN object_not_in_prerequisite_state THEN
        v_number := NULL;
    END;
    IF v_number IS NOT NULL THEN
        SELECT q.turn INTO v_turn FROM {table} AS q WHERE q.slot = v_number % {size!int};
        IF v_turn > v_number THEN
            v_number := NULL;
        END IF;
    END IF;
    LOOP
        IF v_number IS NULL THEN
            v_next := coalesce(pg_sequence_last_value({push_seq!literal}::regclass), 0) + 1;
            SELECT q.turn INTO v_turn FROM {table} AS q WHERE q.slot = v_next % {size!int};
            IF v_turn >= v_next THEN
                v_number := nextval({push_seq!literal}::regclass);
            END IF;
        END IF;
        IF v_number IS NOT NULL THEN
            UPDATE {table} AS q
            SET time = clock_timestamp(),
                message_id = v_number,
                reference_count = q.reference_count + 1,
                turn = v_number + 1
            WHERE q.slot = v_number % {size!int}
                AND q.turn = v_number
                AND q.reference_count = 0;
            IF FOUND THEN
                INSERT INTO {data} (message_id, message) VALUES (v_number, p_message);
                RETURN v_number;
            END IF;
            SELECT q.turn INTO v_turn FROM {table} AS q WHERE q.slot = v_number % {size!int};
            IF v_turn > v_number THEN
                v_number := NULL;
                CONTINUE;
            END IF;
        END IF;
        -- Full: the slot holds an earlier message that was not popped, or waits for one that may never arrive.
        v_end := coalesce(v_end, clock_timestamp() + p_wait_ms * interval '1 millisecond');
        IF v_pause > 0.004 THEN
            -- The slot may have reached our own number since the UPDATE: that is no hole.
            v_hole := v_turn < coalesce(v_number, v_next) AND (coalesce(v_number, v_next) - v_turn) % {size!int} = 0;
            IF coalesce(v_number, v_next) > v_from AND (v_hole OR v_from = 0) THEN
                v_from := coalesce(v_number, v_next);
                PERFORM pg_try_advisory_xact_lock_shared(v_class, CAST(CAST(v_from % 4294967296 AS oid) AS integer))
                WHERE (
                    SELECT count(*) < 16
                    FROM pg_locks AS l
                    WHERE l.locktype = 'advisory'
                        AND l.pid = pg_backend_pid()
                );
            END IF;
            IF v_hole AND {skip_hole}(v_turn) THEN
                CONTINUE;
            END IF;
        END IF;
        IF clock_timestamp() >= v_end OR current_setting('transaction_isolation') <> 'read committed' THEN
            IF p_null_when_full THEN
                RETURN NULL;
            END IF;
            RAISE EXCEPTION 'the ring % is full', {table!literal}
                USING ERRCODE = 'QM003', HINT = 'Nothing was done. Try again later.';
        END IF;
        PERFORM pg_sleep(v_pause);
        v_pause := least(v_pause * 2, 0.02);
    END LOOP;
END
$qmon_body$;
