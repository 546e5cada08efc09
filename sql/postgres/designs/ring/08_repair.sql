-- Repair: requeue the orphans and fill the holes of the ring, up to p_limit of each, of slots that were last written at
-- least p_min_age_s seconds ago; returns the repaired numbers. Takes about p_wait_ms milliseconds at most for proofs
-- and free slots in all. Reads the whole ring twice: for a script or an operator, not for a dashboard.
--
-- Orphans come first, the oldest first, because producers with later numbers need their slots. If there is no room to
-- requeue one (every slot holds an orphan, and producers have taken all the numbers that could go there), the pop
-- sequence is set back before the oldest: consumers reach these numbers again, also those that wait for later numbers.
-- This is safe at any time, because the turns refuse popped numbers. The returned row then has the orphan's own number.
-- This also helps after a crash of the server, which makes sequences jump ahead by up to 32: a jump of the push
-- sequence leaves holes, and a jump of the pop sequence leaves orphans.
--
-- Deadlocks: consumers that reach a number again wait for its row if another consumer has popped it and not committed.
-- So two transactions with several pops each may wait for each other, but only after a repair that has set the sequence
-- back. PostgreSQL then ends one of the two after a second, and its client must retry; nothing is lost. A transaction
-- with one pop never waits for a waiting session.
-- {table}          the ring
-- {repair}         the function
-- {fill_hole}      function: fill a hole
-- {requeue_orphan} function: requeue an orphan
-- {push_seq}       the sequence of push numbers
-- {pop_seq}        the sequence of pop numbers
CREATE FUNCTION {repair}(
    p_min_age_s double precision DEFAULT 1, p_wait_ms integer DEFAULT 1000, p_limit integer DEFAULT 100
) RETURNS TABLE (number bigint, was text, became bigint)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $qmon_body$
DECLARE
    v_pushed bigint;
    v_popped bigint;
    v_stuck  bigint;
    v_cutoff timestamptz := clock_timestamp() - make_interval(secs => p_min_age_s);
    v_end    timestamptz := clock_timestamp() + p_wait_ms * interval '1 millisecond';
    v_left   integer;
BEGIN
    v_popped := coalesce(pg_sequence_last_value({pop_seq!literal}::regclass), 0);
    SELECT CASE WHEN s.is_called THEN s.last_value ELSE 0 END INTO v_pushed FROM {push_seq} AS s;
    was := 'orphan';
    FOR number IN
        SELECT q.message_id
        FROM {table} AS q
        WHERE q.message_id <= v_popped
            AND q.turn = q.message_id + 1
            AND q.time < v_cutoff
        ORDER BY q.message_id
        LIMIT p_limit
    LOOP
        v_left := extract(epoch FROM v_end - clock_timestamp()) * 1000;
        became := {requeue_orphan}(number, greatest(0, least(v_left, p_wait_ms / 4)));
        IF became IS NOT NULL THEN
            RETURN NEXT;
        ELSE
            v_stuck := coalesce(v_stuck, number);
        END IF;
    END LOOP;
    -- Two consumers may then have one number: the second is refused by its turn, after waiting for the first's lock.
    IF v_stuck IS NOT NULL OR v_popped > v_pushed THEN
        v_popped := least(v_stuck - 1, v_pushed);
        PERFORM setval({pop_seq!literal}::regclass, greatest(1, v_popped), v_popped > 0);
        IF v_stuck IS NOT NULL THEN
            number := v_stuck;
            became := v_stuck;
            RETURN NEXT;
        END IF;
    END IF;
    was := 'hole';
    became := NULL;
    FOR number IN
        SELECT q.turn
        FROM {table} AS q
        WHERE q.turn <= v_pushed
            AND q.message_id IS NULL
            AND (q.time < v_cutoff OR q.time > clock_timestamp())
        ORDER BY q.turn
        LIMIT p_limit
    LOOP
        v_left := extract(epoch FROM v_end - clock_timestamp()) * 1000;
        IF {fill_hole}(number, greatest(0, v_left)) THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END
$qmon_body$;
