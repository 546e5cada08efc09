-- Lets the acting role record its operations: it begins operations, and counts and ends its own operations. It may not
-- change or delete other rows.
GRANT USAGE ON SCHEMA qmon TO qmon_operator;
GRANT SELECT ON qmon.operations, qmon.stores TO qmon_operator;
GRANT INSERT (id, kind, queue, about, by, session_id, session_start, reason, predicate, frozen, planned, undo_of, undoable)
    ON qmon.operations TO qmon_operator;
GRANT EXECUTE ON FUNCTION qmon.operation_count(text, int8, int8, int8, int8, float8),
    qmon.operation_end(text, text, json), qmon.operation_undone(text, int8), qmon.operation_emptied(text, int8)
    TO qmon_operator
