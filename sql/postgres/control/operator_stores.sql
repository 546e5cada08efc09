-- Lets the acting role undo what was done, and lift what was paused by a gate, before there was such a role.
DO $$
DECLARE
    v_each record;
BEGIN
    FOR v_each IN
        SELECT c.relname, c.relkind
        FROM pg_catalog.pg_class AS c
        WHERE c.relnamespace = to_regnamespace('qmon')
            AND (c.relkind = 'r' AND c.relname ~ '^(trash|kept)_[0-9]+$' OR c.relkind = 'S' AND c.relname ~ '^gate_')
    LOOP
        IF v_each.relkind = 'S' THEN
            EXECUTE format('GRANT SELECT, UPDATE ON SEQUENCE qmon.%I TO qmon_operator', v_each.relname);
        ELSE
            EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON qmon.%I TO qmon_operator', v_each.relname);
        END IF;
    END LOOP;
END
$$
