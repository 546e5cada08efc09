-- Repair: requeue the orphans of each subscriber and fill the holes of the ring, up to p_limit of each, of messages
-- that were pushed more than p_min_age_s seconds ago; returns the repaired numbers. Takes about p_wait_ms milliseconds
-- at most for proofs and free slots in all. Reads the whole ring some times over: for a script or an operator, not for
-- a dashboard.
--
-- As in the design "ring": orphans first, oldest first; if there is no room to requeue one, or if a pop sequence has
-- run past its messages (a crash of the server makes sequences jump ahead by up to 32), that subscriber's sequence is
-- set back, so that its consumers reach the messages again. A subscriber does not get messages again that it has
-- already read.
-- {table}          the ring
-- {readers}        its subscribers
-- {repair}         the function
-- {fill_hole}      function: fill a hole
-- {requeue_orphan} function: requeue an orphan
-- {push_seq}       the sequence of push numbers
CREATE FUNCTION {repair}(
    p_min_age_s double precision DEFAULT 1, p_wait_ms integer DEFAULT 1000, p_limit integer DEFAULT 100
) RETURNS TABLE (number bigint, was text, became bigint)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $qmon_body$
DECLARE
    v_subscriber integer;
    v_seq    regclass;
    v_pushed bigint;
    v_popped bigint;
    v_stuck  bigint;
    v_cutoff timestamptz := clock_timestamp() - make_interval(secs => p_min_age_s);
    v_end    timestamptz := clock_timestamp() + p_wait_ms * interval '1 millisecond';
    v_left   integer;
BEGIN
    was := 'orphan';
    FOR v_subscriber, v_seq IN SELECT r.subscriber, r.pop_seq FROM {readers} AS r ORDER BY r.subscriber LOOP
        v_popped := coalesce(pg_sequence_last_value(v_seq), 0);
        SELECT CASE WHEN s.is_called THEN s.last_value ELSE 0 END INTO v_pushed FROM {push_seq} AS s;
        v_stuck := NULL;
        FOR number IN
            SELECT q.message_id
            FROM {table} AS q
            WHERE q.message_id <= v_popped
                AND q.turn = q.message_id + 1
                AND q.unread & (1 << (v_subscriber - 1)) <> 0
                AND q.time < v_cutoff
            ORDER BY q.message_id
            LIMIT p_limit
        LOOP
            v_left := extract(epoch FROM v_end - clock_timestamp()) * 1000;
            became := {requeue_orphan}(number, v_subscriber, greatest(0, least(v_left, p_wait_ms / 4)));
            IF became IS NOT NULL THEN
                RETURN NEXT;
            ELSE
                v_stuck := coalesce(v_stuck, number);
            END IF;
        END LOOP;
        -- Two consumers may then have one number: the second is refused by its turn, after waiting for the first's lock.
        IF v_stuck IS NOT NULL OR v_popped > v_pushed THEN
            v_popped := least(v_stuck - 1, v_pushed);
            PERFORM setval(v_seq, greatest(1, v_popped), v_popped > 0);
            IF v_stuck IS NOT NULL THEN
                number := v_stuck;
                became := v_stuck;
                RETURN NEXT;
            END IF;
        END IF;
    END LOOP;
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
