-- Finds numbers that were taken and not popped: the consumer died, or rolled back several pops, or a crash of the
-- server made the pop sequence jump ahead. Returns the smallest such number that has a message and is proven to be an
-- orphan, with its row locked, for the caller to pop; NULL if there is none.
--
-- All numbers up to the number settled have been popped or skipped: a search begins after settled, and moves it on. A
-- search reads 1,000 slots at a time, a few times at most, and each time up to the end of the lap, so that the slots
-- are one range of the key. If consumers keep pace, it reads only the slots that were popped since settled was last
-- moved, about thirty. A sequence is not rolled back, so settled stops before numbers that are not committed: it
-- belongs to this transaction, whose first number (age) is at most as large as that of anything it has written.
--
-- The proof is the same as in skip_hole, for all numbers at once: a setting of the session contains a position of the
-- pop sequence, and the transactions that had taken a number at that time. When all these transactions have ended, each
-- message up to this position that is neither popped nor locked is an orphan. SKIP LOCKED: the function waits for no
-- session. If the consumer is still alive and comes back with the number, the slot's turn refuses the number: the
-- message is delivered once.
--
-- p_behind: how many of the newest taken numbers to leave out, because with traffic, consumers are working on them.
-- p_holes: also skip the first number that is not settled, if it is a proven hole.
-- SECURITY DEFINER: a role that pops does not need the right to set a sequence.
-- {table}     the ring
-- {settle}    the function
-- {settled_seq} the sequence that remembers up to where all is settled
-- {skip_hole} function: skip a proven hole
-- {drawing}   function: open transactions that have taken a number from a sequence
-- {pop_seq}   the sequence of pop numbers
-- {size!int}  slots
CREATE FUNCTION {settle}(p_behind bigint, p_holes boolean) RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_popped  bigint := coalesce(pg_sequence_last_value({pop_seq!literal}::regclass), 0);
    v_settled bigint := coalesce(pg_sequence_last_value({settled_seq!literal}::regclass), 0);
    v_lap     bigint;
    v_to      bigint;
    v_name    text   := 'qmon.drawn_' || {pop_seq!literal}::regclass::oid;
    v_known   text[] := string_to_array(nullif(current_setting(v_name, true), ''), ' ');
    v_open    text[];
    v_upto    bigint;
    v_first   bigint;
    v_turn    bigint;
    v_proven  bigint;
    v_orphan  bigint;
BEGIN
    FOR v_look IN 1..4 LOOP
        EXIT WHEN v_settled >= v_popped;
        v_lap := (v_settled + 1) / {size!int} * {size!int};
        v_to := least(v_popped, v_settled + 1000, v_lap + {size!int} - 1);
        SELECT v_lap + q.slot, q.turn
        INTO v_first, v_turn
        FROM {table} AS q
        WHERE q.slot BETWEEN v_settled + 1 - v_lap AND v_to - v_lap
            AND q.turn <= v_lap + q.slot + 1
        ORDER BY q.slot
        LIMIT 1;
        v_upto := coalesce(v_first - 1, v_to);
        IF v_upto >= least(v_settled + 32, v_lap + {size!int} - 1) THEN
            SELECT least(v_upto, min(v_lap + q.slot) - 1)
            INTO v_upto
            FROM {table} AS q
            WHERE q.slot BETWEEN v_settled + 1 - v_lap AND v_upto - v_lap
                AND age(q.xmin) <= 0;
            IF v_upto > v_settled THEN
                PERFORM setval({settled_seq!literal}::regclass, v_upto);
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
    v_open := {drawing}({pop_seq!literal}::regclass);
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
        ORDER BY q.slot
        LIMIT 1
        FOR UPDATE SKIP LOCKED;
        EXIT WHEN v_first + 1000 < v_lap + {size!int};
        v_first := v_lap + {size!int};
    END LOOP;
    RETURN v_orphan;
END
$qmon_body$;
