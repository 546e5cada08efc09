-- Pushes batches until the slice ends, each in a separate transaction; otherwise like push_loop.sql.
-- A setting of the session also contains the committed counts, because an error does not undo a setting; see
-- salvage.sql.
-- {loop}       the procedure
-- {push_batch} function of the design
-- {type}       the type of a message
-- {pushed}     gate: counts pushed messages
-- {popped}     gate: counts popped messages
CREATE PROCEDURE {loop}(
    p_until double precision, p_batch integer, p_unit bigint, p_ahead bigint, p_bytes integer,
    INOUT carry bigint, INOUT messages bigint, INOUT missed bigint, INOUT spent bigint[], INOUT completed bigint[]
)
LANGUAGE plpgsql
AS $qmon_body$
DECLARE
    v_end      timestamptz := to_timestamp(p_until);
    v_message  {type} := (
        SELECT left(string_agg(md5(CAST(n AS text)), ''), p_bytes) FROM generate_series(0, p_bytes / 32) AS n
    );
    v_messages {type}[] := array_fill(v_message, ARRAY[p_batch]);
    v_began    timestamptz;
    v_now      timestamptz := clock_timestamp();
    v_count    bigint;
    v_at       integer;
BEGIN
    messages := 0;
    missed := 0;
    spent := array_fill(CAST(0 AS bigint), ARRAY[192]);
    WHILE v_now < v_end LOOP
        v_began := clock_timestamp();
        SELECT count(*) INTO v_count FROM {push_batch}(v_messages);
        messages := messages + v_count;
        carry := carry + v_count;
        PERFORM set_config('qmon.bench', format('%s %s %s', p_until, messages, carry), false);
        COMMIT;
        v_now := clock_timestamp();
        IF v_count = 0 THEN
            missed := missed + 1;
            CONTINUE;
        END IF;
        v_at := least(192, 1 + floor(11.54156 * ln(1 + greatest(0, date_part('epoch', v_now - v_began) * 1e6))));
        spent[v_at] := spent[v_at] + 1;
        IF carry >= p_unit THEN
            WHILE carry >= p_unit LOOP
                PERFORM nextval({pushed!literal}::regclass);
                carry := carry - p_unit;
            END LOOP;
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
