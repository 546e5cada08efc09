-- Pops and completes one message at a time until the slice ends, in two transactions, as a consumer that works on the
-- message in between. Otherwise like pop_loop.sql.
-- A setting of the session also contains the committed counts, because an error does not undo a setting; see
-- salvage.sql.
-- {loop}     the procedure
-- {pop}      function of the design
-- {complete} function of the design
-- {type}     the type of a message
-- {popped}   gate: counts popped messages
CREATE PROCEDURE {loop}(
    p_until double precision, p_batch integer, p_unit bigint, p_ahead bigint, p_bytes integer,
    INOUT carry bigint, INOUT messages bigint, INOUT missed bigint, INOUT spent bigint[], INOUT completed bigint[]
)
LANGUAGE plpgsql
AS $qmon_body$
DECLARE
    v_end     timestamptz := to_timestamp(p_until);
    v_began   timestamptz;
    v_popped  timestamptz;
    v_now     timestamptz := clock_timestamp();
    v_pause   double precision := 0.001;
    v_id      bigint;
    v_message {type};
    v_attempt integer;
    v_found   boolean;
    v_at      integer;
BEGIN
    messages := 0;
    missed := 0;
    spent := array_fill(CAST(0 AS bigint), ARRAY[192]);
    completed := spent;
    WHILE v_now < v_end LOOP
        v_began := clock_timestamp();
        SELECT p.id, p.payload, p.attempt INTO v_id, v_message, v_attempt FROM {pop}() AS p;
        v_found := FOUND;
        COMMIT;
        v_popped := clock_timestamp();
        IF NOT v_found THEN
            missed := missed + 1;
            PERFORM pg_sleep(v_pause);
            v_pause := least(v_pause * 2, 0.016);
            v_now := clock_timestamp();
            CONTINUE;
        END IF;
        v_pause := 0.001;
        IF {complete}(v_id, v_attempt) THEN
            messages := messages + 1;
        END IF;
        carry := carry + 1;
        PERFORM set_config('qmon.bench', format('%s %s %s', p_until, messages, carry), false);
        COMMIT;
        v_now := clock_timestamp();
        v_at := least(192, 1 + floor(11.54156 * ln(1 + greatest(0, date_part('epoch', v_popped - v_began) * 1e6))));
        spent[v_at] := spent[v_at] + 1;
        v_at := least(192, 1 + floor(11.54156 * ln(1 + greatest(0, date_part('epoch', v_now - v_popped) * 1e6))));
        completed[v_at] := completed[v_at] + 1;
        IF carry >= p_unit THEN
            PERFORM nextval({popped!literal}::regclass);
            carry := carry - p_unit;
        END IF;
    END LOOP;
END
$qmon_body$
