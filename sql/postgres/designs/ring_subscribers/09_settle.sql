-- Finds numbers of subscriber p_subscriber that were taken and not popped: their consumer died or rolled back several
-- pops, or a crash of the server made the pop sequence jump ahead. Returns the smallest such number that has a message
-- and is proven to be an orphan, with its row locked, for the caller to pop; NULL if there is none.
--
-- The subscriber has read all messages up to the number settled in its row, or they were skipped: a search begins after
-- settled and moves it on, unless another session is doing so. A search reads 1,000 slots at a time, a few times at
-- most, and each time up to the end of the lap, so that the slots are one range of the key. If consumers keep pace, it
-- reads only the slots that were popped since settled was last moved, about thirty. A rollback takes back the pops as
-- well as the number.
--
-- The proof is the same as in skip_hole, for all numbers at once: a setting of the session contains a position of the
-- pop sequence, and the transactions that had taken a number at that time. When all these transactions have ended, each
-- message up to this position that is neither popped nor locked is an orphan. SKIP LOCKED: the function waits for no
-- session. If the consumer is still alive and comes back with the number, the slot's turn refuses the number: the
-- message is delivered once.
--
-- p_behind: how many of the newest taken numbers to leave out, because with traffic, consumers are working on them.
-- p_holes: also skip the first number that is not settled, if it is a proven hole.
-- SECURITY DEFINER: a role that may pop does not need the right to write the subscribers.
-- {table}     the ring
-- {settle}    the function
-- {readers}   its subscribers, and up to where all is settled
-- {skip_hole} function: skip a proven hole
-- {drawing}   function: open transactions that have taken a number from a sequence
-- {size!int}  slots
CREATE FUNCTION {settle}(p_subscriber integer, p_behind bigint, p_holes boolean) RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_bit     integer := 1 << (p_subscriber - 1);
    v_seq     regclass;
    v_popped  bigint;
    v_settled bigint;
    v_lap     bigint;
    v_to      bigint;
    v_name    text;
    v_known   text[];
    v_open    text[];
    v_first   bigint;
    v_turn    bigint;
    v_proven  bigint;
    v_orphan  bigint;
BEGIN
    SELECT r.pop_seq, r.settled INTO v_seq, v_settled FROM {readers} AS r WHERE r.subscriber = p_subscriber;
    v_popped := coalesce(pg_sequence_last_value(v_seq), 0);
    FOR v_look IN 1..4 LOOP
        EXIT WHEN v_settled >= v_popped;
        v_lap := (v_settled + 1) / {size!int} * {size!int};
        v_to := least(v_popped, v_settled + 1000, v_lap + {size!int} - 1);
        SELECT v_lap + q.slot, q.turn
        INTO v_first, v_turn
        FROM {table} AS q
        WHERE q.slot BETWEEN v_settled + 1 - v_lap AND v_to - v_lap
            AND q.turn <= v_lap + q.slot + 1
            AND (q.turn <= v_lap + q.slot OR q.unread & v_bit <> 0)
        ORDER BY q.slot
        LIMIT 1;
        IF coalesce(v_first - 1, v_to) >= least(v_settled + 32, v_lap + {size!int} - 1) THEN
            PERFORM FROM {readers} AS r WHERE r.subscriber = p_subscriber FOR UPDATE SKIP LOCKED;
            IF FOUND THEN
                UPDATE {readers} AS r
                SET settled = coalesce(v_first - 1, v_to)
                WHERE r.subscriber = p_subscriber;
            END IF;
        END IF;
        EXIT WHEN v_first IS NOT NULL;
        v_settled := v_to;
    END LOOP;
    IF v_first IS NULL OR v_first > v_popped - p_behind THEN
        RETURN NULL;
    END IF;
    IF p_holes AND v_turn = v_first THEN
        PERFORM {skip_hole}(v_first);
    END IF;
    v_name := 'qmon.drawn_' || v_seq::oid;
    v_known := string_to_array(nullif(current_setting(v_name, true), ''), ' ');
    v_open := {drawing}(v_seq);
    IF cardinality(v_open) = 0 THEN
        v_proven := v_popped;
    ELSE
        IF NOT v_open && (v_known[2:] || 'prepared'::text) THEN
            v_proven := v_known[1];
        END IF;
        IF v_proven IS NOT NULL OR v_known IS NULL THEN
            PERFORM set_config(v_name, array_to_string(v_popped::text || v_open, ' '), false);
        END IF;
    END IF;
    IF v_proven IS NULL THEN
        RETURN NULL;
    END IF;
    -- In the rest of this lap, and in some more: a repair may have given a slot a number of a later one.
    v_proven := least(v_proven, v_popped - p_behind, v_first + 4 * {size!int} - 1);
    WHILE v_first <= v_proven AND v_orphan IS NULL LOOP
        v_lap := v_first / {size!int} * {size!int};
        SELECT v_lap + q.slot
        INTO v_orphan
        FROM {table} AS q
        WHERE q.slot BETWEEN v_first - v_lap AND least(v_proven, v_first + 1000, v_lap + {size!int} - 1) - v_lap
            AND q.turn = v_lap + q.slot + 1
            AND q.unread & v_bit <> 0
        ORDER BY q.slot
        LIMIT 1
        FOR UPDATE SKIP LOCKED;
        EXIT WHEN v_first + 1000 < v_lap + {size!int};
        v_first := v_lap + {size!int};
    END LOOP;
    RETURN v_orphan;
END
$qmon_body$;
