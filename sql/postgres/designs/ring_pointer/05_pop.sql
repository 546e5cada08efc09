-- Pop the next message; no row if none came within p_wait_ms milliseconds. Its slot is free as soon as the consumer
-- commits. Messages are popped in the order of numbers. If the message of a consumer's number is being pushed, the
-- consumer waits for it, at least 20 milliseconds, and then returns no row. There may be messages with later numbers,
-- but these are for other consumers.
--
-- No number is lost. A pop takes no number while no producer is ahead (the article lets consumers run ahead and gives
-- the producers a head start). If another consumer was faster and the number must wait, or if the transaction of an
-- earlier pop was rolled back, the session keeps the number (currval is not rolled back), and its next pop takes the
-- message of this number first. If a transaction with several pops is rolled back, all its numbers except the last
-- become orphans. The number that an ended session still had, and numbers that a crash of the server skips, also become
-- orphans. A consumer that finds nothing to pop, and otherwise one pop in thirty-two, searches for orphans (settle),
-- and pops them with their own numbers, the smallest first. If the number was skipped as a hole, or another consumer
-- has popped its message, the slot's turn refuses the number, and the pop takes a new number.
--
-- The UPDATE locks one row, and only on its own turn: it waits for no consumer and no producer, and cannot deadlock. It
-- uses SKIP LOCKED for an orphan, or for a number from an earlier call, because other sessions may pop these. Only
-- after a repair that has set the sequence back, two consumers may have the same number, and transactions with several
-- pops may wait for each other: see repair. The pause between two tries starts at half a millisecond and doubles up to
-- 20 (the article: 1 s). A try sees new commits only in READ COMMITTED, so at other isolation levels there is one try.
-- {table}     the ring
-- {data}      the payloads
-- {pop}       the function
-- {skip_hole} function: skip a proven hole
-- {settle}    function: an orphan to be popped
-- {push_seq}  the sequence of push numbers
-- {pop_seq}   the sequence of pop numbers
-- {size!int}  slots
-- {pop_until} end of the consumers' pause
-- {paused}    function: waits or raises an error during a pause
CREATE FUNCTION {pop}(p_wait_ms integer DEFAULT 0) RETURNS TABLE (id bigint, payload text)
LANGUAGE plpgsql ROWS 1
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_number bigint;
    v_popped bigint;
    v_ahead  boolean;
    v_orphan bigint;
    v_turn   bigint;
    v_end    timestamptz;
    v_kept   boolean;
    v_sees   boolean := current_setting('transaction_isolation') = 'read committed';
    v_look   boolean := current_setting('qmon.given_back', true) = 'on';
    v_waited boolean := false;
    v_pause  double precision := 0.0005;
BEGIN
    IF pg_sequence_last_value({pop_until!literal}::regclass) > 0
        AND pg_sequence_last_value({pop_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('consumers');
    END IF;
    -- The number this session drew last, if its message has not been popped.
    BEGIN
        v_number := currval({pop_seq!literal}::regclass);
    EXCEPTION WHEN object_not_in_prerequisite_state THEN
        v_look := true;
    END;
    IF v_number IS NOT NULL THEN
        SELECT q.turn INTO v_turn FROM {table} AS q WHERE q.slot = v_number % {size!int};
        IF v_turn > v_number + 1 THEN
            v_number := NULL;
        END IF;
    END IF;
    v_kept := v_number IS NOT NULL;
    LOOP
        -- A number kept from an earlier call: those given back with it go first, and another consumer may have taken it.
        IF v_kept AND v_sees THEN
            v_orphan := {settle}(0, false);
            IF v_orphan IS NOT NULL THEN
                v_number := v_orphan;
                v_kept := false;
            ELSE
                PERFORM FROM {table} AS q
                WHERE q.slot = v_number % {size!int}
                    AND q.turn = v_number + 1
                FOR UPDATE SKIP LOCKED;
                IF NOT FOUND THEN
                    SELECT q.turn INTO v_turn FROM {table} AS q WHERE q.slot = v_number % {size!int};
                    v_kept := v_turn <= v_number;
                    v_number := CASE WHEN v_kept THEN v_number END;
                END IF;
            END IF;
        END IF;
        IF v_number IS NULL THEN
            -- Read as a table, which takes a weaker lock than nextval: a consumer must not look like a producer that has
            -- drawn.
            v_popped := coalesce(pg_sequence_last_value({pop_seq!literal}::regclass), 0);
            SELECT s.is_called AND s.last_value > v_popped INTO v_ahead FROM {push_seq} AS s;
            -- A session that is new, or has just popped an orphan, looks for others first.
            IF v_ahead AND (v_look OR v_popped % 32 = 0) AND v_sees THEN
                v_number := {settle}(CASE WHEN v_look THEN 0 ELSE least(64, {size!int} / 4) END, true);
                IF v_look AND v_number IS NULL THEN
                    PERFORM set_config('qmon.given_back', 'off', false);
                END IF;
                v_look := false;
            END IF;
            IF v_ahead AND v_number IS NULL THEN
                v_number := nextval({pop_seq!literal}::regclass);
            END IF;
        END IF;
        IF v_number IS NOT NULL THEN
            UPDATE {table} AS q
            SET time = clock_timestamp(),
                message_id = NULL,
                reference_count = q.reference_count - 1,
                turn = v_number + {size!int}
            WHERE q.slot = v_number % {size!int}
                AND q.turn = v_number + 1;
            IF FOUND THEN
                -- The second condition names the one table that can hold it.
                DELETE FROM {data} AS d
                WHERE d.message_id = v_number
                    AND d.message_id % 4 = v_number % 4
                RETURNING d.message INTO payload;
                id := v_number;
                RETURN NEXT;
                RETURN;
            END IF;
            SELECT q.turn INTO v_turn FROM {table} AS q WHERE q.slot = v_number % {size!int};
            -- Where the sequence has been set back (see repair), this number will be drawn again: earlier ones first.
            -- A producer on its way is done within milliseconds; only then is it worth asking whether there is a hole.
            IF v_turn > v_number + 1
                OR coalesce(pg_sequence_last_value({pop_seq!literal}::regclass), 0) < v_number
                OR (v_turn = v_number AND (v_kept OR v_pause > 0.004) AND {skip_hole}(v_number))
            THEN
                v_number := NULL;
                v_kept := false;
                CONTINUE;
            END IF;
        END IF;
        IF v_sees THEN
            v_orphan := {settle}(0, v_number IS NULL);
            IF v_orphan IS NOT NULL THEN
                v_number := v_orphan;
                v_kept := false;
                PERFORM set_config('qmon.given_back', 'on', false);
                CONTINUE;
            END IF;
        END IF;
        -- With a number in hand the message is on its way: worth a short wait even where the caller wants none.
        v_end := coalesce(v_end, clock_timestamp() + p_wait_ms * interval '1 millisecond');
        IF v_number IS NOT NULL AND NOT v_waited THEN
            v_waited := true;
            v_end := greatest(v_end, clock_timestamp() + interval '20 milliseconds');
        END IF;
        IF NOT v_sees THEN
            RETURN;
        END IF;
        IF clock_timestamp() >= v_end THEN
            IF v_number IS NULL OR NOT {skip_hole}(v_number) THEN
                RETURN;
            END IF;
            v_number := NULL;
            v_kept := false;
            CONTINUE;
        END IF;
        PERFORM pg_sleep(v_pause);
        v_pause := least(v_pause * 2, 0.02);
    END LOOP;
END
$qmon_body$;
