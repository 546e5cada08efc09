-- Pop the next message for subscriber p_subscriber; no row if none came within p_wait_ms milliseconds. Its slot is free
-- as soon as the last subscriber's consumer commits. Messages are popped in the order of numbers. If the message of a
-- consumer's number is being pushed, the consumer waits for it, at least 20 milliseconds, and then returns no row.
-- There may be messages with later numbers, but these are for other consumers.
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
-- SKIP LOCKED: if another subscriber's consumer has locked the message, this one tries again after a pause and does not
-- wait for a lock; so a pop waits for no other transaction and cannot deadlock. The pause between two tries starts at
-- half a millisecond and doubles up to 20 (the article: 1 s). A try sees new commits only in READ COMMITTED, so at
-- other isolation levels there is one try.
-- {table}     the ring
-- {pop}       the function
-- {skip_hole} function: skip a proven hole
-- {settle}    function: an orphan to be popped
-- {push_seq}  the sequence of push numbers
-- {readers}   its subscribers
-- {size!int}  slots
-- {pop_until} end of the consumers' pause
-- {paused}    function: waits or raises an error during a pause
CREATE FUNCTION {pop}(p_subscriber integer DEFAULT 1, p_wait_ms integer DEFAULT 0)
RETURNS TABLE (id bigint, payload text)
LANGUAGE plpgsql ROWS 1
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_bit    integer := 1 << (p_subscriber - 1);
    v_seq    regclass := (SELECT r.pop_seq FROM {readers} AS r WHERE r.subscriber = p_subscriber);
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
    IF v_seq IS NULL THEN
        RAISE EXCEPTION 'there is no subscriber %', p_subscriber
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    -- The number this session drew last, if its message has not been popped.
    BEGIN
        v_number := currval(v_seq);
    EXCEPTION WHEN object_not_in_prerequisite_state THEN
        v_look := true;
    END;
    IF v_number IS NOT NULL THEN
        -- What our subscriber has read is as good as popped by all.
        SELECT CASE WHEN q.turn = v_number + 1 AND q.unread & v_bit = 0 THEN v_number + 2 ELSE q.turn END
        INTO v_turn
        FROM {table} AS q
        WHERE q.slot = v_number % {size!int};
        IF v_turn > v_number + 1 THEN
            v_number := NULL;
        END IF;
    END IF;
    v_kept := v_number IS NOT NULL;
    LOOP
        -- A number kept from an earlier call: those given back with it go first.
        IF v_kept AND v_sees THEN
            v_orphan := {settle}(p_subscriber, 0, false);
            IF v_orphan IS NOT NULL THEN
                v_number := v_orphan;
                v_kept := false;
            END IF;
        END IF;
        IF v_number IS NULL THEN
            -- Read as a table, which takes a weaker lock than nextval: a consumer must not look like a producer that has
            -- drawn.
            v_popped := coalesce(pg_sequence_last_value(v_seq), 0);
            SELECT s.is_called AND s.last_value > v_popped INTO v_ahead FROM {push_seq} AS s;
            -- A session that is new, or has just popped an orphan, looks for others first.
            IF v_ahead AND (v_look OR v_popped % 32 = 0) AND v_sees THEN
                v_number := {settle}(p_subscriber, CASE WHEN v_look THEN 0 ELSE least(64, {size!int} / 4) END, true);
                IF v_look AND v_number IS NULL THEN
                    PERFORM set_config('qmon.given_back', 'off', false);
                END IF;
                v_look := false;
            END IF;
            IF v_ahead AND v_number IS NULL THEN
                v_number := nextval(v_seq);
            END IF;
        END IF;
        IF v_number IS NOT NULL THEN
            PERFORM FROM {table} AS q
            WHERE q.slot = v_number % {size!int}
                AND q.turn = v_number + 1
                AND q.unread & v_bit <> 0
            FOR UPDATE SKIP LOCKED;
            IF FOUND THEN
                UPDATE {table} AS q
                SET time = CASE q.reference_count WHEN 1 THEN clock_timestamp() ELSE q.time END,
                    message_id = CASE q.reference_count WHEN 1 THEN NULL ELSE q.message_id END,
                    turn = CASE q.reference_count WHEN 1 THEN v_number + {size!int} ELSE q.turn END,
                    reference_count = q.reference_count - 1,
                    unread = q.unread & ~v_bit
                WHERE q.slot = v_number % {size!int}
                RETURNING q.message INTO payload;
                id := v_number;
                RETURN NEXT;
                RETURN;
            END IF;
            SELECT CASE WHEN q.turn = v_number + 1 AND q.unread & v_bit = 0 THEN v_number + 2 ELSE q.turn END
            INTO v_turn
            FROM {table} AS q
            WHERE q.slot = v_number % {size!int};
            -- Where the sequence has been set back (see repair), this number will be drawn again: earlier ones first.
            -- A producer on its way is done within milliseconds; only then is it worth asking whether there is a hole.
            IF v_turn > v_number + 1
                OR coalesce(pg_sequence_last_value(v_seq), 0) < v_number
                OR (v_turn = v_number AND (v_kept OR v_pause > 0.004) AND {skip_hole}(v_number))
            THEN
                v_number := NULL;
                v_kept := false;
                CONTINUE;
            END IF;
        END IF;
        IF v_sees THEN
            v_orphan := {settle}(p_subscriber, 0, v_number IS NULL);
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
