-- Pushes one message at a time until the slice ends, each in a separate transaction. See call.sql for the arguments and
-- results. A push is timed from before it begins until its commit is durable (as the session's synchronous_commit has
-- it). Buckets of the histogram are an eighth of an octave wide: an operation of t µs goes into bucket 1 + floor(8 log2
-- (1 + t)).
-- The producer checks the gate from time to time. If it is too far ahead of the consumers, it sleeps. This sleep does
-- not count as a push.
-- {loop}   the procedure
-- {push}   function of the design
-- {type}   the type of a message
-- {pushed} gate: counts pushed messages
-- {popped} gate: counts popped messages
CREATE PROCEDURE {loop}(
    p_until double precision, p_batch integer, p_unit bigint, p_ahead bigint, p_bytes integer,
    INOUT carry bigint, INOUT messages bigint, INOUT missed bigint, INOUT spent bigint[], INOUT completed bigint[]
)
LANGUAGE plpgsql
AS $qmon_body$
DECLARE
    v_end     timestamptz := to_timestamp(p_until);
    v_message {type} := (
        SELECT left(string_agg(md5(CAST(n AS text)), ''), p_bytes) FROM generate_series(0, p_bytes / 32) AS n
    );
    v_began   timestamptz;
    v_now     timestamptz := clock_timestamp();
    v_at      integer;
BEGIN
    messages := 0;
    missed := 0;
    spent := array_fill(CAST(0 AS bigint), ARRAY[192]);
    WHILE v_now < v_end LOOP
        v_began := clock_timestamp();
        IF {push}(v_message) IS NULL THEN
            missed := missed + 1;
            COMMIT;
            v_now := clock_timestamp();
            CONTINUE;
        END IF;
        COMMIT;
        v_now := clock_timestamp();
        v_at := least(192, 1 + floor(11.54156 * ln(1 + greatest(0, date_part('epoch', v_now - v_began) * 1e6))));
        spent[v_at] := spent[v_at] + 1;
        messages := messages + 1;
        carry := carry + 1;
        IF carry >= p_unit THEN
            PERFORM nextval({pushed!literal}::regclass);
            carry := carry - p_unit;
            WHILE pg_sequence_last_value({pushed!literal}::regclass)
                - coalesce(pg_sequence_last_value({popped!literal}::regclass), 0) > p_ahead
                AND clock_timestamp() < v_end
            LOOP
                COMMIT;
                PERFORM pg_sleep(0.01);
            END LOOP;
        END IF;
    END LOOP;
END
$qmon_body$
