-- Lets the acting role save rows for an undo, in tables that a function creates; undo earlier operations, and end
-- pauses of a gate from before there was such a role.
DO $$
DECLARE
    v_each record;
BEGIN
    GRANT EXECUTE ON FUNCTION qmon.make_store(pg_catalog.regclass, text, text, text, text[], text) TO qmon_operator;
    FOR v_each IN
        SELECT c.relname, c.relkind
        FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
        WHERE n.nspname OPERATOR(pg_catalog.=) 'qmon'
            AND (
                c.relkind OPERATOR(pg_catalog.=) 'r' AND c.relname OPERATOR(pg_catalog.~) '^(trash|kept)_[0-9]+$'
                OR c.relkind OPERATOR(pg_catalog.=) 'S' AND c.relname OPERATOR(pg_catalog.~) '^gate_'
            )
    LOOP
        IF v_each.relkind OPERATOR(pg_catalog.=) 'S' THEN
            EXECUTE pg_catalog.format('GRANT SELECT, UPDATE ON SEQUENCE qmon.%I TO qmon_operator', v_each.relname);
        ELSE
            -- the right to update a column lets the role lock rows; this column takes no value of the caller
            EXECUTE pg_catalog.format('GRANT SELECT, INSERT, DELETE, UPDATE (qmon_row) ON qmon.%I TO qmon_operator',
                                      v_each.relname);
        END IF;
    END LOOP;
END
$$
