-- The driving loop with only an empty commit: the cost of the driver itself.
-- {loop} the procedure
CREATE PROCEDURE {loop}(
    p_until double precision, p_batch integer, p_unit bigint, p_ahead bigint, p_bytes integer,
    INOUT carry bigint, INOUT messages bigint, INOUT missed bigint, INOUT spent bigint[], INOUT completed bigint[]
)
LANGUAGE plpgsql
AS $qmon_body$
DECLARE
    v_end   timestamptz := to_timestamp(p_until);
    v_began timestamptz;
    v_now   timestamptz := clock_timestamp();
    v_at    integer;
BEGIN
    messages := 0;
    missed := 0;
    spent := array_fill(CAST(0 AS bigint), ARRAY[192]);
    WHILE v_now < v_end LOOP
        v_began := clock_timestamp();
        COMMIT;
        v_now := clock_timestamp();
        v_at := least(192, 1 + floor(11.54156 * ln(1 + greatest(0, date_part('epoch', v_now - v_began) * 1e6))));
        spent[v_at] := spent[v_at] + 1;
        messages := messages + 1;
        carry := carry + 1;
        IF carry >= p_unit THEN
            carry := carry - p_unit;
        END IF;
    END LOOP;
END
$qmon_body$
