-- Repair: fill the holes and requeue the orphans of the ring, up to p_limit of each, of numbers whose slot has not moved for
-- p_min_age_s seconds; returns what was repaired. Takes p_wait_ms milliseconds at most for proofs and free slots in all.
-- Reads the whole ring twice: for a script or an operator, not for a dashboard.
--
-- Orphans first, oldest first: their slots are needed by pushers that hold later numbers.
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
AS $qmon_body$
DECLARE
    v_pushed bigint;
    v_popped bigint;
    v_cutoff timestamptz := clock_timestamp() - make_interval(secs => p_min_age_s);
    v_end    timestamptz := clock_timestamp() + p_wait_ms * interval '1 millisecond';
BEGIN
    v_popped := coalesce(pg_sequence_last_value({pop_seq!literal}::regclass), 0);
    FOR number IN
        SELECT q.message_id
        FROM {table} AS q
        WHERE q.message_id <= v_popped
            AND q.turn = q.message_id + 1
            AND q.time < v_cutoff
        ORDER BY q.message_id
        LIMIT p_limit
    LOOP
        was := 'orphan';
        became := {requeue_orphan}(number, greatest(0, extract(epoch FROM v_end - clock_timestamp()) * 1000)::integer);
        IF became IS NOT NULL THEN
            RETURN NEXT;
        END IF;
    END LOOP;
    SELECT CASE WHEN s.is_called THEN s.last_value ELSE 0 END INTO v_pushed FROM {push_seq} AS s;
    FOR number IN
        SELECT q.turn
        FROM {table} AS q
        WHERE q.turn <= v_pushed
            AND q.message_id IS NULL
            AND (q.time < v_cutoff OR q.time > clock_timestamp())
        ORDER BY q.turn
        LIMIT p_limit
    LOOP
        was := 'hole';
        became := NULL;
        IF {fill_hole}(number, greatest(0, extract(epoch FROM v_end - clock_timestamp()) * 1000)::integer) THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END
$qmon_body$;
